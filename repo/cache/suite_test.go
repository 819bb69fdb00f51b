package cache_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/repo/cache"
	"kith/repo/waittest"
)

// patience bounds the waits of the suite; it is spent only when a test fails.
const patience = 10 * time.Second

// long is an expiry that no test lives to see.
const long = time.Hour

// opener makes a cache that holds rows and absent marks for the given times and
// values of at least a million bytes. It closes it when the test ends.
type opener func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache

// runSuite runs what every implementation of cache.Cache passes.
func runSuite(t *testing.T, open opener) {
	tests := []struct {
		name string
		run  func(t *testing.T, c cache.Cache)
	}{
		{"Get", testGet},
		{"Put", testPut},
		{"PutMany", testPutMany},
		{"Ahead", testAhead},
		{"Fill", testFill},
		{"Absent", testAbsent},
		{"Drop", testDrop},
		{"TooLarge", testTooLarge},
		{"Body", testBody},
		{"Heads", testHeads},
		{"Token", testToken},
		{"IllegalKey", testIllegalKey},
		{"ContextDone", testContextDone},
		{"NeverBack", func(t *testing.T, c cache.Cache) { testNeverBack(t, c, row) }},
		{"NeverBackLong", func(t *testing.T, c cache.Cache) { testNeverBack(t, c, long16K) }},
		{"NeverBackToken", testNeverBackToken},
		{"Closed", testClosed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t, long, long))
		})
	}
	t.Run("Expiry", func(t *testing.T) {
		t.Parallel()
		testExpiry(t, open(t, time.Second, long), 1)
	})
	t.Run("AbsentExpiry", func(t *testing.T) {
		t.Parallel()
		testExpiry(t, open(t, long, time.Second), 0)
	})
}

// newKey returns a key that no other test uses.
func newKey(name string) string {
	return fmt.Sprintf("test:1:%s:%x", strings.ReplaceAll(name, " ", "_"), rand.Uint64())
}

// row returns an entry whose value tells its key and ver.
func row(key string, ver uint64) cache.Entry {
	return cache.Entry{Key: key, Ver: ver, Value: fmt.Appendf(nil, "%s at %d\r\n\x00", key, ver)}
}

// wantVer fails the test unless c holds exactly the row of key at ver.
func wantVer(t *testing.T, c cache.Cache, key string, ver uint64) {
	t.Helper()
	want := row(key, ver)
	if ver == 0 {
		want.Value = nil
	}
	got, found := getAll(context.Background(), c, []string{key})[key]
	if !found {
		t.Fatalf("Get %s: got nothing, want ver %d", key, ver)
	}
	if got.Key != key || got.Ver != ver || !bytes.Equal(got.Value, want.Value) {
		t.Fatalf("Get %s: got %q ver %d value %.60q, want ver %d value %.60q", key, got.Key, got.Ver, got.Value, ver, want.Value)
	}
}

// wantNone fails the test if c holds key.
func wantNone(t *testing.T, c cache.Cache, key string) {
	t.Helper()
	if got, found := getAll(context.Background(), c, []string{key})[key]; found {
		t.Fatalf("Get %s: got ver %d, want nothing", key, got.Ver)
	}
}

// getAll returns what c holds of keys, by key.
func getAll(ctx context.Context, c cache.Cache, keys []string) map[string]cache.Entry {
	return byKey(ctx, keys, c.Get)
}

// headsOf is getAll of heads.
func headsOf(ctx context.Context, c cache.Cache, keys []string) map[string]cache.Entry {
	return byKey(ctx, keys, c.Heads)
}

func byKey(ctx context.Context, keys []string, get func(context.Context, []string, []cache.Held)) map[string]cache.Entry {
	all := make([]cache.Held, len(keys))
	get(ctx, keys, all)
	out := make(map[string]cache.Entry, len(keys))
	for i, h := range all {
		if h.Found {
			out[keys[i]] = h.Entry
		}
	}
	return out
}

func put(c cache.Cache, entries ...cache.Entry)  { c.Put(context.Background(), entries) }
func fill(c cache.Cache, entries ...cache.Entry) { c.Fill(context.Background(), entries) }

func testGet(t *testing.T, c cache.Cache) {
	c.Get(t.Context(), nil, nil)
	here, gone := newKey("here"), newKey("gone")
	put(c, row(here, 7))
	got := getAll(t.Context(), c, []string{gone, here, here})
	if len(got) != 1 || got[here].Ver != 7 {
		t.Errorf("Get of a missing key and one named twice: got %v, want only %s at 7", got, here)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func testPut(t *testing.T, c cache.Cache) {
	key := newKey("put")
	put(c, row(key, 5))
	wantVer(t, c, key, 5)
	put(c, row(key, 4))
	wantVer(t, c, key, 5)
	put(c, cache.Entry{Key: key, Ver: 5, Value: []byte("another row at 5")})
	wantVer(t, c, key, 5)
	put(c, row(key, 9))
	wantVer(t, c, key, 9)
	put(c, row(key, 1<<63+1))
	wantVer(t, c, key, 1<<63+1)

	twice := newKey("twice")
	put(c, row(twice, 2), row(twice, 3), row(twice, 1))
	wantVer(t, c, twice, 3)

	empty := newKey("empty")
	put(c, cache.Entry{Key: empty, Ver: 1})
	if got, found := getAll(t.Context(), c, []string{empty})[empty]; !found || got.Ver != 1 || len(got.Value) != 0 {
		t.Errorf("a row of no bytes: got %v (found %v), want ver 1", got, found)
	}
}

// testPutMany puts and asks for as many rows as a large commit has, part of
// them held already.
func testPutMany(t *testing.T, c cache.Cache) {
	const n = 512
	keys := make([]string, n)
	entries := make([]cache.Entry, n)
	for i := range keys {
		keys[i] = newKey("many")
		entries[i] = row(keys[i], 10)
		if i%3 == 0 {
			put(c, row(keys[i], uint64(9+i%2*2)))
		}
	}
	put(c, entries...)
	got := getAll(t.Context(), c, keys)
	if len(got) != n {
		t.Fatalf("Get of %d keys: got %d", n, len(got))
	}
	for i, key := range keys {
		want := row(key, 10)
		if i%3 == 0 && i%2 == 1 {
			want = row(key, 11)
		}
		if e := got[key]; e.Ver != want.Ver || !bytes.Equal(e.Value, want.Value) {
			t.Fatalf("row %d: got ver %d value %q, want ver %d value %q", i, e.Ver, e.Value, want.Ver, want.Value)
		}
	}
	c.Drop(t.Context(), keys)
	if got := getAll(t.Context(), c, keys); len(got) != 0 {
		t.Errorf("after Drop of all: got %d keys", len(got))
	}
}

// testAhead: a writer learns of a higher ver, and what is disowned makes room for a
// lower one.
func testAhead(t *testing.T, c cache.Cache) {
	for _, row := range []func(string, uint64) cache.Entry{row, long16K} {
		key, other := newKey("ahead"), newKey("other")
		if ahead := c.Put(t.Context(), []cache.Entry{row(key, 9), row(other, 9)}); len(ahead) != 0 {
			t.Errorf("nothing was held: got %v", ahead)
		}
		if ahead := c.Put(t.Context(), []cache.Entry{row(key, 9), row(other, 10)}); len(ahead) != 0 {
			t.Errorf("the same ver and a lower one were held: got %v", ahead)
		}
		if ahead := c.Put(t.Context(), []cache.Entry{row(key, 5), row(other, 11)}); len(ahead) != 1 || ahead[key] != 9 {
			t.Errorf("ver 9 was held: got %v", ahead)
		}
		c.Disown(t.Context(), []string{key})
		wantNone(t, c, key)
		put(c, row(key, 5))
		if got, want := getAll(t.Context(), c, []string{key})[key], row(key, 5); got.Ver != 5 || !bytes.Equal(got.Value, want.Value) || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("after that: got ver %d, want 5", got.Ver)
		}
	}
}

func testFill(t *testing.T, c cache.Cache) {
	key := newKey("fill")
	fill(c, row(key, 5))
	wantVer(t, c, key, 5)
	fill(c, row(key, 4))
	wantVer(t, c, key, 5)
	fill(c, row(key, 6))
	wantVer(t, c, key, 5)
	put(c, row(key, 6))
	wantVer(t, c, key, 6)
	many := make([]cache.Entry, 200)
	for i := range many {
		many[i] = row(newKey("fill"), 3)
	}
	fill(c, many...)
	for _, e := range many {
		wantVer(t, c, e.Key, 3)
	}
}

func testAbsent(t *testing.T, c cache.Cache) {
	key := newKey("absent")
	fill(c, cache.Entry{Key: key, Ver: 0, Value: []byte("not kept")})
	wantVer(t, c, key, 0)
	fill(c, row(key, 1))
	wantVer(t, c, key, 0)
	put(c, row(key, 1))
	wantVer(t, c, key, 1)
	fill(c, cache.Entry{Key: key})
	put(c, cache.Entry{Key: key})
	wantVer(t, c, key, 1)

	key = newKey("absent")
	put(c, cache.Entry{Key: key})
	wantVer(t, c, key, 0)
}

func testDrop(t *testing.T, c cache.Cache) {
	key, other := newKey("drop"), newKey("drop")
	put(c, row(key, 5), row(other, 5))
	c.Drop(t.Context(), []string{key, newKey("never held")})
	wantNone(t, c, key)
	wantVer(t, c, other, 5)
	put(c, row(key, 4))
	wantVer(t, c, key, 4)
}

// testTooLarge checks that a value past what can be held takes the older row
// with it, and that no late reader brings that back.
func testTooLarge(t *testing.T, c cache.Cache) {
	key := newKey("large")
	large := func(ver uint64) cache.Entry {
		return cache.Entry{Key: key, Ver: ver, Value: make([]byte, 2<<20)}
	}
	put(c, row(key, 1))
	put(c, large(2))
	wantNone(t, c, key)
	fill(c, row(key, 1))
	wantNone(t, c, key)
	put(c, row(key, 1))
	wantNone(t, c, key)
	put(c, row(key, 3))
	wantVer(t, c, key, 3)
	fill(c, large(4))
	wantVer(t, c, key, 3)

	key = newKey("large")
	fill(c, large(1))
	wantNone(t, c, key)
	put(c, large(1))
	wantNone(t, c, key)

	key = newKey("million")
	million := bytes.Repeat([]byte("0123456789"), 100_000)
	put(c, cache.Entry{Key: key, Ver: 1, Value: million})
	if got := getAll(t.Context(), c, []string{key})[key]; got.Ver != 1 || !bytes.Equal(got.Value, million) {
		t.Errorf("a value of a million bytes: got ver %d and %d bytes", got.Ver, len(got.Value))
	}
}

func testIllegalKey(t *testing.T, c cache.Cache) {
	good := newKey("good")
	for _, bad := range []string{"a space", "line\r\nflush_all", "\x7f", strings.Repeat("k", 250), "body+"} {
		put(c, row(bad, 1), row(good, 1))
		fill(c, row(bad, 1))
		for name, get := range map[string]func(context.Context, cache.Cache, []string) map[string]cache.Entry{"Get": getAll, "Heads": headsOf} {
			got := get(t.Context(), c, []string{bad, good})
			if _, found := got[bad]; found || len(got) != 1 {
				t.Errorf("%s of key %.20q: got %v, want only the good key", name, bad, got)
			}
		}
		c.Drop(t.Context(), []string{bad})
	}
}

func testContextDone(t *testing.T, c cache.Cache) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	key, other := newKey("done"), newKey("done")
	c.Put(done, []cache.Entry{row(key, 1)})
	wantVer(t, c, key, 1)
	if got := getAll(done, c, []string{key}); len(got) != 0 {
		t.Errorf("Get: got %v, want nothing", got)
	}
	c.Fill(done, []cache.Entry{row(other, 1)})
	wantNone(t, c, other)
	c.Drop(done, []string{key})
	wantNone(t, c, key)
}

// testNeverBack lets 32 writers, fillers and readers at two keys. A reader may
// miss, but it must not see a ver lower than one it saw before, or lower than
// one that was told before it asked.
func testNeverBack(t *testing.T, c cache.Cache, row func(key string, ver uint64) cache.Entry) {
	const commits = 150
	for range 2 {
		key := newKey("back")
		var committed, told atomic.Uint64
		var writers, others sync.WaitGroup
		stop := make(chan struct{})
		for range 32 {
			writers.Go(func() {
				for range commits {
					ver := committed.Add(1)
					put(c, row(key, ver))
					raise(&told, ver)
				}
			})
		}
		for range 4 {
			others.Go(func() {
				until(stop, func() { fill(c, row(key, committed.Load())) })
			})
			others.Go(func() {
				var seen uint64
				until(stop, func() {
					least := max(seen, told.Load())
					e, found := getAll(context.Background(), c, []string{key})[key]
					if found && e.Ver < least {
						t.Errorf("got ver %d after %d", e.Ver, least)
					}
					if found {
						seen = e.Ver
					}
				})
			})
		}
		writers.Wait()
		close(stop)
		others.Wait()
		if e, found := getAll(context.Background(), c, []string{key})[key]; found && e.Ver != committed.Load() {
			t.Errorf("in the end: got ver %d, want %d", e.Ver, committed.Load())
		}
	}
}

// raise sets v to at least to.
func raise(v *atomic.Uint64, to uint64) {
	for old := v.Load(); old < to && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// until runs f again and again until stop is closed.
func until(stop <-chan struct{}, f func()) {
	for {
		select {
		case <-stop:
			return
		default:
			f()
		}
	}
}

func testClosed(t *testing.T, c cache.Cache) {
	key := newKey("closed")
	put(c, row(key, 1))
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	wantNone(t, c, key)
	put(c, row(key, 2))
	fill(c, row(key, 2))
	c.Drop(t.Context(), []string{key})
	wantNone(t, c, key)
}

// testExpiry takes a cache that holds entries of ver for a second and others
// for long.
func testExpiry(t *testing.T, c cache.Cache, ver uint64) {
	short, long := newKey("short"), newKey("long")
	put(c, row(long, 1-ver), row(short, ver))
	waittest.Until(t, patience, "the entry expires", func() bool {
		_, found := getAll(t.Context(), c, []string{short})[short]
		return !found
	})
	wantVer(t, c, long, 1-ver)
}
