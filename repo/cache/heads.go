package cache

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// headBytes is about what a head takes: its place, entry, key and value.
	headBytes = 192
	// maxHead is the longest value that is kept.
	maxHead = 256
)

// heads are the heads that this process has seen a moment ago. Each key has one
// place, which it shares with others: whoever comes last has it. So a look-up is
// a few nanoseconds, of which a page of people needs eighty, and memory is bounded
// without any bookkeeping. They are not for long anyway. (What was put here may so
// be followed by what a reader had asked for before, if another key took its place
// within the microseconds between.)
type heads struct {
	places []atomic.Pointer[recent]
	seed   maphash.Seed
	late   time.Duration
	start  time.Time
}

// recent is a head and when it is no longer used, counted from the start.
type recent struct {
	Entry
	until time.Duration
}

// newHeads has room for heads of about maxBytes, which are used until late.
func newHeads(maxBytes int64, late time.Duration) *heads {
	n := max(maxBytes/headBytes, 1)
	return &heads{
		places: make([]atomic.Pointer[recent], 1<<bits.Len64(uint64(n-1))),
		seed:   maphash.MakeSeed(), late: late, start: time.Now(),
	}
}

func (h *heads) now() time.Duration { return time.Since(h.start) }

func (h *heads) place(key string) *atomic.Pointer[recent] {
	return &h.places[maphash.String(h.seed, key)&uint64(len(h.places)-1)]
}

// get returns the head of key, if it is not late by now.
func (h *heads) get(key string, now time.Duration) (Entry, bool) {
	r := h.place(key).Load()
	if r == nil || r.Key != key || now >= r.until {
		return Entry{}, false
	}
	return r.Entry, true
}

// put keeps a head, unless it is older than what is kept. What is too long to be
// kept leaves nothing older behind.
func (h *heads) put(e Entry) {
	if len(e.Value) > maxHead {
		h.drop(e.Key)
		return
	}
	if h.late <= 0 {
		return
	}
	place, now := h.place(e.Key), h.now()
	e.Key = strings.Clone(e.Key) // lets go of the keys beside it
	r := &recent{e, now + h.late}
	for {
		old := place.Load()
		if old != nil && old.Key == e.Key && old.Ver >= e.Ver && now < old.until || place.CompareAndSwap(old, r) {
			return
		}
	}
}

func (h *heads) drop(key string) {
	place := h.place(key)
	for old := place.Load(); old != nil && old.Key == key; old = place.Load() {
		if place.CompareAndSwap(old, nil) {
			return
		}
	}
}

// forget empties all places.
func (h *heads) forget() {
	for i := range h.places {
		h.places[i].Store(nil)
	}
}
