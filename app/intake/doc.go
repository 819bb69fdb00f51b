// Package intake is what all imports of files have in common: they read lines, write down
// those that cannot be used, go from phase to phase and say how far they are, and try again
// what may succeed later.
package intake

import "errors"

// The errors that are not those of the stores and the disk. After the first two
// nothing was written.
var (
	// ErrRejects says that too many lines of the file are rejected.
	ErrRejects = errors.New("too many rejected lines")
	// ErrUnreadable says that the file cannot be read to its end.
	ErrUnreadable = errors.New("the file cannot be read")
	// ErrPartial says that an import or an export stopped or ended with a part done.
	ErrPartial = errors.New("partial")
)

// Partial returns an error with ErrPartial.
func Partial(err error) error { return partial{err} }

type partial struct{ error }

func (p partial) Unwrap() []error { return []error{ErrPartial, p.error} }
