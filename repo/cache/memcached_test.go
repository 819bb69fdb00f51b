package cache_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	witness "github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo/cache"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
)

// config is that of a cache and of its client.
type config struct {
	cache.Config
	Servers    []string
	Timeout    time.Duration
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// openMemcached opens a cache that waits long for a server unless told
// otherwise: a machine busy with other tests must not look like an outage.
func openMemcached(t testing.TB, cfg config) *cache.Memcached {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	client, err := memcache.New(memcache.Config{Servers: cfg.Servers, Timeout: cfg.Timeout, Log: cfg.Log, Registerer: cfg.Registerer})
	if err != nil {
		t.Fatalf("memcache.New: %v", err)
	}
	t.Cleanup(func() { client.Close() })
	cfg.Config.Client, cfg.Config.Log, cfg.Config.Registerer = client, cfg.Log, cfg.Registerer
	c, err := cache.NewMemcached(cfg.Config)
	if err != nil {
		t.Fatalf("NewMemcached: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// rows returns entries of fresh keys at ver, and the keys.
func rows(n int, ver uint64) (entries []cache.Entry, keys []string) {
	for range n {
		keys = append(keys, newKey("row"))
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
	runSuite(t, func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache {
		return openMemcached(t, config{
			Servers: []string{server}, Config: cache.Config{Expiry: expiry, AbsentExpiry: absentExpiry, Identity: identity(7, 7)},
		})
	})
}

func TestMemcached_TwoServers(t *testing.T) {
	t.Parallel()
	servers := []string{memcachetest.Start(t).Addr, memcachetest.Start(t).Addr}
	runSuite(t, func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache {
		return openMemcached(t, config{Servers: servers, Config: cache.Config{Expiry: expiry, AbsentExpiry: absentExpiry}})
	})
}

// TestMemcached_Largest checks that memcached takes the largest item we give it.
func TestMemcached_Largest(t *testing.T) {
	t.Parallel()
	c := openMemcached(t, config{Servers: []string{memcachetest.Addr(t)}})
	key := newKey(strings.Repeat("k", 200))
	key += strings.Repeat("k", 249-len(key))
	for ver, size := range []int{2: cache.MaxBytes - 1, 3: cache.MaxBytes} {
		if size == 0 {
			continue
		}
		want := cache.Entry{Key: key, Ver: uint64(ver), Value: bytes.Repeat([]byte{byte(ver)}, size)}
		c.Put(t.Context(), []cache.Entry{want})
		if got := getAll(t.Context(), c, []string{key})[key]; got.Ver != want.Ver || !bytes.Equal(got.Value, want.Value) {
			t.Errorf("a value of %d bytes: got ver %d and %d bytes", size, got.Ver, len(got.Value))
		}
	}
}

// TestMemcached_Refused has a server that takes less than we give it.
func TestMemcached_Refused(t *testing.T) {
	t.Parallel()
	c := openMemcached(t, config{Servers: []string{memcachetest.Start(t, "-I", "512k").Addr}})
	key := newKey("refused")
	c.Put(t.Context(), at([]string{key}, 1))
	large := cache.Entry{Key: key, Ver: 2, Value: make([]byte, 600_000)}
	c.Put(t.Context(), []cache.Entry{large})
	wantNone(t, c, key)
	c.Fill(t.Context(), []cache.Entry{large})
	wantNone(t, c, key)
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping after a refusal: %v", err)
	}
	c.Put(t.Context(), at([]string{key}, 3))
	if got := getAll(t.Context(), c, []string{key})[key]; got.Ver != 3 {
		t.Errorf("after a refusal: got ver %d, want 3", got.Ver)
	}
}

// TestMemcached_ForeignBytes has items under our keys that are not ours.
func TestMemcached_ForeignBytes(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	c := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(1, 7)}})
	raw := witness.New(server)
	defer raw.Close()
	for _, foreign := range []string{"", "x", "a value of somebody else", strings.Repeat("\x02", 100)} {
		read, written := newKey("read"), newKey("written")
		for _, key := range []string{read, written} {
			if err := raw.Set(&witness.Item{Key: "1:" + key, Value: []byte(foreign)}); err != nil {
				t.Fatalf("set %q: %v", foreign, err)
			}
		}
		wantNone(t, c, read)
		if _, err := raw.Get("1:" + read); err != witness.ErrCacheMiss {
			t.Errorf("%q after Get: %v, want it dropped", foreign, err)
		}
		c.Put(t.Context(), at([]string{written}, 1))
		if got := getAll(t.Context(), c, []string{written})[written]; got.Ver != 1 {
			t.Errorf("Put over %q: got ver %d, want 1", foreign, got.Ver)
		}
	}
}

func TestMemcached_Metrics(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	c := openMemcached(t, config{Servers: []string{memcachetest.Addr(t)}, Registerer: r})
	entries, keys := rows(3, 2)
	c.Put(t.Context(), entries)
	c.Put(t.Context(), at(keys, 1))
	c.Put(t.Context(), []cache.Entry{{Key: keys[0], Ver: 9, Value: make([]byte, 2<<20)}})
	c.Fill(t.Context(), at(keys, 1))
	getAll(t.Context(), c, append(keys, "never:held"))
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
# HELP kith_cache_puts_total Committed rows put into the cache, by result: stored, newer where it held the same or a higher ver, failed, too_large.
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
	if n, err := testutil.GatherAndCount(r, "kith_cache_gets_total", "kith_cache_puts_total", "kith_cache_fills_total"); n != 0 || err != nil {
		t.Errorf("after Close: got %d series, %v, want none", n, err)
	}
}

func TestNewMemcached_Bad(t *testing.T) {
	for name, cfg := range map[string]cache.Config{
		"negative expiry": {AbsentExpiry: -1},
		"long expiry":     {Expiry: 31 * 24 * time.Hour},
		"negative memory": {MaxBytes: -1},
	} {
		if c, err := cache.NewMemcached(cfg); err == nil {
			c.Close()
			t.Errorf("%s: got no error", name)
		}
	}
}
