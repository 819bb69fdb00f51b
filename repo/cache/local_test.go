package cache_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo/cache"
	"kith/repo/waittest"
)

func openLocal(t *testing.T, cfg cache.Config) *cache.Local {
	t.Helper()
	c, err := cache.NewLocal(cfg)
	if err != nil {
		t.Fatalf("NewLocal: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestLocal(t *testing.T) {
	t.Parallel()
	runSuite(t, func(t *testing.T, expiry, absentExpiry time.Duration) cache.Cache {
		return openLocal(t, cache.Config{MaxBytes: 16 << 20, Expiry: expiry, AbsentExpiry: absentExpiry})
	})
}

func TestLocal_Bounded(t *testing.T) {
	const maxBytes, size = 1 << 20, 10_000
	c := openLocal(t, cache.Config{MaxBytes: maxBytes})
	var keys []string
	for i := range 1000 {
		key := fmt.Sprintf("bounded:%d", i)
		keys = append(keys, key)
		c.Put(t.Context(), []cache.Entry{{Key: key, Ver: 1, Value: make([]byte, size)}})
	}
	waittest.Until(t, patience, "the cache is as small as it was told", func() bool {
		held := len(getAll(t.Context(), c, keys)) * size
		return held <= maxBytes && held > maxBytes/2
	})
}

func TestLocal_LargerThanAll(t *testing.T) {
	c := openLocal(t, cache.Config{MaxBytes: 1 << 10})
	c.Put(t.Context(), []cache.Entry{{Key: "k", Ver: 1, Value: make([]byte, 100)}})
	c.Put(t.Context(), []cache.Entry{{Key: "k", Ver: 2, Value: make([]byte, 2000)}})
	wantNone(t, c, "k")
}

func TestLocal_Metrics(t *testing.T) {
	r := prometheus.NewRegistry()
	c := openLocal(t, cache.Config{MaxBytes: 1 << 20, Registerer: r})
	c.Put(t.Context(), []cache.Entry{{Key: "k", Ver: 1}})
	getAll(t.Context(), c, []string{"k", "other"})
	if n, err := testutil.GatherAndCount(r, "kith_cache_gets_total"); n != 3 || err != nil {
		t.Errorf("kith_cache_gets_total: got %d series, %v, want 3", n, err)
	}
	if _, err := cache.NewLocal(cache.Config{MaxBytes: 1, Registerer: r}); err == nil {
		t.Error("a second cache with the same metrics: got no error")
	}
	c.Close()
	if n, err := testutil.GatherAndCount(r); n != 0 || err != nil {
		t.Errorf("after Close: got %d series, %v, want none", n, err)
	}
}

func TestNewLocal_NoBytes(t *testing.T) {
	if _, err := cache.NewLocal(cache.Config{}); err == nil {
		t.Error("a cache of 0 bytes: got no error")
	}
}

func TestNone(t *testing.T) {
	c := cache.NewNone()
	c.Put(t.Context(), []cache.Entry{{Key: "k", Ver: 1}})
	wantNone(t, c, "k")
}
