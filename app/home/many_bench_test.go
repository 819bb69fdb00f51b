package home_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"kith/app/home"
	"kith/app/post/posttest"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/list"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	"kith/repo/relation"
	"kith/repo/timeline"
)

// crowd has each account follow the same others.
type crowd struct {
	home.Relations
	ids []uint64
}

func (c crowd) Following(context.Context, relation.Row) ([]uint64, error) {
	return append(make([]uint64, 0, len(c.ids)+1), c.ids...), nil
}

func (c crowd) Rels(_ context.Context, _ relation.Row, ids []uint64, _ list.Rel) ([]list.Rel, relation.Options, error) {
	out := make([]list.Rel, len(ids))
	for i := range out {
		out[i] = list.IsFollowing
	}
	return out, relation.Options{}, nil
}

// feedsOf stores feeds of accounts, each with events of some 100 days that have no posts.
func feedsOf(tb testing.TB, ids []uint64, each int, begin time.Time) {
	tb.Helper()
	pool := dbtest.DB(tb)
	for from := 0; from < len(ids); from += 500 {
		part := ids[from:min(from+500, len(ids))]
		var args []any
		for i, id := range part {
			var events []event.Event
			for k := range each {
				at := begin.Add(-time.Duration(k*len(ids)+from+i) * (100 * 24 * time.Hour / time.Duration(each*len(ids))))
				events = append(events, event.Event{ID: event.First(at) | id&(repo.Buckets-1), Author: id})
			}
			packed, err := event.AppendFeed(nil, id, events)
			if err != nil {
				tb.Fatal(err)
			}
			args = append(args, repo.Bucket(id), id, packed, each, events[0].ID, events[0].ID)
		}
		_, err := pool.ExecContext(tb.Context(), `INSERT INTO author_feed (bucket, account_id, ver, list, statuses, last_id, newest_id, floor_id, pulled_since, updated_at) VALUES `+
			strings.TrimSuffix(strings.Repeat(`(?,?,1,?,?,?,?,0,0,1),`, len(part)), `,`), args...)
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// The line of somebody who follows very many is built.
func BenchmarkService_Home_Many(b *testing.B) {
	for _, authors := range []int{10_000, 60_000} {
		server := memcachetest.Start(b, "-m", "512")
		servers, err := memcache.New(memcache.Config{Servers: []string{server.Addr}, Timeout: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		defer servers.Close()
		c, err := cache.NewMemcached(cache.Config{Client: servers, MaxBytes: 256 << 20})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		lines, err := timeline.NewMemcached(timeline.Config{Client: servers})
		if err != nil {
			b.Fatal(err)
		}
		pool := dbtest.Open(b, db.Config{DSN: dbtest.DSN(b), MaxOpen: 32})
		w := &world{World: posttest.New(b, posttest.Config{DB: pool, Cache: c}), lines: lines}
		reader := w.People(1)[0]
		ids := make([]uint64, authors)
		for i := range ids {
			ids[i] = 1<<31 + uint64(authors+i)
		}
		feedsOf(b, ids, 100, w.Now())
		w.Post(b, reader, "the newest")
		s := home.New(home.Config{Relations: crowd{w.Rows, ids}, Posts: w.Stored, Feeds: w.Feeds, Lines: lines, Warm: timeline.NewStore(pool, w.Now, slog.Default()), Now: w.Now, Push: true})
		x := &tiers{world: w, tb: b, server: server, reader: reader}
		for _, lost := range []bool{false, true} {
			b.Run(fmt.Sprintf("authors=%d/lost=%t", authors, lost), func(b *testing.B) {
				b.ReportAllocs()
				peak, cpu := watchHeap(b), time.Duration(0)
				for b.Loop() {
					b.StopTimer()
					lines.Drop(b.Context(), reader)
					if lost {
						x.lose()
					}
					begun := used(b)
					b.StartTimer()
					page, err := s.Home(b.Context(), reader, home.Range{Limit: 1})
					if err != nil || len(page.Items) != 1 {
						b.Fatal(len(page.Items), err)
					}
					cpu += used(b) - begun
				}
				b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
				b.ReportMetric(peak()/(1<<20), "peak-MB")
			})
		}
	}
}

// watchHeap returns what returns by how many bytes the heap grew.
func watchHeap(b *testing.B) func() float64 {
	old := debug.SetGCPercent(50)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	size := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	begin, done, most := size(), make(chan struct{}), make(chan uint64)
	go func() {
		high := begin
		for {
			select {
			case <-done:
				most <- high
				return
			case <-time.After(time.Millisecond):
				high = max(high, size())
			}
		}
	}()
	b.Cleanup(func() { debug.SetGCPercent(old) })
	return func() float64 { close(done); return float64(<-most - begin) }
}

// used returns how much time of processors this process used: other work on the machine
// does not count.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
