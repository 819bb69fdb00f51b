package interaction

import (
	"sync"
	"time"
)

const (
	onceIn    = time.Hour
	maxMemory = 32_768 // in each of two generations
)

// memory knows what happens for the first time within an hour. A full generation becomes
// the old one, and the old one is forgotten: under load things count a little more often
// instead of taking more memory. Both are allocated at the start, some 2 MB each, so that
// a server's memory does not grow for hours.
type memory[K comparable] struct {
	mu       sync.Mutex
	now, old map[K]int64 // unix seconds
}

func newMemory[K comparable]() *memory[K] {
	return &memory[K]{now: make(map[K]int64, maxMemory), old: make(map[K]int64, maxMemory)}
}

// first reports whether k did not happen within the last hour, and notes that it did now.
func (m *memory[K]) first(k K, at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.now[k]
	if !known {
		last, known = m.old[k]
	}
	if known && at.Unix()-last < int64(onceIn/time.Second) {
		return false
	}
	if len(m.now) >= maxMemory {
		m.old, m.now = m.now, m.old
		clear(m.now)
	}
	m.now[k] = at.Unix()
	return true
}
