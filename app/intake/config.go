package intake

import (
	"cmp"
	"io"
)

// Config is what all imports are told alike.
type Config struct {
	// Reader is the file, plain or gzip.
	Reader io.Reader
	// Rejects gets a line for each line that could not be used; nil drops them.
	Rejects io.Writer
	// MaxRejects is how many rejected lines the file may have, as long as they are
	// not more than the usable ones; below 0 any number, as long as one is usable.
	MaxRejects int
	// DryRun reads what an import needs, and writes nothing but Rejects.
	DryRun bool
	// Memory bounds what the import takes, in bytes; 0 is 512 MiB. The
	// program itself and its database connections come on top, some 30 MiB.
	Memory int64
	// TempDir is where lines and sorted runs go, empty means the system's.
	TempDir string
	// Progress is called with how far the import is, some times a second at most and
	// never twice at once; it may be nil.
	Progress func(Progress)
	// Writers is how many batches are written at once, 0 is 3.
	Writers int
}

// WithDefaults returns the Config with what is not set.
func (c Config) WithDefaults() Config {
	c.Memory = cmp.Or(c.Memory, 512<<20)
	c.Writers = cmp.Or(c.Writers, 3)
	c.Rejects = cmp.Or(c.Rejects, io.Discard)
	return c
}
