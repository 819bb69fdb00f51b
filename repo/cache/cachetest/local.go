// Package cachetest makes a cache for the tests of those who use one.
package cachetest

import (
	"testing"

	"kith/repo/cache"
)

// Local makes a cache in this process that holds more than any test fills.
func Local(tb testing.TB) *cache.Local {
	tb.Helper()
	c, err := cache.NewLocal(cache.Config{MaxBytes: 64 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}
