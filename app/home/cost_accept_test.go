package home_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/graph"
	"kith/app/home"
	"kith/app/intake"
	"kith/app/post"
	apptask "kith/app/task"
	"kith/repo/accepttest"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/event"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	posts "kith/repo/post"
	"kith/repo/relation"
	"kith/repo/task"
	"kith/repo/timeline"
)

const (
	costAuthors = 2_000_000_000 // the author with n followers is costAuthors + n
	costFirst   = 1_000_000_000 // the first follower
	costLimit   = 10_000        // KITH_PUSH_LIMIT
	costCap     = 10_000        // KITH_LIST_CAP
)

var costFollowers = []int{100, 10_000, 1_000_000}

// TestAccept_HomeCost shows how the cost of a post and of a home grows with the number of
// followers and followed:
//
//	KITH_ACCEPT=1 go test -run TestAccept_HomeCost -v ./app/home
//
// What grows must grow in proportion; rows and memory must not.
func TestAccept_HomeCost(t *testing.T) {
	accepttest.Long(t)
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "\ttime\tmemcached trips\tdatabase calls\trows added\tKiB allocated\tKiB in use\t")
	show := func(what string, c cost) {
		fmt.Fprintf(tab, "%s\t%v\t%d\t%d\t%d\t%d\t%d\t\n", what, c.time.Round(10*time.Microsecond), c.trips, c.calls, c.rows, c.made>>10, c.peak>>10)
	}
	p := newPushes(t)
	var first cost
	for _, n := range costFollowers {
		limits := []int{costLimit}
		if n > costLimit {
			limits = append(limits, 2*n) // an author comes back to those pushed at four fifths of it
		}
		for _, limit := range limits {
			posting, pushing := p.cost(n, limit, 5)
			show(fmt.Sprintf("post of who has %d followers", n), posting)
			show(fmt.Sprintf("its push, KITH_PUSH_LIMIT %d", limit), pushing)
			if n == costFollowers[0] {
				first = posting
			}
			p.check(n, limit, first, posting, pushing)
		}
	}
	for _, c := range []struct{ authors, each int }{{10, 400}, {1000, 50}, {10_000, 5}} {
		homes(t, c.authors, c.each, show)
	}
	tab.Flush()
	t.Logf("\n%s", out.String())
}

// homes measures first pages of a reader.
func homes(t *testing.T, authors, each int, show func(what string, c cost)) {
	x := newTiers(t, authors, each)
	m := meter{t, x.metrics}
	for _, tier := range []struct {
		name string
		lose func()
		*home.Service
	}{
		{"hot", func() {}, x.Service},
		{"cold, feeds cached", func() { x.lines.Drop(t.Context(), x.reader) }, x.service(nil, x.lines)},
		{"cold, memcached empty", x.lose, x.service(nil, x.lines)},
		{"memcached empty, with a row", x.lose, x.Service},
	} {
		x.page(x.Service, 0)
		if _, err := x.Checkpoint(t.Context(), x.reader, false); err != nil {
			t.Fatal(err)
		}
		c := m.of(11, tier.lose, func() { x.page(tier.Service, 0) })
		show(fmt.Sprintf("home of who follows %d, %s", authors, tier.name), c)
		trips, calls, made := 20+authors/100, 20+authors/50, 1+authors/100
		if tier.name == "hot" {
			trips, calls, made = 6, 0, 1
		}
		if c.trips > trips || c.calls > calls || c.made > int64(made)<<20 {
			t.Errorf("home of who follows %d, %s: %+v, want %d trips, %d calls and %d MiB at most", authors, tier.name, c, trips, calls, made)
		}
	}
}

// check: a post has the same rows for all, a push asks for a few hundred followers at a time,
// and needs no more memory than the first.
func (p *pushes) check(followers, limit int, first, posting, pushing cost) {
	p.t.Helper()
	if posting.rows != first.rows || posting.trips > 2*first.trips || posting.calls > 2*first.calls {
		p.t.Errorf("a post to %d followers: %+v, to the fewest: %+v", followers, posting, first)
	}
	trips, calls := 20, 20
	if followers <= limit {
		trips, calls = trips+followers/100, calls+followers/10_000
	}
	if pushing.trips > trips || pushing.calls > calls || pushing.peak > 16<<20 {
		p.t.Errorf("push to %d followers, limit %d: %+v, want %d trips, %d calls and 16 MiB at most", followers, limit, pushing, trips, calls)
	}
}

// cost is what something took: the median time of some runs, and what one of them needed.
type cost struct {
	time         time.Duration
	trips, calls int   // to memcached and to the database
	rows         int   // added
	made, peak   int64 // bytes allocated, and how many of them were in use at most
}

// meter counts what happens meanwhile.
type meter struct {
	t *testing.T
	*prometheus.Registry
}

// count is the sum of a metric: of a histogram, how many there were.
func (m meter) count(name string) (n int) {
	m.t.Helper()
	all, err := m.Gather()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, f := range all {
		for _, one := range f.Metric {
			if f.GetName() == name {
				n += int(one.GetCounter().GetValue()) + int(one.GetHistogram().GetSampleCount())
			}
		}
	}
	return n
}

// of runs do some times, each after before, and returns what it took.
func (m meter) of(times int, before, do func()) (c cost) {
	m.t.Helper()
	var took []time.Duration
	for range times {
		before()
		begin := time.Now()
		do()
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	c.time = took[len(took)/2]
	before()
	trips, calls := m.count("kith_cache_trips_total"), m.count("kith_mysql_call_seconds")
	c.made, c.peak = memory(do)
	c.trips, c.calls = m.count("kith_cache_trips_total")-trips, m.count("kith_mysql_call_seconds")-calls
	return c
}

// memory says how many bytes do allocates, and how many more are in use at most.
func memory(do func()) (made, peak int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	inUse := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	var before, after runtime.MemStats
	base, done, most := inUse(), make(chan struct{}), make(chan int64)
	go func() {
		peak, tick := base, time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, inUse())
			select {
			case <-done:
				most <- peak - base
				return
			case <-tick.C:
			}
		}
	}()
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	close(done)
	return int64(after.TotalAlloc - before.TotalAlloc), <-most
}

// kept holds the tasks back that push, so that the test carries them out itself.
type kept struct {
	*apptask.Runner
	tasks []task.Task
}

func (k *kept) Go(t task.Task) {
	if t.Kind == task.Push {
		k.tasks = append(k.tasks, t)
		return
	}
	k.Runner.Go(t)
}

// pushes is authors with many followers, of whom every tenth is around.
type pushes struct {
	*world
	meter meter
	kept  *kept
}

func newPushes(t *testing.T) *pushes {
	t.Helper()
	p := &pushes{meter: meter{t, prometheus.NewRegistry()}}
	servers, err := memcache.New(memcache.Config{Servers: []string{memcachetest.Start(t, "-m", "1024").Addr}, Timeout: 5 * time.Second, Registerer: p.meter})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cache.NewMemcached(cache.Config{Client: servers})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := timeline.NewMemcached(timeline.Config{Client: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); servers.Close() })
	p.world = newWorld(t, config{cache: c, lines: lines, metrics: p.meter.Registry, every: time.Hour, tasks: func(r *apptask.Runner) post.Runner {
		p.kept = &kept{Runner: r}
		return p.kept
	}})
	sum, err := graph.Import(t.Context(), graph.ImportConfig{Config: intake.Config{Reader: p.file(), TempDir: t.TempDir()}, Accounts: p.Accounts,
		Rows: relation.New(p.pool, c, costCap, p.Now), Relations: p.World.World.Service, Now: p.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d follows made in %v", sum.EdgesNew, sum.Duration.Round(time.Second))
	line := timeline.Line{}
	for i := range 100 {
		line.Events = append(line.Events, event.Event{ID: event.First(p.Now().Add(-time.Duration(i)*time.Minute)) | 1<<10 | 5, Author: 5})
	}
	begin := time.Now()
	for i := 0; i < costFollowers[len(costFollowers)-1]; i += 10 {
		reader := uint64(costFirst + i)
		if _, err := p.lines.Store(t.Context(), p.lines.Begin(t.Context(), reader), line); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("every tenth has a hot line of 100 events: %v", time.Since(begin).Round(time.Second))
	return p
}

// file is the graph: the first followers follow all authors.
func (p *pushes) file() io.Reader {
	r, w := io.Pipe()
	p.t.Cleanup(func() { r.Close() })
	go func() {
		b := bufio.NewWriter(w)
		for i := range slices.Max(costFollowers) {
			for _, n := range costFollowers {
				if i < n {
					fmt.Fprintf(b, "%d %d %d\n", costFirst+i, costAuthors+n, 1_000_000_000+i)
				}
			}
		}
		w.CloseWithError(b.Flush())
	}()
	return r
}

// post has an author post and returns the task that pushes it.
func (p *pushes) post(author uint64) task.Task {
	p.t.Helper()
	p.Write(p.t, author, post.Draft{Content: posts.Content{Text: "hello, this is a post"}})
	all := p.kept.tasks
	p.kept.tasks = nil
	if len(all) != 1 {
		p.t.Fatalf("a post has %d tasks", len(all))
	}
	return all[0]
}

// rows counts the rows of all tables.
func (p *pushes) rows() (n int) {
	p.t.Helper()
	var tables []string
	if err := p.pool.Select(&tables, `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`); err != nil {
		p.t.Fatal(err)
	}
	for _, table := range tables {
		var of int
		if err := p.pool.Get(&of, "SELECT COUNT(*) FROM `"+table+"`"); err != nil {
			p.t.Fatal(err)
		}
		n += of
	}
	return n
}

// cost is what a post costs its author, then what its push costs.
func (p *pushes) cost(followers, limit, times int) (posting, pushing cost) {
	p.t.Helper()
	author := uint64(costAuthors + followers)
	edits := committer.New(p.Feeds, committer.Config{})
	defer edits.Close(context.Background())
	pusher := home.NewPusher(home.PushConfig{Followers: p.Rows, Authors: p.Feeds, Edits: edits, Posts: p.Stored, Lines: p.lines, Limit: limit, Now: p.Now})
	var one task.Task
	push := func() {
		if err := pusher.Push(p.t.Context(), one); err != nil {
			p.t.Fatal(err)
		}
	}
	done := func() {
		if err := p.Tasks.Done(p.t.Context(), []task.Task{one}); err != nil {
			p.t.Fatal(err)
		}
	}
	one = p.post(author)
	push() // an author over the limit is noted as such
	done()
	p.Clock.Add(3600)
	posting = p.meter.of(times, func() {}, func() { one = p.post(author); done() })
	before := p.rows()
	one = p.post(author)
	pushing = p.meter.of(times, func() {}, push)
	done()
	posting.rows = p.rows() - before
	return posting, pushing
}
