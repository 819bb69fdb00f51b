package home_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/home"
	"kith/app/post/posttest"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	posts "kith/repo/post"
	"kith/repo/timeline"
)

// tiers is a reader who follows some authors, over a real memcached.
type tiers struct {
	*world
	tb     testing.TB
	server *memcachetest.Server
	reader uint64
	warm   *timeline.Store
}

// newTiers has each author post each times, all in turn, a minute apart.
func newTiers(tb testing.TB, authors, each int) *tiers {
	tb.Helper()
	server := memcachetest.Start(tb, "-m", "512")
	metrics := prometheus.NewRegistry()
	servers, err := memcache.New(memcache.Config{Servers: []string{server.Addr}, Timeout: time.Second, Registerer: metrics})
	if err != nil {
		tb.Fatal(err)
	}
	c, err := cache.NewMemcached(cache.Config{Client: servers, MaxBytes: 256 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	lines, err := timeline.NewMemcached(timeline.Config{Client: servers})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close(); servers.Close() })
	pool := dbtest.Open(tb, db.Config{DSN: dbtest.DSN(tb), MaxOpen: 32, Metrics: db.NewMetrics(metrics)})
	w := &world{World: posttest.New(tb, posttest.Config{DB: pool, Cache: c, Every: time.Hour}), pool: pool, lines: lines, metrics: metrics}
	x := &tiers{world: w, tb: tb, server: server, warm: timeline.NewStore(pool, w.Now, slog.Default())}
	people := w.People(authors + 1)
	x.reader = people[authors]
	w.Follows(x.reader, people[:authors]...)
	begin := w.Now()
	for i, author := range people[:authors] {
		many(tb, w, author, each, begin.Add(time.Duration(i)*time.Minute), time.Duration(authors)*time.Minute)
	}
	w.Clock.Add(int64(authors*each) * 60)
	x.Service = x.service(x.warm, lines)
	return x
}

// many has an author post at once, as if at some times.
func many(tb testing.TB, w *world, author uint64, n int, first time.Time, every time.Duration) {
	tb.Helper()
	feeds, err := w.Feeds.Load(tb.Context(), []uint64{author}, true)
	if err != nil {
		tb.Fatal(err)
	}
	for k := range n {
		p := &posts.Post{Author: author, Content: posts.Content{Text: "hello, this is a post"}}
		p.ID = event.First(first.Add(time.Duration(k)*every)) | 1<<10 | author&1023
		feeds[author].Add(p, nil)
	}
	row, err := w.Feeds.Pack(feeds[author])
	if err != nil {
		tb.Fatal(err)
	}
	if won, err := w.Feeds.Swap(tb.Context(), []feed.Row{row}); !won || err != nil {
		tb.Fatal(won, err)
	}
}

func (x *tiers) service(warm home.Warm, lines timeline.Lines) *home.Service {
	s := home.New(home.Config{WarmFrom: 1, Relations: x.Rows, Posts: x.Stored, Feeds: x.Feeds, Lines: lines, Warm: warm, Now: x.Now, Push: true})
	x.tb.Cleanup(s.Close)
	return s
}

func (x *tiers) page(s *home.Service, before uint64) home.Items {
	x.tb.Helper()
	page, err := s.Home(context.Background(), x.reader, home.Range{Limit: 20, Before: before})
	if err != nil || len(page.Items) != 20 {
		x.tb.Fatalf("%d entries, %v", len(page.Items), err)
	}
	return page
}

// A first page of readers who follow many or few, from each tier; lost is with nothing in
// memcached.
func BenchmarkService_Home_Tiers(b *testing.B) {
	for _, c := range []struct{ authors, each int }{{10, 400}, {100, 100}, {1000, 50}} {
		x := newTiers(b, c.authors, c.each)
		cold := x.service(nil, x.lines)
		for _, run := range []struct {
			name string
			*home.Service
			drop, lost bool
		}{
			{"hot", x.Service, false, false}, {"warm", x.Service, true, false}, {"cold", cold, true, false},
			{"warm lost", x.Service, false, true}, {"cold lost", cold, false, true},
		} {
			b.Run(fmt.Sprintf("authors=%d/%s", c.authors, run.name), func(b *testing.B) {
				x.page(x.Service, 0)
				if _, err := x.Checkpoint(context.Background(), x.reader, false); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if run.drop {
						x.lines.Drop(context.Background(), x.reader)
					}
					if run.lost {
						b.StopTimer()
						x.lose()
						b.StartTimer()
					}
					x.page(run.Service, 0)
				}
			})
		}
	}
}

// lose empties memcached.
func (x *tiers) lose() {
	x.tb.Helper()
	c, err := net.Dial("unix", x.server.Addr)
	if err != nil {
		x.tb.Fatal(err)
	}
	defer c.Close()
	answer := make([]byte, 4)
	if _, err = io.WriteString(c, "flush_all\r\n"); err == nil {
		_, err = io.ReadFull(c, answer)
	}
	if err != nil || string(answer) != "OK\r\n" {
		x.tb.Fatalf("flush memcached: %q, %v", answer, err)
	}
}

// blind are lines that keep no window.
type blind struct{ timeline.Lines }

func (blind) Window(context.Context, uint64) (timeline.Window, bool) { return timeline.Window{}, false }
func (blind) Keep(context.Context, uint64, timeline.Window, time.Duration) {
}

// Pages below the line: with and without the window that is kept there, the same page again
// and again, and 40 pages down, beginning with no window.
func BenchmarkService_Home_Deep(b *testing.B) {
	for _, c := range []struct{ authors, each int }{{10, 800}, {100, 100}, {1000, 50}} {
		x := newTiers(b, c.authors, c.each)
		without := x.service(x.warm, blind{x.lines})
		first := uint64(0)
		for range 41 { // of 20: the line, and a page
			first = x.page(x.Service, first).Next
		}
		for _, run := range []struct {
			name string
			*home.Service
		}{{"without", without}, {"window", x.Service}} {
			before, page := first, 1
			for _, at := range []int{2, 10, 50} {
				for ; page < at; page++ {
					before = x.page(run.Service, before).Next
				}
				b.Run(fmt.Sprintf("authors=%d/page=%d/%s", c.authors, at, run.name), func(b *testing.B) {
					begun := used(b)
					for b.Loop() {
						x.page(run.Service, before)
					}
					b.ReportMetric(float64((used(b)-begun).Microseconds())/float64(b.N), "cpu-µs/op")
				})
			}
			b.Run(fmt.Sprintf("authors=%d/walk/%s", c.authors, run.name), func(b *testing.B) {
				begun, pages := used(b), 40
				for i := 0; b.Loop(); i++ {
					if i%pages == 0 {
						x.lines.Drop(b.Context(), x.reader)
						x.page(x.Service, 0)
						before = first
					}
					before = x.page(run.Service, before).Next
				}
				b.ReportMetric(float64((used(b)-begun).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}
