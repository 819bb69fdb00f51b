package cache_test

import (
	"fmt"
	"testing"

	"kith/repo/cache"
	"kith/repo/memcachetest"
)

// benchCaches are the caches to measure, by name.
func benchCaches(b *testing.B) map[string]cache.Cache {
	local, err := cache.NewLocal(cache.Config{MaxBytes: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { local.Close() })
	return map[string]cache.Cache{
		"Local":     local,
		"Memcached": openMemcached(b, config{Servers: []string{memcachetest.Addr(b)}}),
	}
}

// BenchmarkGet reads 1 or 100 rows of 1 kB from several goroutines.
func BenchmarkGet(b *testing.B) {
	for name, c := range benchCaches(b) {
		for _, n := range []int{1, 100} {
			entries, keys := rows(n, 1)
			for i := range entries {
				entries[i].Value = make([]byte, 1000)
			}
			c.Put(b.Context(), entries)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism(32)
				b.RunParallel(func(pb *testing.PB) {
					got := make([]cache.Held, n)
					for pb.Next() {
						clear(got)
						if c.Get(b.Context(), keys, got); !got[n-1].Found {
							b.Errorf("row %d is missing", n-1)
						}
					}
				})
			})
		}
	}
}

// BenchmarkPut tells the rows of a commit of 1 or 512 rows of 1 kB again and
// again, each time at a higher ver.
func BenchmarkPut(b *testing.B) {
	for name, c := range benchCaches(b) {
		for _, n := range []int{1, 512} {
			_, keys := rows(n, 1)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for ver := uint64(1); b.Loop(); ver++ {
					entries := at(keys, ver)
					for i := range entries {
						entries[i].Value = make([]byte, 1000)
					}
					c.Put(b.Context(), entries)
				}
			})
		}
	}
}
