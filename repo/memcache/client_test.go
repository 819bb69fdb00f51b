package memcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	witness "github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

// open opens a client that waits long for a server unless the test says otherwise: a
// machine busy with other tests must not look like an outage.
func open(t testing.TB, cfg Config) *Client {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func fresh(name string) string { return fmt.Sprintf("memcache:%s:%x", name, rand.Uint64()) }

func freshKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fresh("many")
	}
	return keys
}

func one(t *testing.T, c *Client, key string) Item {
	t.Helper()
	out := make([]Item, 1)
	c.Get(t.Context(), []string{key}, out)
	return out[0]
}

func do(t *testing.T, c *Client, cmd Command) Command {
	t.Helper()
	all := []Command{cmd}
	c.Do(t.Context(), all)
	return all[0]
}

func want(t *testing.T, c *Client, key, value string) {
	t.Helper()
	if got := one(t, c, key); string(got.Value) != value || got.Away {
		t.Errorf("%s: got %.60q (away: %v), want %.60q", key, got.Value, got.Away, value)
	}
}

func wantNone(t *testing.T, c *Client, key string) {
	t.Helper()
	if got := one(t, c, key); got.Value != nil || got.Away {
		t.Errorf("%s: got %.60q (away: %v), want nothing", key, got.Value, got.Away)
	}
}

// TestClient_Do runs each command where it can and where it cannot be carried out.
func TestClient_Do(t *testing.T) {
	t.Parallel()
	c := open(t, Config{Servers: []string{memcachetest.Addr(t)}})
	run := func(cmd Command, err error) Command {
		t.Helper()
		got := do(t, c, cmd)
		if !errors.Is(got.Err, err) {
			t.Errorf("%s: got %v, want %v", cmd.Verb, got.Err, err)
		}
		return got
	}
	b := func(s string) []byte { return []byte(s) }

	key := fresh("do")
	wantNone(t, c, key)
	for _, verb := range []Verb{Append, Delete} {
		run(Command{Verb: verb, Key: key, Value: b("x"), Expiry: time.Minute}, ErrMissing)
	}
	run(Command{Verb: CompareAndSwap, Key: key, Value: b("x"), CAS: CAS{1, 1 << 60}}, ErrMissing)
	wantNone(t, c, key)

	run(Command{Verb: Add, Key: key, Value: b("a\r\nEND\r\n")}, nil)
	run(Command{Verb: Add, Key: key, Value: b("b")}, ErrHeld)
	want(t, c, key, "a\r\nEND\r\n")
	run(Command{Verb: Append, Key: key, Value: b("bc")}, nil)
	want(t, c, key, "a\r\nEND\r\nbc")
	run(Command{Verb: Set, Key: key, Value: b("d")}, nil)
	want(t, c, key, "d")
	read := one(t, c, key).CAS
	run(Command{Verb: CompareAndSwap, Key: key, Value: b("e"), CAS: read}, nil)
	run(Command{Verb: CompareAndSwap, Key: key, Value: b("f"), CAS: read}, ErrHeld)
	want(t, c, key, "e")
	run(Command{Verb: Delete, Key: key}, nil)
	wantNone(t, c, key)

	run(Command{Verb: Set, Key: key, Value: b("")}, nil)
	want(t, c, key, "")

	if got := do(t, c, Command{Verb: Set, Key: key, Value: make([]byte, 2<<20)}).Err; got == nil || errors.Is(got, ErrAway) {
		t.Errorf("set 2 MiB: got %v, want a refusal", got)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

// TestClient_Incr counts from many callers at once, more than may be on their way.
func TestClient_Incr(t *testing.T) {
	t.Parallel()
	c := open(t, Config{Servers: []string{memcachetest.Addr(t)}})
	key := fresh("incr")
	incr := c.Incr
	if err := c.Touch(t.Context(), key, time.Minute); !errors.Is(err, ErrMissing) {
		t.Errorf("touch nothing: got %v", err)
	}
	if _, err := incr(t.Context(), key, 1); !errors.Is(err, ErrMissing) {
		t.Errorf("nothing is held: got %v", err)
	}
	do(t, c, Command{Verb: Set, Key: key, Value: []byte("40")})
	const callers = 40
	var counting sync.WaitGroup
	for range callers {
		counting.Go(func() {
			if n, err := incr(t.Context(), key, 2); err != nil || n < 42 || n > 40+2*callers {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
	counting.Wait()
	want(t, c, key, strconv.Itoa(40+2*callers))
	do(t, c, Command{Verb: Set, Key: key, Value: []byte("x")})
	if _, err := incr(t.Context(), key, 1); err == nil || errors.Is(err, ErrAway) {
		t.Errorf("increment what is no number: got %v, want a refusal", err)
	}
	if _, err := incr(t.Context(), "a space", 1); !errors.Is(err, errKey) {
		t.Errorf("got %v, want that there is no such key", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := incr(over, key, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the caller is gone", err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("after refusals: %v", err)
	}
}

// TestClient_Expiry: what is stored for a second goes, unless it is touched or for ever.
func TestClient_Expiry(t *testing.T) {
	t.Parallel()
	c := open(t, Config{Servers: []string{memcachetest.Addr(t)}})
	keys := freshKeys(4)
	c.Do(t.Context(), []Command{
		{Verb: Set, Key: keys[0], Value: []byte("a"), Expiry: time.Millisecond}, // rounded up to a second
		{Verb: Set, Key: keys[1], Value: []byte("a")},
		{Verb: Add, Key: keys[2], Value: []byte("a"), Expiry: time.Second},
		{Verb: Set, Key: keys[3], Value: []byte("a"), Expiry: time.Hour},
	})
	for key, expiry := range map[string]time.Duration{keys[2]: time.Hour, keys[3]: time.Second} {
		if err := c.Touch(t.Context(), key, expiry); err != nil {
			t.Fatal(err)
		}
	}
	want(t, c, keys[0], "a")
	waittest.Until(t, patience, "what lives for a second expires", func() bool {
		return one(t, c, keys[0]).Value == nil && one(t, c, keys[3]).Value == nil
	})
	want(t, c, keys[1], "a")
	want(t, c, keys[2], "a")
}

// TestClient_Batch has a batch of all kinds, longer than what is sent at once, on two
// servers, keys that memcached does not take among them. A well-known library, which knows
// one of the servers each, reads the same.
func TestClient_Batch(t *testing.T) {
	t.Parallel()
	servers := []string{memcachetest.Start(t).Addr, memcachetest.Start(t).Addr}
	c := open(t, Config{Servers: servers})
	keys := freshKeys(400)
	var all []Command
	for i, key := range keys {
		value := bytes.Repeat([]byte{byte('a' + i%26)}, i*20)
		all = append(all, Command{Verb: Set, Key: key, Value: value}, Command{Verb: Append, Key: key, Value: []byte("!")},
			Command{Verb: Add, Key: key, Value: []byte("no")}, Command{Verb: Set, Key: "a space " + key},
			Command{Verb: Set, Key: key + companion, Value: value})
	}
	c.Do(t.Context(), all)
	for i, cmd := range all {
		wanted := []error{nil, nil, ErrHeld, errKey, nil}[i%5]
		if !errors.Is(cmd.Err, wanted) {
			t.Fatalf("command %d, %s: got %v, want %v", i, cmd.Verb, cmd.Err, wanted)
		}
	}
	asked := slices.Concat(keys, []string{"no\r\nkey", "", strings.Repeat("k", MaxKey+1)}, keys[:10])
	for name, get := range map[string]func(context.Context, []string, []Item){"Get": c.Get, "GetLong": c.GetLong} {
		out := make([]Item, len(asked))
		get(t.Context(), asked, out)
		for i, key := range asked {
			if at := slices.Index(keys, key); at < 0 && (out[i].Value != nil || out[i].Away) || at >= 0 && (len(out[i].Value) != at*20+1 || out[i].Away) {
				t.Fatalf("%s %d, %.40q: got %d bytes (away: %v)", name, i, key, len(out[i].Value), out[i].Away)
			}
		}
	}
	raw := []*witness.Client{witness.New(servers[0]), witness.New(servers[1])}
	n := 0
	for i, key := range keys {
		for _, r := range raw {
			item, err := r.Get(key)
			if err == witness.ErrCacheMiss {
				continue
			}
			if err != nil || len(item.Value) != i*20+1 {
				t.Fatalf("the library reads %s: %v, %v", key, item, err)
			}
			if _, err := r.Get(key + companion); err != nil {
				t.Errorf("%s and its companion are on two servers: %v", key, err)
			}
			n++
		}
	}
	for _, r := range raw {
		r.Close()
	}
	if n != len(keys) {
		t.Errorf("the library finds %d of %d keys", n, len(keys))
	}
}

// TestClient_ManyCallers has callers ask and write at once, through few connections.
func TestClient_ManyCallers(t *testing.T) {
	t.Parallel()
	link := openLink(t, memcachetest.Addr(t))
	c := open(t, Config{Servers: []string{link.addr}})
	var callers sync.WaitGroup
	for range 40 {
		callers.Go(func() {
			keys := freshKeys(20)
			for round := range 5 {
				value := []byte(strings.Repeat(fmt.Sprint(round), 1+round*2000))
				var all []Command
				for _, key := range keys {
					all = append(all, Command{Verb: Set, Key: key, Value: value})
				}
				c.Write(all)
				for _, get := range []func(context.Context, []string, []Item){c.Get, c.GetLong} {
					out := make([]Item, len(keys))
					get(t.Context(), keys, out)
					for i := range out {
						if !bytes.Equal(out[i].Value, value) {
							t.Errorf("got %d bytes, want %d", len(out[i].Value), len(value))
							return
						}
					}
				}
			}
		})
	}
	callers.Wait()
	if n := link.accepted.Load(); n > maxConns {
		t.Errorf("got %d connections, want at most %d", n, maxConns)
	}
}

func TestClient_Closed(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	c := open(t, Config{Servers: []string{memcachetest.Addr(t)}, Registerer: r})
	key := fresh("closed")
	do(t, c, Command{Verb: Set, Key: key, Value: []byte("a")})
	if n, err := testutil.GatherAndCount(r); n != 4 || err != nil {
		t.Errorf("got %d series, %v, want 4", n, err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := one(t, c, key); !got.Away {
		t.Errorf("got %+v, want none from a server that is away", got)
	}
	all := []Command{{Verb: Set, Key: key}}
	if c.Write(all); all[0].Err != ErrAway {
		t.Errorf("Write: %v", all[0].Err)
	}
	if err := do(t, c, Command{Verb: Set, Key: key}).Err; err != ErrAway {
		t.Errorf("Do: %v", err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("Ping: %v", err)
	}
	if n, err := testutil.GatherAndCount(r); n != 0 || err != nil {
		t.Errorf("got %d series, %v, want none", n, err)
	}
}

func TestNew_Bad(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no servers":       {},
		"no port":          {Servers: []string{"localhost"}},
		"named twice":      {Servers: []string{"localhost:11211", "localhost:11211"}},
		"negative timeout": {Servers: []string{"/s"}, Timeout: -1},
	} {
		if c, err := New(cfg); err == nil {
			c.Close()
			t.Errorf("%s: got no error", name)
		}
	}
	r := prometheus.NewRegistry()
	open(t, Config{Servers: []string{"/s"}, Registerer: r})
	if c, err := New(Config{Servers: []string{"/s"}, Registerer: r}); err == nil {
		c.Close()
		t.Error("the same metrics twice: got no error")
	}
}

// patience bounds the waits of tests; it is spent only when one fails.
const patience = 10 * time.Second
