package cache

import (
	"fmt"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
)

// nearFor is how long a long body stays near that nobody asks for.
const nearFor = time.Minute

// near holds entries with long bodies in this process. They are only used after
// the server has said which ver of a row is held, and only that very ver: a higher one
// may be of a history that the database has lost. What nobody asks for leaves, so
// that the memory of a busy process is soon as large as it will be.
type near struct {
	entries *otter.Cache[string, nearby]
	expiry  time.Duration
}

// nearby is an entry and when it leaves at the latest.
type nearby struct {
	Entry
	until time.Time
}

func newNear(maxBytes int64, expiry time.Duration) (*near, error) {
	entries, err := otter.New(&otter.Options[string, nearby]{
		MaximumWeight:    uint64(maxBytes),
		Weigher:          func(_ string, e nearby) uint32 { return uint32(e.weight()) },
		ExpiryCalculator: expiring{},
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of long bodies: %w", err)
	}
	return &near{entries, expiry}, nil
}

// expiring says how long an entry stays: what asking for it gives it, but not
// past its end.
type expiring struct{}

func (expiring) stay(e otter.Entry[string, nearby]) time.Duration {
	return max(min(nearFor, time.Until(e.Value.until)), 1)
}

func (x expiring) ExpireAfterCreate(e otter.Entry[string, nearby]) time.Duration { return x.stay(e) }

func (x expiring) ExpireAfterUpdate(e otter.Entry[string, nearby], _ nearby) time.Duration {
	return x.stay(e)
}

func (x expiring) ExpireAfterRead(e otter.Entry[string, nearby]) time.Duration { return x.stay(e) }

// get returns the entry of key if it is that of ver.
func (n *near) get(key string, ver uint64) (Entry, bool) {
	e, ok := n.entries.GetIfPresent(key)
	return e.Entry, ok && e.Ver == ver
}

// put keeps an entry in place of what is kept: where that is newer, it is asked for
// once more.
func (n *near) put(e Entry) {
	e.Key = strings.Clone(e.Key) // lets go of the keys beside it
	n.entries.Set(e.Key, nearby{e, time.Now().Add(n.expiry)})
}

func (n *near) drop(key string) { n.entries.Invalidate(key) }

func (n *near) forget() { n.entries.InvalidateAll() }

func (n *near) close() { n.entries.StopAllGoroutines() }
