package cache_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

func awaitUp(t *testing.T, c cache.Cache) {
	t.Helper()
	waittest.Until(t, patience, "the server is back", func() bool { return c.Ping(t.Context()) == nil })
}

func awaitAway(t *testing.T, c cache.Cache) {
	t.Helper()
	waittest.Until(t, patience, "the server is away", func() bool { return c.Ping(t.Context()) != nil })
}

// request is what one request of a client may do to the cache: reads, two
// commits at once, fills.
func request(c cache.Cache, keys []string, ver uint64) {
	ctx := context.Background()
	getAll(ctx, c, keys)
	var puts sync.WaitGroup
	for _, part := range [][]string{keys[:len(keys)/2], keys[len(keys)/2:]} {
		puts.Go(func() { c.Put(ctx, at(part, ver)) })
	}
	puts.Wait()
	c.Fill(ctx, at(keys, ver))
	c.Drop(ctx, keys[:3])
	getAll(ctx, c, keys)
}

// TestMemcached_Outage has a server go away and come back under load. No
// request pays two time-outs, and those that begin while the server is known
// to be away pay none.
func TestMemcached_Outage(t *testing.T) {
	t.Parallel()
	outages := []struct {
		name       string
		away, back func(*memcachetest.Server)
	}{
		{"Paused", (*memcachetest.Server).Pause, (*memcachetest.Server).Resume},
		{"Killed", (*memcachetest.Server).Stop, (*memcachetest.Server).Restart},
	}
	for _, outage := range outages {
		t.Run(outage.name, func(t *testing.T) {
			const timeout = 2 * time.Second // long enough to tell a wait for it from a busy machine
			server := memcachetest.Start(t)
			c := openMemcached(t, config{Servers: []string{server.Addr}, Timeout: timeout})
			load := startLoad(c)
			defer load.halt()
			load.awaitRound(t)
			outage.away(server)
			load.awaitRound(t)
			if slowest := load.slowest(); slowest >= 2*timeout {
				t.Errorf("the slowest request as the server went took %v, want one time-out of %v", slowest, timeout)
			}
			awaitAway(t, c)
			load.awaitRound(t) // those that began before
			load.slowest()
			load.awaitRound(t)
			if slowest := load.slowest(); slowest >= timeout/2 {
				t.Errorf("the slowest request while the server was away took %v", slowest)
			}
			outage.back(server)
			awaitUp(t, c)
			load.awaitRound(t)
			if slowest := load.slowest(); slowest >= 2*timeout {
				t.Errorf("the slowest request as the server came took %v", slowest)
			}
			entries, keys := rows(100, 1)
			c.Put(t.Context(), entries)
			if got := getAll(t.Context(), c, keys); len(got) != len(keys) {
				t.Errorf("after the outage: got %d of %d rows", len(got), len(keys))
			}
		})
	}
}

// load is clients that make one request after the other.
type load struct {
	stop    chan struct{}
	clients sync.WaitGroup

	mu    sync.Mutex
	cond  *sync.Cond
	made  []int // requests, by client
	worst time.Duration
}

func startLoad(c cache.Cache) *load {
	l := &load{stop: make(chan struct{}), made: make([]int, 8)}
	l.cond = sync.NewCond(&l.mu)
	for client := range l.made {
		_, keys := rows(100, 1)
		l.clients.Go(func() {
			for ver := uint64(1); ; ver++ {
				select {
				case <-l.stop:
					return
				default:
				}
				begin := time.Now()
				request(c, keys, ver)
				l.note(client, time.Since(begin))
			}
		})
	}
	return l
}

func (l *load) note(client int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made[client]++
	l.worst = max(l.worst, took)
	l.cond.Broadcast()
}

// awaitRound waits until every client has ended two more requests: one that
// may have been under way, and one that was begun since.
func (l *load) awaitRound(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	late := false
	defer time.AfterFunc(3*patience, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.cond.Broadcast()
	}).Stop()
	begin := append([]int(nil), l.made...)
	for client := range begin {
		for l.made[client] < begin[client]+2 {
			if l.cond.Wait(); late {
				t.Fatalf("a request is not answered in %v", 3*patience)
			}
		}
	}
}

// slowest returns the longest request since it was last asked.
func (l *load) slowest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	worst := l.worst
	l.worst = 0
	return worst
}

func (l *load) halt() {
	close(l.stop)
	l.clients.Wait()
}

// TestMemcached_Dirty commits rows while a server that holds older ones does not
// answer. From then on nobody may read the older ones, and in particular not as the
// server comes back.
func TestMemcached_Dirty(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	addr := server.Addr
	r := prometheus.NewRegistry()
	c := openMemcached(t, config{Servers: []string{addr}, Timeout: time.Second, Registerer: r})
	_, keys := rows(300, 1)
	c.Put(t.Context(), at(keys, 1))
	if got := getAll(t.Context(), c, keys); len(got) != len(keys) {
		t.Fatalf("before the outage: got %d of %d rows", len(got), len(keys))
	}

	server.Pause()
	c.Put(t.Context(), at(keys[:200], 2))
	c.Drop(t.Context(), keys[200:])
	wantGauge(t, r, "kith_cache_dirty_keys", "300")
	wantUp(t, r, addr, "0")

	stop := make(chan struct{})
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			for i := reader; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				some := keys[i%30*10 : i%30*10+10]
				for key, e := range getAll(context.Background(), c, some) {
					t.Errorf("got %s at %d", key, e.Ver)
				}
			}
		})
	}
	server.Resume()
	awaitUp(t, c)
	wantGauge(t, r, "kith_cache_dirty_keys", "0")
	wantUp(t, r, addr, "1")
	close(stop)
	readers.Wait()

	// What was dirty is deleted once more a second later, so that it may take a second Put.
	waittest.Until(t, patience, "rows are held again", func() bool {
		c.Put(t.Context(), at(keys, 3))
		return len(getAll(t.Context(), c, keys)) == len(keys)
	})
}

func TestMemcached_CloseWhileAway(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	c := openMemcached(t, config{Servers: []string{server.Addr}, Timeout: 100 * time.Millisecond})
	entries, _ := rows(100, 1)
	server.Pause()
	c.Put(t.Context(), entries)
	begin := time.Now()
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("Ping after Close: got %v, want unavailable", err)
	}
}

func wantGauge(t *testing.T, r *prometheus.Registry, name, value string) {
	t.Helper()
	wantMetric(t, r, name, name+" "+value, "gauge")
}

func wantUp(t *testing.T, r *prometheus.Registry, server, value string) {
	t.Helper()
	const name = "kith_cache_server_up"
	wantMetric(t, r, name, name+`{server="`+server+`"} `+value, "gauge")
}

func wantMetric(t *testing.T, r *prometheus.Registry, name, line, kind string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatalf("gather metrics: %v", err)
	}
	for _, f := range families {
		if f.GetName() == name {
			want := "# HELP " + name + " " + f.GetHelp() + "\n# TYPE " + name + " " + kind + "\n" + line + "\n"
			if err := testutil.GatherAndCompare(r, strings.NewReader(want), name); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("no metric %s", name)
}

func TestMemcached_AwayAtStart(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	server.Stop()
	c := openMemcached(t, config{Servers: []string{server.Addr}})
	entries, keys := rows(10, 1)
	c.Put(t.Context(), entries)
	if got := getAll(t.Context(), c, keys); len(got) != 0 {
		t.Errorf("with no server: got %d rows", len(got))
	}
	err := c.Ping(t.Context())
	if !errors.Is(err, repo.ErrUnavailable) || !strings.Contains(err.Error(), server.Addr) {
		t.Errorf("Ping: got %v, want unavailable and the server's name", err)
	}
	server.Restart()
	awaitUp(t, c)
	c.Fill(t.Context(), entries)
	if got := getAll(t.Context(), c, keys); len(got) != len(keys) {
		t.Errorf("with the server: got %d rows, want %d", len(got), len(keys))
	}
}

// TestMemcached_OneOfTwoAway checks that the keys of a server that is away do
// not move to the other.
func TestMemcached_OneOfTwoAway(t *testing.T) {
	t.Parallel()
	dying, living := memcachetest.Start(t), memcachetest.Start(t)
	both := openMemcached(t, config{Servers: []string{dying.Addr, living.Addr}})
	one := openMemcached(t, config{Servers: []string{living.Addr}})
	_, keys := rows(200, 1)
	both.Put(t.Context(), at(keys, 1))
	lives := getAll(t.Context(), one, keys)
	if len(lives) < 50 || len(lives) > 150 {
		t.Errorf("one server of two has %d of 200 keys", len(lives))
	}
	dying.Stop()
	both.Put(t.Context(), at(keys, 2))
	got := getAll(t.Context(), both, keys)
	if len(got) != len(lives) {
		t.Errorf("with one server away: got %d rows, want the %d of the other", len(got), len(lives))
	}
	for key, e := range got {
		if _, found := lives[key]; !found || e.Ver != 2 {
			t.Errorf("%s: got ver %d (was there before: %v), want 2", key, e.Ver, found)
		}
	}
	if err := both.Ping(t.Context()); err == nil || strings.Contains(err.Error(), living.Addr) {
		t.Errorf("Ping: got %v, want only the other server", err)
	}
	dying.Restart()
	awaitUp(t, both)
	both.Put(t.Context(), at(keys, 3))
	if got := getAll(t.Context(), both, keys); len(got) != len(keys) {
		t.Errorf("with both: got %d of %d rows", len(got), len(keys))
	}
}

// TestMemcached_ContextEnds checks that a reader that cannot wait need not.
func TestMemcached_ContextEnds(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	c := openMemcached(t, config{Servers: []string{server.Addr}})
	entries, keys := rows(10, 1)
	c.Put(t.Context(), entries)
	server.Pause()
	for name, call := range map[string]func(context.Context){
		"Get":  func(ctx context.Context) { getAll(ctx, c, keys) },
		"Fill": func(ctx context.Context) { c.Fill(ctx, entries) },
		"Ping": func(ctx context.Context) { c.Ping(ctx) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		begin := time.Now()
		call(ctx)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v, want about 10 ms", name, took)
		}
		cancel()
	}
	server.Resume()
}

// TestMemcached_TokenOfOldServer has a server start again, which counts its
// compare-and-swap ids anew: what they stood for before must not be replaced.
func TestMemcached_TokenOfOldServer(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	open := func() cache.Cache { return openMemcached(t, config{Servers: []string{server.Addr}}) }
	_, keys := rows(1, 1)
	open().Put(t.Context(), at(keys, 1))
	slow := open()
	old := getAll(t.Context(), slow, keys)[keys[0]]
	if old.Token == (cache.Token{}) {
		t.Fatal("no token came with the row")
	}
	server.Restart()
	other := open()
	other.Put(t.Context(), at(keys, 9)) // gets the id that the token stands for
	next := at(keys, 2)
	next[0].Token = old.Token
	slow.Put(t.Context(), next)
	if e, held := getAll(t.Context(), other, keys)[keys[0]]; held && e.Ver != 9 {
		t.Errorf("ver %d replaced ver 9 by a token of the server before", e.Ver)
	}
}
