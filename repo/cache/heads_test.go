package cache

import (
	"testing"
	"time"
)

// TestHeads has two keys share the only place there is.
func TestHeads(t *testing.T) {
	t.Parallel()
	h := newHeads(1, time.Second)
	want := func(key string, now time.Duration, ver uint64) {
		t.Helper()
		if e, ok := h.get(key, now); ok != (ver > 0) || e.Ver != ver {
			t.Errorf("%s after %v: got ver %d (%v), want %d", key, now, e.Ver, ok, ver)
		}
	}
	now := h.now()
	want("a", now, 0)
	h.put(Entry{Key: "a", Ver: 2})
	want("a", now, 2)
	h.put(Entry{Key: "a", Ver: 1})
	want("a", now, 2)
	h.put(Entry{Key: "a", Ver: 3})
	want("a", now, 3)
	want("a", now+2*time.Second, 0)
	h.drop("b")
	want("a", now, 3)
	h.put(Entry{Key: "b", Ver: 1})
	want("a", now, 0)
	want("b", now, 1)
	h.drop("b")
	want("b", now, 0)

	h.put(Entry{Key: "a", Ver: 1})
	h.put(Entry{Key: "a", Ver: 2, Value: make([]byte, maxHead+1)})
	want("a", now, 0)
}

// TestHeads_Late keeps what is older once what was newer is no longer used.
func TestHeads_Late(t *testing.T) {
	t.Parallel()
	h := newHeads(1, time.Millisecond)
	h.put(Entry{Key: "a", Ver: 2})
	time.Sleep(2 * time.Millisecond)
	h.put(Entry{Key: "a", Ver: 1})
	if e, ok := h.get("a", 0); !ok || e.Ver != 1 {
		t.Errorf("got ver %d (%v), want 1", e.Ver, ok)
	}
}

func TestHeads_Off(t *testing.T) {
	t.Parallel()
	h := newHeads(1<<20, -1)
	h.put(Entry{Key: "a", Ver: 1})
	if e, ok := h.get("a", 0); ok {
		t.Errorf("got ver %d, want nothing", e.Ver)
	}
}
