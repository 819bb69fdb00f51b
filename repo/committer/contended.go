package committer

import "sync"

const (
	// contendedFor is how many commits of a row take its lock first, after one
	// that lost to another process.
	contendedFor = 16
	// maxContended bounds the rows that are remembered.
	maxContended = 1024
)

// contended remembers rows that other processes change too. To read such a row
// from the cache, edit it and lose the swap is work for nothing, most of the time.
type contended struct {
	mu   sync.Mutex
	left map[uint64]int // commits to come that lock
}

// lost notes the rows that a lost batch shared: a row that is wanted often here
// is wanted elsewhere. A batch of one edit does not tell which of its rows it was.
func (c *contended) lost(edits [][]uint64) {
	seen := map[uint64]int{}
	for _, ids := range edits {
		for _, id := range ids {
			seen[id]++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil || len(c.left) > maxContended {
		c.left = map[uint64]int{}
	}
	for id, n := range seen {
		if n > 1 || len(edits) == 1 {
			c.left[id] = contendedFor
		}
	}
}

// among reports whether rows are better locked first, and counts that they are.
func (c *contended) among(ids []uint64) (found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 {
		return false
	}
	for _, id := range ids {
		switch n := c.left[id]; {
		case n > 1:
			c.left[id], found = n-1, true
		case n == 1:
			delete(c.left, id)
			found = true
		}
	}
	return found
}
