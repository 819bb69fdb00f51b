package cache_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/memcachetest"
)

// openMemcached opens a cache that waits long for a server unless told
// otherwise: a machine busy with other tests must not look like an outage.
func openMemcached(t testing.TB, cfg cache.MemcachedConfig) *cache.Memcached {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	c, err := cache.NewMemcached(cfg)
	if err != nil {
		t.Fatalf("NewMemcached: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// rows returns entries of fresh keys at ver, and the keys.
func rows(n int, ver uint64) (entries []cache.Entry, keys []string) {
	for range n {
		keys = append(keys, cachetest.Key("row"))
	}
	return at(keys, ver), keys
}

// at returns entries of keys at ver.
func at(keys []string, ver uint64) []cache.Entry {
	entries := make([]cache.Entry, len(keys))
	for i, key := range keys {
		entries[i] = cache.Entry{Key: key, Ver: ver, Value: fmt.Append(nil, key, ver)}
	}
	return entries
}

func TestMemcached(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	cachetest.Run(t, func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache {
		return openMemcached(t, cache.MemcachedConfig{
			Servers: []string{server}, Expiry: expiry, AbsentExpiry: absentExpiry, Prefix: "kith:",
		})
	})
}

func TestMemcached_TwoServers(t *testing.T) {
	t.Parallel()
	servers := []string{memcachetest.Start(t).Addr, memcachetest.Start(t).Addr}
	cachetest.Run(t, func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache {
		return openMemcached(t, cache.MemcachedConfig{Servers: servers, Expiry: expiry, AbsentExpiry: absentExpiry})
	})
}

// TestMemcached_Largest checks that memcached takes the largest item we give it.
func TestMemcached_Largest(t *testing.T) {
	t.Parallel()
	c := openMemcached(t, cache.MemcachedConfig{Servers: []string{memcachetest.Addr(t)}})
	key := cachetest.Key(strings.Repeat("k", 200))
	key += strings.Repeat("k", 249-len(key))
	for ver, size := range []int{2: cache.MaxBytes - 1, 3: cache.MaxBytes} {
		if size == 0 {
			continue
		}
		want := cache.Entry{Key: key, Ver: uint64(ver), Value: bytes.Repeat([]byte{byte(ver)}, size)}
		c.Put(t.Context(), []cache.Entry{want})
		if got := cachetest.Get(t.Context(), c, []string{key})[key]; got.Ver != want.Ver || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("a value of %d bytes: got ver %d and %d bytes", size, got.Ver, len(got.Value))
		}
	}
}

// TestMemcached_Refused has a server that takes less than we give it.
func TestMemcached_Refused(t *testing.T) {
	t.Parallel()
	c := openMemcached(t, cache.MemcachedConfig{Servers: []string{memcachetest.Start(t, "-I", "512k").Addr}})
	key := cachetest.Key("refused")
	c.Put(t.Context(), at([]string{key}, 1))
	large := cache.Entry{Key: key, Ver: 2, Value: make([]byte, 600_000)}
	c.Put(t.Context(), []cache.Entry{large})
	cachetest.WantNone(t, c, key)
	c.Fill(t.Context(), []cache.Entry{large})
	cachetest.WantNone(t, c, key)
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping after a refusal: %v", err)
	}
	c.Put(t.Context(), at([]string{key}, 3))
	if got := cachetest.Get(t.Context(), c, []string{key})[key]; got.Ver != 3 {
		t.Errorf("after a refusal: got ver %d, want 3", got.Ver)
	}
}

// TestMemcached_ForeignBytes has items under our keys that are not ours.
func TestMemcached_ForeignBytes(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	c := openMemcached(t, cache.MemcachedConfig{Servers: []string{server}, Prefix: "p:"})
	raw := memcache.New(server)
	defer raw.Close()
	for _, foreign := range []string{"", "x", "a value of somebody else", strings.Repeat("\x02", 100)} {
		read, written := cachetest.Key("read"), cachetest.Key("written")
		for _, key := range []string{read, written} {
			if err := raw.Set(&memcache.Item{Key: "p:" + key, Value: []byte(foreign)}); err != nil {
				t.Fatalf("set %q: %v", foreign, err)
			}
		}
		cachetest.WantNone(t, c, read)
		if _, err := raw.Get("p:" + read); err != memcache.ErrCacheMiss {
			t.Errorf("%q after Get: %v, want it dropped", foreign, err)
		}
		c.Put(t.Context(), at([]string{written}, 1))
		if got := cachetest.Get(t.Context(), c, []string{written})[written]; got.Ver != 1 {
			t.Errorf("Put over %q: got ver %d, want 1", foreign, got.Ver)
		}
	}
}

// TestMemcached_Connections checks that a burst uses MaxIdle connections and
// that they are kept.
func TestMemcached_Connections(t *testing.T) {
	t.Parallel()
	link := openLink(t, memcachetest.Addr(t))
	c := openMemcached(t, cache.MemcachedConfig{Servers: []string{link.addr}, MaxIdle: 10})
	entries, keys := rows(200, 1)
	var burst sync.WaitGroup
	for range 20 {
		burst.Go(func() {
			c.Put(context.Background(), entries)
			if got := cachetest.Get(context.Background(), c, keys); len(got) != len(keys) {
				t.Errorf("got %d keys, want %d", len(got), len(keys))
			}
		})
	}
	burst.Wait()
	if n := link.accepted.Load(); n > 10 {
		t.Errorf("got %d connections, want 10", n)
	}
}

func TestMemcached_Metrics(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	c := openMemcached(t, cache.MemcachedConfig{Servers: []string{memcachetest.Addr(t)}, Registerer: r})
	entries, keys := rows(3, 2)
	c.Put(t.Context(), entries)
	c.Put(t.Context(), at(keys, 1))
	c.Put(t.Context(), []cache.Entry{{Key: keys[0], Ver: 9, Value: make([]byte, 2<<20)}})
	c.Fill(t.Context(), at(keys, 1))
	cachetest.Get(t.Context(), c, append(keys, "never:held"))
	want := `
# HELP kith_cache_fills_total Rows offered by readers, by result: stored, held where there was an entry, failed, too_large.
# TYPE kith_cache_fills_total counter
kith_cache_fills_total{result="failed"} 0
kith_cache_fills_total{result="held"} 3
kith_cache_fills_total{result="stored"} 0
kith_cache_fills_total{result="too_large"} 0
# HELP kith_cache_gets_total Keys asked for, by result: hit, miss, or away where the server is away.
# TYPE kith_cache_gets_total counter
kith_cache_gets_total{result="away"} 0
kith_cache_gets_total{result="hit"} 2
kith_cache_gets_total{result="miss"} 2
# HELP kith_cache_puts_total Committed rows told to the cache, by result: stored, newer where it held the same or a higher ver, failed, too_large.
# TYPE kith_cache_puts_total counter
kith_cache_puts_total{result="failed"} 0
kith_cache_puts_total{result="newer"} 3
kith_cache_puts_total{result="stored"} 3
kith_cache_puts_total{result="too_large"} 1
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want),
		"kith_cache_gets_total", "kith_cache_puts_total", "kith_cache_fills_total"); err != nil {
		t.Error(err)
	}
	c.Close()
	if n, err := testutil.GatherAndCount(r); n != 0 || err != nil {
		t.Errorf("after Close: got %d series, %v, want none", n, err)
	}
}

func TestNewMemcached_Bad(t *testing.T) {
	bad := map[string]cache.MemcachedConfig{
		"no servers":       {},
		"no port":          {Servers: []string{"localhost"}},
		"named twice":      {Servers: []string{"localhost:11211", "localhost:11211"}},
		"negative timeout": {Servers: []string{"/s"}, Timeout: -1},
		"long expiry":      {Servers: []string{"/s"}, Expiry: 31 * 24 * time.Hour},
		"space in prefix":  {Servers: []string{"/s"}, Prefix: "a b"},
		"long prefix":      {Servers: []string{"/s"}, Prefix: strings.Repeat("p", 200)},
	}
	for name, cfg := range bad {
		if c, err := cache.NewMemcached(cfg); err == nil {
			c.Close()
			t.Errorf("%s: got no error", name)
		}
	}
}
