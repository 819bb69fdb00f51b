package graph

import (
	"bufio"
	"fmt"
	"io"
)

// maxQuote is how much of a bad line is quoted, in bytes.
const maxQuote = 80

// rejects writes down the lines that could not be used.
type rejects struct {
	to   *bufio.Writer
	most int
	n    int64
}

func newRejects(to io.Writer, most int) *rejects {
	return &rejects{to: bufio.NewWriter(to), most: most}
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

// enough judges a file that was read to its end: one with more rejected lines than
// usable ones is taken for a file of another kind. Where any number of rejects is
// allowed, that is one without a usable line.
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
