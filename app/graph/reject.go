package graph

import (
	"bufio"
	"errors"
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
		err := fmt.Errorf("line %d: %v: %w: more than %d lines cannot be used; nothing was imported", line, why, ErrRejects, r.most)
		return errors.Join(err, r.flush())
	}
	return nil
}

func (r *rejects) flush() error {
	if err := r.to.Flush(); err != nil {
		return fmt.Errorf("write rejects: %w", err)
	}
	return nil
}
