package memcache

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

// write stores a value under all keys and returns the first error.
func write(c *Client, keys []string, value string) (first error) {
	all := make([]Command, len(keys))
	for i, key := range keys {
		all[i] = Command{Verb: Set, Key: key, Value: []byte(value)}
	}
	c.Write(all)
	for _, cmd := range all {
		if cmd.Err != nil {
			return cmd.Err
		}
	}
	return nil
}

func count(c *Client, keys []string) (held, away int) {
	out := make([]Item, len(keys))
	c.Get(context.Background(), keys, out)
	for _, item := range out {
		if item.Value != nil {
			held++
		}
		if item.Away {
			away++
		}
	}
	return held, away
}

func awaitUp(t *testing.T, c *Client) {
	t.Helper()
	waittest.Until(t, patience, "the server is back", func() bool { return c.Ping(t.Context()) == nil })
}

// series is the series of a metric, with its value.
func wantSeries(t *testing.T, r *prometheus.Registry, name, line, kind string) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			text := "# HELP " + name + " " + f.GetHelp() + "\n# TYPE " + name + " " + kind + "\n" + line + "\n"
			if err := testutil.GatherAndCompare(r, strings.NewReader(text), name); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Errorf("no metric %s", name)
}

// TestClient_Dirty writes while a server that holds older values cannot be reached.
// From then on nobody may read the older ones, and in particular not as it comes back.
func TestClient_Dirty(t *testing.T) {
	t.Parallel()
	t.Run("Paused", func(t *testing.T) {
		t.Parallel()
		server := memcachetest.Start(t)
		testDirty(t, server.Addr, server.Pause, server.Resume)
	})
	t.Run("Cut", func(t *testing.T) {
		t.Parallel()
		link := openLink(t, memcachetest.Addr(t))
		testDirty(t, link.addr, link.cut, link.heal)
	})
}

func testDirty(t *testing.T, addr string, away, back func()) {
	r := prometheus.NewRegistry()
	c := open(t, Config{Servers: []string{addr}, Timeout: time.Second, Registerer: r})
	keys := freshKeys(300)
	if err := write(c, keys, "old"); err != nil {
		t.Fatal(err)
	}
	if held, _ := count(c, keys); held != len(keys) {
		t.Fatalf("before the outage: got %d of %d", held, len(keys))
	}
	away()
	if err := write(c, keys[:200], "new"); err == nil {
		t.Error("Write to a server that is away: got no error")
	}
	deleted := make([]Command, 100)
	for i := range deleted {
		deleted[i] = Command{Verb: Delete, Key: keys[200+i]}
	}
	c.Write(deleted)
	if err := do(t, c, Command{Verb: Set, Key: fresh("not-sure")}).Err; !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("Do: got %v, want unavailable", err)
	}
	wantSeries(t, r, "kith_cache_dirty_keys", "kith_cache_dirty_keys 300", "gauge")
	wantSeries(t, r, "kith_cache_server_up", `kith_cache_server_up{server="`+addr+`"} 0`, "gauge")

	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if held, _ := count(c, keys); held > 0 {
					t.Errorf("got %d old values", held)
					return
				}
			}
		})
	}
	back()
	awaitUp(t, c)
	wantSeries(t, r, "kith_cache_dirty_keys", "kith_cache_dirty_keys 0", "gauge")
	wantSeries(t, r, "kith_cache_server_up", `kith_cache_server_up{server="`+addr+`"} 1`, "gauge")
	close(stop)
	readers.Wait()
	if err := write(c, keys, "newer"); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

// TestClient_LostInRepair loses the server once more while the dirty keys are
// deleted: those that were not must still be, before they are read.
func TestClient_LostInRepair(t *testing.T) {
	t.Parallel()
	link := openLink(t, memcachetest.Addr(t))
	c := open(t, Config{Servers: []string{link.addr}})
	keys := freshKeys(400)
	write(c, keys, "old")
	link.cut()
	write(c, keys, "new")
	link.noDelete.Store(true)
	link.heal()
	for c.Ping(t.Context()) != nil {
		if held, _ := count(c, keys); held != 0 {
			t.Fatalf("got %d values before the server was back", held)
		}
	}
	if link.noDelete.Load() {
		t.Error("nothing was deleted")
	}
	if held, away := count(c, keys); held != 0 || away != 0 {
		t.Errorf("got %d values that were written anew (%d away)", held, away)
	}
}

// TestClient_LateCommand has a server that, as it comes back, carries out a command of
// before: what it stored is deleted once more.
func TestClient_LateCommand(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	c := open(t, Config{Servers: []string{server.Addr}, Timeout: 100 * time.Millisecond})
	keys := freshKeys(50)
	server.Pause()
	late := make([]Command, len(keys))
	for i, key := range keys {
		late[i] = Command{Verb: Add, Key: key, Value: []byte("old")}
	}
	c.Do(t.Context(), late)
	write(c, keys, "new")
	server.Resume()
	again := func() int {
		s := c.servers[0]
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.again)
	}
	waittest.Until(t, patience, "the keys are deleted", func() bool { return again() == len(keys) })
	waittest.Until(t, patience, "the keys are deleted again", func() bool { return again() == 0 })
	waittest.Until(t, patience, "no old value is left", func() bool { held, away := count(c, keys); return held+away == 0 })
}

// lines counts log lines by level.
type lines struct{ warn, fault atomic.Int64 }

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	switch r.Level {
	case slog.LevelWarn:
		l.warn.Add(1)
	case slog.LevelError:
		l.fault.Add(1)
	}
	return nil
}

func TestClient_TooManyDirty(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	var log lines
	r := prometheus.NewRegistry()
	c := open(t, Config{Servers: []string{server.Addr}, Log: slog.New(&log), Registerer: r})
	c.servers[0].mu.Lock()
	c.servers[0].limit = 10
	c.servers[0].mu.Unlock()
	server.Stop()
	write(c, freshKeys(30), "new")
	wantSeries(t, r, "kith_cache_dirty_keys", "kith_cache_dirty_keys 10", "gauge")
	wantSeries(t, r, "kith_cache_forgotten_keys_total", "kith_cache_forgotten_keys_total 20", "counter")
	if n := log.fault.Load(); n != 1 {
		t.Errorf("said %d times that keys were forgotten, want once", n)
	}
}

// TestClient_Restart has all connections break at once: this is one outage, not one for
// each of them.
func TestClient_Restart(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	var log lines
	c := open(t, Config{Servers: []string{server.Addr}, Log: slog.New(&log)})
	keys := freshKeys(500)
	var writers sync.WaitGroup
	for i := range 5 {
		writers.Go(func() { write(c, keys[i*100:i*100+100], "old") })
	}
	writers.Wait()
	server.Restart()
	if held, _ := count(c, keys); held != 0 {
		t.Errorf("after the restart: got %d values", held)
	}
	if write(c, keys, "lost") == nil {
		t.Error("all was written, over connections that are broken")
	}
	awaitUp(t, c)
	if err := write(c, keys, "new"); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	if n := log.warn.Load(); n != 1 {
		t.Errorf("the server went away %d times, want once", n)
	}
}

// TestClient_CASOfOldServer has a server start again, which counts anew: what a CAS
// stood for before must not be replaced.
func TestClient_CASOfOldServer(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	key := fresh("cas")
	write(open(t, Config{Servers: []string{server.Addr}}), []string{key}, "old")
	slow := open(t, Config{Servers: []string{server.Addr}})
	old := one(t, slow, key).CAS
	if old == (CAS{}) {
		t.Fatal("no CAS came with the item")
	}
	server.Restart()
	other := open(t, Config{Servers: []string{server.Addr}})
	write(other, []string{key}, "new") // gets the id that old has
	slow.Write([]Command{{Verb: CompareAndSwap, Key: key, Value: []byte("wrong"), CAS: old}})
	if got := one(t, other, key); got.Value != nil && string(got.Value) != "new" {
		t.Errorf("%q replaced the new value by a CAS of the server before", got.Value)
	}
}

// TestClient_ContextEnds checks that a caller who cannot wait need not.
func TestClient_ContextEnds(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	c := open(t, Config{Servers: []string{server.Addr}})
	keys := freshKeys(10)
	write(c, keys, "old")
	server.Pause()
	defer server.Resume()
	for name, call := range map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error {
			out := make([]Item, len(keys))
			if c.Get(ctx, keys, out); !out[3].Away {
				return nil
			}
			return ctx.Err()
		},
		"Do": func(ctx context.Context) error {
			all := []Command{{Verb: Set, Key: keys[0]}}
			c.Do(ctx, all)
			return all[0].Err
		},
		"Ping": c.Ping,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		begin := time.Now()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want that time is up", name, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v, want about 10 ms", name, took)
		}
		cancel()
	}
}

// TestClient_Single_Paused sends single commands to a server that hangs: the first waits one time-out
// and closes it, the next do not wait, and when it is back they work.
func TestClient_Single_Paused(t *testing.T) {
	t.Parallel()
	server := memcachetest.Start(t)
	c := open(t, Config{Servers: []string{server.Addr}, Timeout: time.Second})
	key := fresh("paused")
	if err := write(c, []string{key}, "1"); err != nil {
		t.Fatal(err)
	}
	incr := func() (uint64, error) { return c.Incr(t.Context(), key, 1) }
	if n, err := incr(); n != 2 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	server.Pause()
	if _, err := incr(); err == nil {
		t.Fatal("a server that hangs has counted")
	}
	for range 100 {
		if err := c.Touch(t.Context(), key, time.Hour); !errors.Is(err, ErrAway) {
			t.Fatalf("got %v, want that the server is away", err)
		}
	}
	server.Resume()
	awaitUp(t, c)
	if n, err := incr(); n < 3 || err != nil { // the first may be counted late
		t.Errorf("got %d, %v", n, err)
	}
}

// TestClient_Single_Hangs has many single commands under way as the server hangs: those that wait for
// their turn are not sent any more.
func TestClient_Single_Hangs(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	c := open(t, Config{Timeout: time.Second, Servers: []string{serve(t, func(line string) string {
		if strings.HasPrefix(line, "touch") {
			sent.Add(1)
		}
		return ""
	})}})
	var callers sync.WaitGroup
	for range 10 * singleConns {
		callers.Go(func() {
			if err := c.Touch(t.Context(), "k", time.Hour); err == nil {
				t.Error("a server that hangs has touched")
			}
		})
	}
	callers.Wait()
	if n := sent.Load(); n > singleConns {
		t.Errorf("%d commands were sent, want at most %d", n, singleConns)
	}
}

// TestClient_DeleteRefused has a server, such as a proxy, refuse deletes: what it holds may
// be outdated, so nobody reads it until it has deleted.
func TestClient_DeleteRefused(t *testing.T) {
	t.Parallel()
	var refuses atomic.Bool
	refuses.Store(true)
	c := open(t, Config{Servers: []string{serve(t, func(line string) string {
		switch verb, _, _ := strings.Cut(line, " "); {
		case verb == "delete" && refuses.Load():
			return "SERVER_ERROR no backend\r\n"
		case verb == "delete":
			return "DELETED\r\n"
		case verb == "version":
			return "VERSION 1\r\n"
		default:
			return "VALUE k 0 3 1\r\nold\r\nEND\r\n"
		}
	})}})
	want(t, c, "k", "old")
	all := []Command{{Verb: Delete, Key: "k"}}
	if c.Write(all); all[0].Err == nil {
		t.Error("Write: got no error of a delete that was refused")
	}
	if got := one(t, c, "k"); !got.Away {
		t.Errorf("got %q of a key that could not be deleted", got.Value)
	}
	refuses.Store(false)
	awaitUp(t, c)
}
