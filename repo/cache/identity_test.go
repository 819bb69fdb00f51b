package cache_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	witness "github.com/bradfitz/gomemcache/memcache"
	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/cache"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

func identity(id uint64, secret byte) cache.Identity {
	return cache.Identity{ID: id, Secret: [cache.SecretBytes]byte{secret}}
}

// Two databases that share a server do not read or replace each other's rows.
func TestMemcached_TwoDatabases(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	one := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(1, 1)}})
	two := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(2, 2)}})
	for _, row := range []func(string, uint64) cache.Entry{longRow, func(key string, ver uint64) cache.Entry { return at([]string{key}, ver)[0] }} {
		key := newKey("shared")
		one.Put(t.Context(), []cache.Entry{row(key, 9)})
		wantNone(t, two, key)
		if ahead := two.Put(t.Context(), []cache.Entry{row(key, 5)}); len(ahead) > 0 {
			t.Errorf("ahead: %v, of another database", ahead)
		}
		for c, ver := range map[cache.Cache]uint64{one: 9, two: 5} {
			if got := getAll(t.Context(), c, []string{key})[key].Ver; got != ver {
				t.Errorf("got ver %d, want %d", got, ver)
			}
		}
	}
}

// Whoever can write to memcached and does not know the secret is not believed: what
// was put under a key by others, or copied from another key, is dropped and counted.
func TestMemcached_Forged(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	r := prometheus.NewRegistry()
	ours := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(1, 1)}, Registerer: r})
	theirs := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(1, 2)}})
	raw := witness.New(server)
	defer raw.Close()
	small := func(key string, ver uint64) cache.Entry { return at([]string{key}, ver)[0] }
	item := func(key string) *witness.Item {
		t.Helper()
		item, err := raw.Get(ours.Prefix() + key)
		if err != nil {
			t.Fatal(err)
		}
		return item
	}
	for name, row := range map[string]func(string, uint64) cache.Entry{"Small": small, "Long": longRow} {
		t.Run(name, func(t *testing.T) {
			key := newKey("forged")
			theirs.Put(t.Context(), []cache.Entry{row(key, 9)})
			wantNone(t, ours, key)
			if _, err := raw.Get("1:" + key); err != witness.ErrCacheMiss {
				t.Errorf("it is still there: %v", err)
			}
			theirs.Put(t.Context(), []cache.Entry{row(key, 9)})
			if ahead := ours.Put(t.Context(), []cache.Entry{row(key, 5)}); len(ahead) > 0 {
				t.Errorf("a forged row is ahead: %v", ahead)
			}
			if got := getAll(t.Context(), ours, []string{key})[key].Ver; got != 5 {
				t.Errorf("got ver %d, want 5 in place of the forged row", got)
			}
		})
		t.Run(name+"Copied", func(t *testing.T) {
			from, to := newKey("from"), newKey("to")
			ours.Put(t.Context(), []cache.Entry{row(from, 9), row(to, 5)})
			copied := item(from)
			copied.Key = "1:" + to
			if err := raw.Set(copied); err != nil {
				t.Fatal(err)
			}
			wantNone(t, ours, to)
		})
	}
	t.Run("Body", func(t *testing.T) {
		key := newKey("body")
		ours.Put(t.Context(), []cache.Entry{longRow(key, 9)})
		body := item(key + "+")
		body.Value[1000] ^= 1
		if err := raw.Set(body); err != nil {
			t.Fatal(err)
		}
		ours.ForgetLocal()
		wantNone(t, ours, key)
		ours.Fill(t.Context(), []cache.Entry{longRow(key, 9)})
		wantLong(t, ours, key, 9)
	})
	wantMetric(t, r, "kith_cache_refused_total", "kith_cache_refused_total 5", "counter")
}

// renewal is an identity that may change, and who asks for it.
type renewal struct {
	now  atomic.Pointer[cache.Identity]
	hold chan struct{} // where not nil, an answer waits for it
	told chan struct{} // gets one when somebody took the new one over
}

func newRenewal(id cache.Identity) *renewal {
	r := &renewal{told: make(chan struct{}, 16)}
	r.now.Store(&id)
	return r
}

func (r *renewal) identify(ctx context.Context) (cache.Identity, error) {
	id := *r.now.Load()
	if r.hold == nil {
		return id, nil
	}
	select {
	case <-r.hold:
	case <-ctx.Done():
		return cache.Identity{}, ctx.Err()
	}
	return *r.now.Load(), nil
}

// log is the log of the cache.
func (r *renewal) log() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

// Write gets the lines of the log.
func (r *renewal) Write(line []byte) (int, error) {
	if strings.Contains(string(line), cache.Renewed) {
		r.told <- struct{}{}
	}
	return len(line), nil
}

// A new identity makes every process forget all it knew, and no row that is told
// while some have learned of it and others have not is shown as it was before.
func TestMemcached_Renew(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	open := func(r *renewal) *cache.Memcached {
		return openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Identity: identity(1, 1), Identify: r.identify}, Log: r.log()})
	}
	quick, slow := newRenewal(identity(1, 1)), newRenewal(identity(1, 1))
	slow.hold = make(chan struct{})
	one, two := open(quick), open(slow)
	old, long, told := newKey("old"), newKey("long"), newKey("told")
	one.Put(t.Context(), append(at([]string{old}, 9), longRow(long, 9)))
	for _, c := range []cache.Cache{one, two} {
		wantLong(t, c, long, 9) // and each keeps it near
		if headsOf(t.Context(), c, []string{old})[old].Ver != 9 {
			t.Fatal("the head is not there")
		}
	}

	next := identity(2, 2)
	quick.now.Store(&next)
	slow.now.Store(&next)
	waittest.Receive(t, patience, "cache that has taken the new identity over", quick.told)
	for _, key := range []string{old, long} {
		wantNone(t, one, key)
		if got := headsOf(t.Context(), one, []string{key}); len(got) > 0 {
			t.Errorf("%s: the head of ver %d is still near", key, got[key].Ver)
		}
	}
	one.Fill(t.Context(), append(at([]string{told}, 1), longRow(long, 5))) // as it was read before
	wantLong(t, one, long, 5)
	two.Put(t.Context(), at([]string{told}, 2)) // which one cannot learn of
	close(slow.hold)
	waittest.Receive(t, patience, "cache that has taken the new identity over", slow.told)
	wantNone(t, one, told)
	wantLong(t, two, long, 5)
}

// A cache in the process begins anew too.
func TestLocal_Renew(t *testing.T) {
	t.Parallel()
	r := newRenewal(identity(1, 1))
	c, err := cache.NewLocal(cache.Config{MaxBytes: 1 << 20, Identity: identity(1, 1), Identify: r.identify, Log: r.log()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	key := newKey("old")
	c.Put(t.Context(), at([]string{key}, 9))
	next := identity(1, 2)
	r.now.Store(&next)
	waittest.Receive(t, patience, "cache that has taken the new identity over", r.told)
	wantNone(t, c, key)
}
