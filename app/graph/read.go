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
	"math"
	"strconv"
	"sync/atomic"

	"kith/repo/list"
)

const (
	blockBytes = 128 << 10
	// maxLine is the longest line that is read; a comment may be longer.
	maxLine = 64 << 10
	// maxQuote is how much of a bad line is quoted, in bytes.
	maxQuote = 80
)

// input reads the lines of a file. Reading and decompressing are done by a goroutine of
// their own, which is also what lets an interrupt leave a Read of a terminal or pipe
// that does not return: that goroutine ends when it does.
type input struct {
	lines *bufio.Reader
	taken atomic.Int64 // bytes read from the file
	size  int64        // bytes of the file, 0 if unknown
}

func openInput(ctx context.Context, r io.Reader) *input {
	from, to := io.Pipe()
	in := &input{lines: bufio.NewReaderSize(from, maxLine)}
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			in.size = info.Size()
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
	end := newline
	if errors.Is(err, bufio.ErrBufferFull) {
		line, end = bytes.Clone(line[:2*maxQuote]), tooLong
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.lines.ReadSlice('\n')
		}
	}
	switch {
	case err == nil:
		return bytes.TrimSuffix(line, []byte{'\n'}), end, nil
	case err == io.EOF && len(line) > 0:
		return line, max(end, fileEnd), nil
	case err == io.EOF:
		return nil, fileEnd, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fileEnd, fmt.Errorf("%w: the compressed stream breaks off: %w", ErrUnreadable, err)
	}
	return nil, fileEnd, fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// edge is one line: follower follows followee since time (0: unknown).
type edge struct {
	follower, followee uint64
	time               uint32
}

// verdict is what a line is, or why it is rejected, as it stands in the rejects file.
type verdict string

const (
	isEdge       verdict = "edge"
	isComment    verdict = "comment"
	missingField verdict = "missing field"
	extraField   verdict = "extra field"
	notNumber    verdict = "not a number"
	zeroID       verdict = "id is 0"
	largeID      verdict = "id is too large"
	badTime      verdict = "bad time"
	cutShort     verdict = "cut short"
	longLine     verdict = "line is too long"
	erasedID     verdict = "erased"
)

// parseLine reads one line without its newline.
func parseLine(b []byte) (edge, verdict) {
	if i := bytes.IndexByte(b, '#'); i >= 0 {
		b = b[:i]
	}
	first, b, ok := field(b)
	if !ok {
		return edge{}, isComment
	}
	var e edge
	var v verdict
	if e.follower, v = parseID(first); v != isEdge {
		return edge{}, v
	}
	second, b, ok := field(b)
	if !ok {
		return edge{}, missingField
	}
	if e.followee, v = parseID(second); v != isEdge {
		return edge{}, v
	}
	third, b, ok := field(b)
	if !ok {
		return e, isEdge
	}
	t, v := number(third, math.MaxUint32)
	if v != isEdge {
		return edge{}, badTime
	}
	e.time = uint32(t)
	if _, _, ok := field(b); ok {
		return edge{}, extraField
	}
	return e, isEdge
}

// field cuts the next field off, with the one comma that may follow it. Two
// commas have an empty field between them.
func field(b []byte) (f, rest []byte, ok bool) {
	b = skipBlank(b)
	if len(b) == 0 {
		return nil, nil, false
	}
	n := 0
	for n < len(b) && b[n] != ',' && !blank(b[n]) {
		n++
	}
	f, rest = b[:n], skipBlank(b[n:])
	if len(rest) > 0 && rest[0] == ',' {
		rest = rest[1:]
	}
	return f, rest, true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func skipBlank(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	return b
}

func parseID(f []byte) (uint64, verdict) {
	if len(f) == 0 {
		return 0, missingField
	}
	id, v := number(f, list.MaxID)
	if v == isEdge && id == 0 {
		return 0, zeroID
	}
	return id, v
}

// number reads decimal digits and nothing else.
func number(f []byte, most uint64) (uint64, verdict) {
	n, err := strconv.ParseUint(string(f), 10, 64)
	switch {
	case err == nil && n <= most:
		return n, isEdge
	case len(f) == 0, len(bytes.TrimLeft(f, "0123456789")) > 0:
		return 0, notNumber
	}
	return 0, largeID
}

// rejects writes down the lines that could not be used.
type rejects struct {
	to   *bufio.Writer
	most int
	n    int64
}

// add notes one line. ErrRejects comes with the first that is too much.
func (r *rejects) add(line int64, why verdict, text []byte) error {
	r.n++
	if _, err := fmt.Fprintf(r.to, "line %d: %v: %q\n", line, why, text[:min(len(text), maxQuote)]); err != nil {
		return fmt.Errorf("write rejects: %w", err)
	}
	if r.most >= 0 && r.n > int64(r.most) {
		return fmt.Errorf("line %d: %v: %w: more than %d", line, why, ErrRejects, r.most)
	}
	return nil
}

// enough refuses a file, read to its end, with more rejected lines than usable ones: it
// is taken for a file of another kind. Where any number of rejects is allowed, that is
// one without a usable line.
func (r *rejects) enough(usable int64) error {
	switch {
	case r.n > 0 && usable == 0:
		return fmt.Errorf("%w: %d, and no other line", ErrRejects, r.n)
	case r.most >= 0 && r.n > usable:
		return fmt.Errorf("%w: %d, and only %d usable lines", ErrRejects, r.n, usable)
	}
	return nil
}

func (r *rejects) flush() error {
	if err := r.to.Flush(); err != nil {
		return fmt.Errorf("write rejects: %w", err)
	}
	return nil
}
