package intake

import (
	"bufio"
	"fmt"
	"io"
)

// Rejects writes down the lines that could not be used.
type Rejects struct {
	to   *bufio.Writer
	most int
	n    int64
}

// NewRejects writes to a file, which may have up to most lines, or with -1 any number.
func NewRejects(to io.Writer, most int) *Rejects {
	return &Rejects{to: bufio.NewWriter(to), most: most}
}

// Len is how many lines were rejected.
func (r *Rejects) Len() int64 { return r.n }

// Add notes one line. ErrRejects comes with the first that is too much.
func (r *Rejects) Add(line int64, why string, text []byte) error {
	r.n++
	if _, err := fmt.Fprintf(r.to, "line %d: %v: %q\n", line, why, text[:min(len(text), MaxQuote)]); err != nil {
		return fmt.Errorf("write rejects: %w", err)
	}
	if r.most >= 0 && r.n > int64(r.most) {
		return fmt.Errorf("line %d: %v: %w: more than %d", line, why, ErrRejects, r.most)
	}
	return nil
}

// Enough refuses a file, read to its end, with more rejected lines than usable ones: it
// is taken for a file of another kind. Where any number of rejects is allowed, that is
// one without a usable line.
func (r *Rejects) Enough(usable int64) error {
	switch {
	case r.n > 0 && usable == 0:
		return fmt.Errorf("%w: %d, and no other line", ErrRejects, r.n)
	case r.most >= 0 && r.n > usable:
		return fmt.Errorf("%w: %d, and only %d usable lines", ErrRejects, r.n, usable)
	}
	return nil
}

// Flush writes out what is buffered.
func (r *Rejects) Flush() error {
	if err := r.to.Flush(); err != nil {
		return fmt.Errorf("write rejects: %w", err)
	}
	return nil
}
