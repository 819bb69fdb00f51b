package timeline

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	witness "github.com/bradfitz/gomemcache/memcache"

	"kith/repo"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

// fastClient finds out soon that a server hangs.
func fastClient(t *testing.T, addr string) *memcache.Client {
	t.Helper()
	client, err := memcache.New(memcache.Config{Servers: []string{addr}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// TestMemcached_Hung has the server hang at each trip of a Push, and then go on, with what
// it was sent meanwhile. No process reads a line then that lacks the event.
func TestMemcached_Hung(t *testing.T) {
	for name, trip := range map[string]int{"Presence": 1, "Append": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := memcachetest.Start(t)
			mine, other := fastClient(t, server.Addr), fastClient(t, server.Addr)
			a, reader := newAccount(), openMemcached(t, other, Config{})
			begun(t, reader, a, posts(1))
			trips := 0
			lines := openMemcached(t, inTurn{mine, func() {
				if trips++; trips == trip {
					server.Pause()
				}
			}}, Config{})
			err := lines.Push(t.Context(), posts(2), []uint64{a})
			if !errors.Is(err, repo.ErrUnavailable) {
				t.Fatalf("got %v, want that it is unavailable", err)
			}
			wantNone(t, lines, a) // and it does not wait
			server.Resume()
			// As the worker of a task does.
			waittest.Until(t, patience, "push again", func() bool { return lines.Push(t.Context(), posts(2), []uint64{a}) == nil })
			for _, client := range []*memcache.Client{mine, other} {
				waittest.Until(t, patience, "the server is back", func() bool { return client.Ping(t.Context()) == nil })
				if l, _, ok := openMemcached(t, client, Config{}).Load(t.Context(), a); ok && !slices.Equal(l.Events, posts(2, 1)) {
					t.Errorf("got %v, want no line or both events", l.Events)
				}
			}
			waittest.Until(t, patience, "all is as before", func() bool { // dirty keys are deleted twice
				if ok, _ := reader.Store(t.Context(), reader.Begin(t.Context(), a), filled(posts(2, 1))); !ok {
					return false
				}
				pushed := lines.Push(t.Context(), posts(3), []uint64{a}) == nil
				l, _, ok := reader.Load(t.Context(), a)
				if ok && pushed && !slices.Equal(l.Events, posts(3, 2, 1)) {
					t.Fatalf("got %v, want three events", l.Events)
				}
				return ok && pushed
			})
		})
	}
}

// An append without an answer leaves no line behind, though nobody pushes again.
func TestMemcached_HungAppend(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	client, a, trips := fastClient(t, server.Addr), newAccount(), 0
	begun(t, openMemcached(t, client, Config{}), a, posts(1))
	lines := openMemcached(t, inTurn{client, func() {
		if trips++; trips == 2 {
			server.Pause()
		}
	}}, Config{})
	if err := lines.Push(t.Context(), posts(2), []uint64{a}); !errors.Is(err, repo.ErrUnavailable) {
		t.Fatalf("got %v, want that it is unavailable", err)
	}
	server.Resume()
	waittest.Until(t, patience, "the server is back", func() bool { return client.Ping(t.Context()) == nil })
	wantNone(t, lines, a)
}

// TestMemcached_Lost loses all that is held, in each way, while a reader builds.
func TestMemcached_Lost(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	raw := witness.New(server.Addr)
	defer raw.Close()
	for name, lose := range map[string]func(){
		"Flushed":   func() { raw.FlushAll() },
		"Restarted": server.Restart,
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, server.Addr)
			lines, a := openMemcached(t, client, Config{}), newAccount()
			begun(t, lines, a, posts(1))
			_, loaded, _ := lines.Load(t.Context(), a)
			building := lines.Begin(t.Context(), a+1)
			lose()
			waittest.Until(t, patience, "the server answers", func() bool { return lines.Push(t.Context(), posts(2), []uint64{a}) == nil })
			wantNone(t, lines, a)
			waittest.Until(t, patience, "the server is back", func() bool { return client.Ping(t.Context()) == nil })
			for _, token := range []Token{loaded, building} {
				if ok, err := lines.Store(t.Context(), token, filled(posts(1))); ok || err != nil {
					t.Errorf("got %v, %v, want that it is not stored", ok, err)
				}
			}
			wantNone(t, lines, a)
			l := begun(t, lines, a, posts(2, 1))
			want(t, lines, a, l, posts(2, 1), 0)
		})
	}
}

// TestMemcached_Away does not wait for a server that is known to be away.
func TestMemcached_Away(t *testing.T) {
	t.Parallel()
	server, r := memcachetest.Start(t), prometheus.NewRegistry()
	client, a := fastClient(t, server.Addr), newAccount()
	lines := openMemcached(t, client, Config{Metrics: NewMetrics(r)})
	begun(t, lines, a, posts(1))
	_, token, _ := lines.Load(t.Context(), a)
	server.Stop()
	waittest.Until(t, patience, "the server is away", func() bool { return client.Ping(t.Context()) != nil })
	wantNone(t, lines, a)
	for _, token := range []Token{token, lines.Begin(t.Context(), a)} {
		if ok, err := lines.Store(t.Context(), token, filled(posts(1))); ok || err != nil {
			t.Errorf("store: got %v, %v, want that it is not stored", ok, err)
		}
	}
	if err := lines.Push(t.Context(), posts(2), []uint64{a, a + 1}); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("push: got %v, want that it is unavailable", err)
	}
	lines.Drop(t.Context(), a)
	err := testutil.GatherAndCompare(r, strings.NewReader(`
# HELP kith_timeline_loads_total Hot timelines asked for, by result: hit, miss, away where memcached is away, bad where the bytes cannot be read.
# TYPE kith_timeline_loads_total counter
kith_timeline_loads_total{result="away"} 2
kith_timeline_loads_total{result="bad"} 0
kith_timeline_loads_total{result="hit"} 1
kith_timeline_loads_total{result="miss"} 0
`), "kith_timeline_loads_total")
	if err != nil {
		t.Error(err)
	}
}

// TestMemcached_Foreign finds what others put under the keys, or parts of it, and gives no
// line.
func TestMemcached_Foreign(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	raw := witness.New(server.Addr)
	defer raw.Close()
	lines := openMemcached(t, newClient(t, server.Addr), Config{})
	for _, of := range []string{"", companion} {
		for _, n := range []int{0, 1, 7, 8, 9, 10, 14} {
			a := newAccount()
			begun(t, lines, a, posts(1))
			item, err := raw.Get(lines.key(a) + of)
			if err != nil {
				t.Fatal(err)
			}
			item.Value = append(item.Value[:min(n, len(item.Value)-1)], "foreign"[:n%2]...)
			if err := raw.Set(item); err != nil {
				t.Fatal(err)
			}
			wantNone(t, lines, a)
			push(t, lines, a, post(2))
			wantNone(t, lines, a)
			l := begun(t, lines, a, posts(3))
			want(t, lines, a, l, posts(3), 0)
		}
	}
}

// lives asks the server how long an item lives on.
func lives(t *testing.T, server *memcachetest.Server, key string) time.Duration {
	t.Helper()
	conn, err := net.Dial("unix", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var seconds int
	if _, err := fmt.Fprintf(conn, "mg %s t\r\n", key); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanf(conn, "HD t%d", &seconds); err != nil {
		t.Fatalf("how long %s lives: %v", key, err)
	}
	return time.Duration(seconds) * time.Second
}

// TestMemcached_Renew: a line that is read lives on, after a quarter of its time or where
// clocks differ; what is only looked at or pushed to does not.
func TestMemcached_Renew(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	client, a, now := newClient(t, server.Addr), newAccount(), time.Now()
	at := func(clock, expiry time.Duration) *Memcached {
		return openMemcached(t, client, Config{Expiry: expiry, Now: func() time.Time { return now.Add(clock) }})
	}
	const short, long = 10 * time.Minute, 10 * time.Hour
	first := at(0, short)
	key := first.key(a)
	wantLife := func(what string, least, most time.Duration) {
		t.Helper()
		line, presence := lives(t, server, key), lives(t, server, key+companion)
		if line < least || line > most || presence <= line || presence > most*3/2 {
			t.Errorf("%s: the line lives for %v, its presence for %v, want %v to %v, and the presence longer", what, line, presence, least, most)
		}
	}
	l := begun(t, first, a, posts(1))
	wantLife("begun", short/2, short)
	want(t, at(short/4-time.Second, long), a, l, posts(1), 0)
	wantLife("read too early", short/2, short)
	at(long, long).Peek(t.Context(), a)
	push(t, at(long, long), a, post(1))
	wantLife("looked at and pushed to", short/2, short)
	want(t, at(long, long), a, l, posts(1), 1)
	wantLife("read", long/2, long)
	want(t, at(-long, 2*long), a, l, posts(1), 1)
	wantLife("read by a clock that is behind", long, 2*long)
	// A presence that another Begin has put since is not replaced.
	var held [2]memcache.Item
	client.Get(t.Context(), []string{key, key + companion}, held[:])
	token := first.Begin(t.Context(), a)
	at(long, long).renew(t.Context(), key, 7, held[1])
	if ok, err := first.Store(t.Context(), token, l); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	want(t, first, a, l, posts(1), 0)
}

// TestMemcached_TwoDatabases has two databases share a server, and one get a new identity.
func TestMemcached_TwoDatabases(t *testing.T) {
	t.Parallel()
	client, a := newClient(t, memcachetest.Addr(t)), newAccount()
	prefix := "1:"
	one := openMemcached(t, client, Config{Prefix: func() string { return prefix }})
	two := openMemcached(t, client, Config{Prefix: func() string { return "2:" }})
	l := begun(t, one, a, posts(1))
	wantNone(t, two, a)
	push(t, two, a, post(2))
	want(t, one, a, l, posts(1), 0)
	building := one.Begin(t.Context(), a)
	prefix = "3:"
	if _, err := one.Store(t.Context(), building, l); err != nil {
		t.Fatal(err)
	}
	wantNone(t, one, a)
	push(t, one, a, post(2))
	wantNone(t, one, a)
}
