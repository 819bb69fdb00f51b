package cache_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/repo/cache"
)

// withBody returns an entry whose value and body, of n bytes, tell its ver.
func withBody(key string, ver uint64, n int) cache.Entry {
	e := row(key, ver)
	e.Body = bytes.Repeat([]byte{byte(ver)}, n)
	return e
}

// long16K is row with a body that is stored apart.
func long16K(key string, ver uint64) cache.Entry { return withBody(key, ver, 16<<10) }

// wantBody fails the test unless c holds exactly e.
func wantBody(t *testing.T, c cache.Cache, e cache.Entry) {
	t.Helper()
	got, found := getAll(context.Background(), c, []string{e.Key})[e.Key]
	if !found || got.Key != e.Key || got.Ver != e.Ver || !bytes.Equal(got.Value, e.Value) || !bytes.Equal(got.Body, e.Body) || got.Partial {
		t.Fatalf("Get %s: got %q ver %d, %d bytes of body, partial %v (found %v), want ver %d and %d bytes",
			e.Key, got.Key, got.Ver, len(got.Body), got.Partial, found, e.Ver, len(e.Body))
	}
}

// testBody lets the body of a row grow and shrink.
func testBody(t *testing.T, c cache.Cache) {
	key := newKey("body")
	for ver, n := range []int{1: 0, 2: 100, 3: 2 << 10, 4: 2<<10 + 1, 5: 900 << 10, 6: 10, 7: 4 << 10, 8: 5 << 10} {
		if ver > 0 {
			e := withBody(key, uint64(ver), n)
			put(c, e)
			wantBody(t, c, e)
			put(c, withBody(key, uint64(ver-1), 3<<10))
			fill(c, withBody(key, uint64(ver-1), 4<<10))
			fill(c, withBody(key, uint64(ver), n))
			wantBody(t, c, e)
		}
	}
	key = newKey("body")
	e := withBody(key, 3, 8<<10)
	fill(c, e)
	wantBody(t, c, e)
	c.Drop(t.Context(), []string{key})
	wantNone(t, c, key)
	put(c, withBody(key, 2, 9<<10))
	wantBody(t, c, withBody(key, 2, 9<<10))
}

// testHeads asks for heads alone, and fills them alone.
func testHeads(t *testing.T, c cache.Cache) {
	short, long, alone, gone := newKey("short"), newKey("long"), newKey("alone"), newKey("gone")
	put(c, withBody(short, 4, 10), withBody(long, 5, 50<<10))
	head := row(alone, 6)
	head.Partial = true
	fill(c, head)
	got := headsOf(t.Context(), c, []string{short, long, alone, gone})
	if len(got) != 3 {
		t.Errorf("got %d heads, want 3", len(got))
	}
	for key, ver := range map[string]uint64{short: 4, long: 5, alone: 6} {
		if want := row(key, ver); got[key].Ver != ver || !bytes.Equal(got[key].Value, want.Value) || got[key].Key != key {
			t.Errorf("head of %s: got %q at %d, want %q at %d", key, got[key].Value, got[key].Ver, want.Value, ver)
		}
	}
	wantNone(t, c, alone)
	fill(c, withBody(alone, 6, 20))
	wantBody(t, c, withBody(alone, 6, 20))

	fill(c, head)
	wantBody(t, c, withBody(alone, 6, 20))
	put(c, withBody(alone, 7, 30<<10))
	wantBody(t, c, withBody(alone, 7, 30<<10))
}

// testToken replaces entries by what came with them.
func testToken(t *testing.T, c cache.Cache) {
	for _, n := range []int{0, 10, 10 << 10} {
		key := newKey("token")
		put(c, withBody(key, 1, n))
		old := getAll(t.Context(), c, []string{key})[key]
		next, late := withBody(key, 2, n), withBody(key, 2, n)
		next.Token, late.Token = old.Token, old.Token
		put(c, next)
		wantBody(t, c, next)
		put(c, withBody(key, 5, n))
		late.Ver = 4 // its token was good once
		put(c, late)
		wantBody(t, c, withBody(key, 5, n))
		c.Drop(t.Context(), []string{key})
		next.Ver, next.Value, next.Body = 6, withBody(key, 6, n).Value, withBody(key, 6, n).Body
		put(c, next)
		wantBody(t, c, withBody(key, 6, n))
	}
}

// testNeverBackToken lets writers that each read, commit the next ver and tell it
// by the token they read race with readers, on rows long and short in turns.
func testNeverBackToken(t *testing.T, c cache.Cache) {
	key := newKey("chain")
	size := func(ver uint64) int { return int(ver%3) * 3 << 10 }
	var mu sync.Mutex // the database: only the next ver may be committed
	committed := uint64(1)
	put(c, withBody(key, 1, size(1)))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				e, found := getAll(context.Background(), c, []string{key})[key]
				if found && len(e.Body) != size(e.Ver) {
					t.Errorf("ver %d has a body of %d bytes, want %d", e.Ver, len(e.Body), size(e.Ver))
				}
				mu.Lock()
				least := committed
				if !found || e.Ver != committed {
					mu.Unlock()
					fill(c, withBody(key, least, size(least)))
					continue
				}
				committed++
				mu.Unlock()
				next := withBody(key, e.Ver+1, size(e.Ver+1))
				if rand.IntN(4) > 0 {
					next.Token = e.Token
				}
				put(c, next)
				if got, found := getAll(context.Background(), c, []string{key})[key]; found && got.Ver < next.Ver {
					t.Errorf("got ver %d after %d was told", got.Ver, next.Ver)
				}
			}
		})
	}
	all.Wait()
	if committed < 20 {
		t.Errorf("only %d commits: nothing was tested", committed)
	}
}
