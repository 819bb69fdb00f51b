package bulk

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"kith/app/intake"
	"kith/repo/account"
	"kith/repo/feed"
	"kith/repo/post"
)

// Accounts knows accounts.
type Accounts interface {
	Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error)
	ByName(ctx context.Context, name string) (account.Account, error)
}

// Posts settles what posts say of others.
type Posts interface {
	SettleAll(ctx context.Context, ids []uint64) error
}

// Config says what to import and into what.
type Config struct {
	// Reader is the file, plain or gzip.
	Reader io.Reader
	// Rejects gets a line for each line that could not be used; nil drops them.
	Rejects io.Writer
	// MaxRejects is how many rejected lines the file may have, as long as they are
	// not more than the usable ones; below 0 any number, as long as one is usable.
	MaxRejects int
	// DryRun reads and links the lines, and writes nothing but Rejects.
	DryRun bool
	// Memory bounds what the import takes, in bytes; 0 is 256 MiB.
	Memory int64
	// TempDir is where lines and sorted runs go, empty means the system's.
	TempDir string
	// Progress is called with how far the import is, some times a second at most and
	// never twice at once; it may be nil. Phases are read (bytes), link, place, posts and
	// counts (lines).
	Progress func(intake.Progress)

	Accounts Accounts
	Stored   *post.Store
	Feeds    *feed.Store
	Posts    Posts
	Now      func() time.Time
	// Writers is how many batches are written at once, 0 is 3.
	Writers int
}

func (c Config) withDefaults() Config {
	c.Memory = cmp.Or(c.Memory, 256<<20)
	c.Writers = cmp.Or(c.Writers, 3)
	c.Rejects = cmp.Or(c.Rejects, io.Discard)
	if c.Progress == nil {
		c.Progress = func(intake.Progress) {}
	}
	return c
}

// Summary has every number of an import. Each line of the file is counted once in Empty,
// Rejected, Repeats, Held or New. A dry run does not tell Held from New.
type Summary struct {
	DryRun bool

	Lines    int64
	Empty    int64
	Rejected int64
	Repeats  int64 // the same line again, or a second repost of a post
	Held     int64 // imported before
	New      int64
	Answers  int64 // of those held or new: replies and reposts
	Duration time.Duration
}

// String writes the summary, a number a line.
func (s Summary) String() string {
	var b strings.Builder
	put := func(name string, v any) { fmt.Fprintf(&b, "%-26s%v\n", name, v) }
	put("lines", s.Lines)
	put("empty lines", s.Empty)
	put("rejected", s.Rejected)
	put("repeats", s.Repeats)
	if s.DryRun {
		put("posts", s.New)
	} else {
		put("posts new", s.New)
		put("posts held already", s.Held)
	}
	put("replies and reposts", s.Answers)
	put("duration", s.Duration.Round(time.Millisecond))
	return b.String()
}
