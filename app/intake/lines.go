package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
)

const (
	blockBytes = 128 << 10
	// MaxQuote is how much of a bad line is quoted, in bytes.
	MaxQuote = 80
)

// Lines reads the lines of a file, plain or gzip. Reading and decompressing are done by a goroutine of
// their own, which is also what lets an interrupt leave a Read of a terminal or pipe
// that does not return: that goroutine ends when it does.
type Lines struct {
	// Size is how many bytes the file has, 0 if unknown.
	Size  int64
	lines *bufio.Reader
	begun bool // the first line is read
	taken atomic.Int64
}

// Open begins to read a file whose lines have up to maxLine bytes. It ends with ctx.
func Open(ctx context.Context, r io.Reader, maxLine int) *Lines {
	from, to := io.Pipe()
	in := &Lines{lines: bufio.NewReaderSize(from, maxLine)}
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			in.Size = info.Size()
		}
	}
	context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	go func() {
		plain, err := unzip(counter{r, &in.taken})
		if err == nil {
			_, err = io.Copy(to, plain)
		}
		to.CloseWithError(err) // io.EOF for nil
	}()
	return in
}

// Taken returns how many bytes of the file were read.
func (in *Lines) Taken() int64 { return in.taken.Load() }

// counter counts the bytes it reads.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// unzip returns what r holds, decompressed if it begins like gzip.
func unzip(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, blockBytes)
	magic, err := b.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if err == io.EOF {
			err = nil // short, and the bytes there are come from b
		}
		return b, err
	}
	return gzip.NewReader(b)
}

// Ending says how a line ended.
type Ending uint8

// The endings.
const (
	Newline Ending = iota
	FileEnd        // the file ended in the line
	TooLong        // only the start of the line is returned
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Next returns a line without its newline, valid until the next call. The first has no byte
// order mark. io.EOF comes after the last one. What cannot be read, such as a compressed
// stream that breaks off, is ErrUnreadable.
func (in *Lines) Next() ([]byte, Ending, error) {
	line, err := in.lines.ReadSlice('\n')
	end := Newline
	if errors.Is(err, bufio.ErrBufferFull) {
		line, end = bytes.Clone(line[:2*MaxQuote]), TooLong
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.lines.ReadSlice('\n')
		}
	}
	if !in.begun {
		in.begun, line = true, bytes.TrimPrefix(line, byteOrderMark)
	}
	switch {
	case err == nil:
		return bytes.TrimSuffix(line, []byte{'\n'}), end, nil
	case err == io.EOF && len(line) > 0:
		return line, max(end, FileEnd), nil
	case err == io.EOF:
		return nil, FileEnd, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, FileEnd, fmt.Errorf("%w: the compressed stream breaks off: %w", ErrUnreadable, err)
	}
	return nil, FileEnd, fmt.Errorf("%w: %w", ErrUnreadable, err)
}
