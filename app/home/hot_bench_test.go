package home_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kith/app/home"
	"kith/app/post"
	"kith/repo/cache"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	posts "kith/repo/post"
	"kith/repo/timeline"
)

// BenchmarkHome_Hot reads the first page of a home whose line is held, of a reader who
// follows some authors, by several at once.
func BenchmarkHome_Hot(b *testing.B) {
	for _, authors := range []int{10, 100} {
		b.Run(fmt.Sprint(authors), func(b *testing.B) {
			servers, err := memcache.New(memcache.Config{Servers: []string{memcachetest.Start(b).Addr}, Timeout: time.Second})
			if err != nil {
				b.Fatal(err)
			}
			defer servers.Close()
			c, err := cache.NewMemcached(cache.Config{Client: servers})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			lines, err := timeline.NewMemcached(timeline.Config{Client: servers})
			if err != nil {
				b.Fatal(err)
			}
			w := newWorld(b, config{cache: c, lines: lines, recheck: time.Hour})
			w.ahead = func(ctx context.Context, reader uint64) context.Context {
				return servers.Ahead(ctx, append(c.Names(w.Rows.Key(reader), w.Feeds.Key(reader)), lines.Names(reader)...))
			}
			p := w.People(authors + 1)
			w.Follows(p[0], p[1:]...)
			for i := range 800 {
				w.Write(b, p[1+i%authors], post.Draft{Content: posts.Content{Text: fmt.Sprintf("post %d of somebody who writes about as much as people do", i)}})
			}
			w.pushed()
			if _, err := w.Home(w.Ahead(b.Context(), p[0]), p[0], home.Range{Limit: 20}); err != nil {
				b.Fatal(err)
			}
			b.SetParallelism(8)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if page, err := w.Home(w.Ahead(b.Context(), p[0]), p[0], home.Range{Limit: 20}); err != nil || len(page.Items) != 20 {
						b.Error(len(page.Items), err)
					}
				}
			})
		})
	}
}
