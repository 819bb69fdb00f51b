package cachetest

import (
	"testing"

	"kith/repo/cache"
)

// localBytes is more than any test fills.
const localBytes = 64 << 20

// Local makes a cache in this process, for tests of what uses one.
func Local(tb testing.TB) *cache.Local {
	tb.Helper()
	c, err := cache.NewLocal(cache.LocalConfig{MaxBytes: localBytes})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}
