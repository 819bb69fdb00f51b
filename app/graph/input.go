package graph

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
	blockBytes  = 128 << 10
	blocksAhead = 4
	// maxLine is the longest line that is read; a comment may be longer.
	maxLine = 64 << 10
)

// input reads the lines of a file. Reading and decompressing run ahead in a
// goroutine of their own, which is also what lets an interrupt leave a Read of a
// terminal or pipe that does not return: that goroutine ends when it does.
type input struct {
	ctx    context.Context
	blocks chan block
	free   chan []byte
	now    block
	lines  *bufio.Reader
	taken  atomic.Int64 // bytes read from the file
	size   int64        // bytes of the file, 0 if unknown
}

type block struct {
	buf, left []byte
	err       error
}

func openInput(ctx context.Context, r io.Reader) *input {
	in := &input{ctx: ctx, blocks: make(chan block), free: make(chan []byte, blocksAhead), size: fileSize(r)}
	for range blocksAhead {
		in.free <- make([]byte, blockBytes)
	}
	in.lines = bufio.NewReaderSize(in, maxLine)
	go in.readAhead(counter{r, &in.taken})
	return in
}

// fileSize returns the length of a plain file, else 0.
func fileSize(r io.Reader) int64 {
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

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

// readAhead sends blocks until the file or ctx ends. The last has an error.
func (in *input) readAhead(r io.Reader) {
	r, err := unzip(r)
	for {
		var buf []byte
		select {
		case buf = <-in.free:
		case <-in.ctx.Done():
			return
		}
		n := 0
		if err == nil {
			n, err = r.Read(buf)
		}
		select {
		case in.blocks <- block{buf: buf, left: buf[:n], err: err}:
		case <-in.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
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

// Read hands out what was read ahead.
func (in *input) Read(p []byte) (int, error) {
	for len(in.now.left) == 0 {
		if in.now.err != nil {
			return 0, in.now.err
		}
		if in.now.buf != nil {
			in.free <- in.now.buf
			in.now = block{}
		}
		select {
		case in.now = <-in.blocks:
		case <-in.ctx.Done():
			return 0, in.ctx.Err()
		}
	}
	n := copy(p, in.now.left)
	in.now.left = in.now.left[n:]
	return n, nil
}

// ending says how a line ended.
type ending uint8

const (
	newline ending = iota
	fileEnd        // the file ended in the line
	tooLong        // only the start of the line is returned
)

// next returns a line without its newline, valid until the next call. io.EOF
// comes after the last one. What cannot be read, such as a compressed stream that
// breaks off, is ErrUnreadable.
func (in *input) next() ([]byte, ending, error) {
	line, err := in.lines.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], newline, nil
	case errors.Is(err, bufio.ErrBufferFull):
		start := bytes.Clone(line[:2*maxQuote])
		return start, tooLong, in.skipLine()
	case err == io.EOF && len(line) > 0:
		return line, fileEnd, nil
	case err == io.EOF:
		return nil, fileEnd, io.EOF
	}
	return nil, fileEnd, in.broken(err)
}

// broken says that the file cannot be read on.
func (in *input) broken(err error) error {
	switch {
	case in.ctx.Err() != nil:
		return in.ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the compressed stream breaks off: %w", ErrUnreadable, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// skipLine reads on to the next newline or the end.
func (in *input) skipLine() error {
	for {
		_, err := in.lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		switch {
		case err == io.EOF:
			in.now.err = err // the next call meets it again
			return nil
		case err != nil:
			return in.broken(err)
		}
		return nil
	}
}
