package bulk

import (
	"context"
	"fmt"
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
	// Its phases are read (bytes), link, place, posts and counts (lines). A dry run reads and
	// links the lines.
	intake.Config

	Accounts Accounts
	Stored   *post.Store
	Feeds    *feed.Store
	Posts    Posts
	Now      func() time.Time
}

// Summary has every number of an import. Each line of the file is counted once in Empty,
// Rejected, Repeats, Held or New. A dry run tells neither Held from New, nor a second repost
// of a post from the first.
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
