package cache

import (
	"fmt"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
)

// near holds entries with long bodies in this process. They are only used after
// the server has said which ver of a row is held, so they are never older than
// what the server would have sent. What nobody asks for leaves, so that the memory
// of a busy process is soon as large as it will be.
type near struct{ entries *otter.Cache[string, Entry] }

// nearFor is how long a long body stays near that nobody asks for.
const nearFor = time.Minute

func newNear(maxBytes int64) (*near, error) {
	entries, err := otter.New(&otter.Options[string, Entry]{
		MaximumWeight:    uint64(maxBytes),
		Weigher:          func(_ string, e Entry) uint32 { return uint32(e.weight()) },
		ExpiryCalculator: otter.ExpiryAccessing[string, Entry](nearFor),
	})
	if err != nil {
		return nil, fmt.Errorf("make the cache of long bodies: %w", err)
	}
	return &near{entries}, nil
}

// get returns the entry of key if it is not older than ver.
func (n *near) get(key string, ver uint64) (Entry, bool) {
	e, ok := n.entries.GetIfPresent(key)
	return e, ok && e.Ver >= ver
}

// put keeps an entry, unless it is older than what is kept.
func (n *near) put(e Entry) {
	e.Key = strings.Clone(e.Key) // lets go of the keys beside it
	n.entries.Compute(e.Key, func(old Entry, found bool) (Entry, otter.ComputeOp) {
		if found && old.Ver >= e.Ver {
			return old, otter.CancelOp
		}
		return e, otter.WriteOp
	})
}

func (n *near) drop(key string) { n.entries.Invalidate(key) }

func (n *near) close() { n.entries.StopAllGoroutines() }
