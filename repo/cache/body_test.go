package cache_test

import (
	"bytes"
	"testing"

	witness "github.com/bradfitz/gomemcache/memcache"

	"kith/repo/cache"
	"kith/repo/memcachetest"
	"kith/repo/waittest"
)

func longRow(key string, ver uint64) cache.Entry {
	return cache.Entry{Key: key, Ver: ver, Value: []byte{byte(ver)}, Body: bytes.Repeat([]byte{byte(ver)}, 20<<10)}
}

func wantLong(t *testing.T, c cache.Cache, key string, ver uint64) {
	t.Helper()
	want := longRow(key, ver)
	if got := getAll(t.Context(), c, []string{key})[key]; got.Ver != ver || !bytes.Equal(got.Value, want.Value) || !bytes.Equal(got.Body, want.Body) {
		t.Fatalf("got ver %d, %d bytes of body, want ver %d", got.Ver, len(got.Body), ver)
	}
}

// TestMemcached_Body has two processes whose long bodies are apart, and what may
// become of a body.
func TestMemcached_Body(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	one, two := openMemcached(t, config{Servers: []string{server}}), openMemcached(t, config{Servers: []string{server}})
	raw := witness.New(server)
	defer raw.Close()
	key := newKey("body")
	put := func(c cache.Cache, ver uint64) { c.Put(t.Context(), []cache.Entry{longRow(key, ver)}) }
	body := func() *witness.Item {
		t.Helper()
		item, err := raw.Get(key + "+")
		if err != nil {
			t.Fatal(err)
		}
		return item
	}

	put(one, 1)
	first := body()
	wantLong(t, two, key, 1)
	put(one, 2)
	wantLong(t, two, key, 2) // what two keeps near is of ver 1
	put(two, 3)
	wantLong(t, one, key, 3)

	t.Run("LostHistory", func(t *testing.T) {
		put(one, 9)
		wantLong(t, two, key, 9) // and keeps it near
		nine := body()
		one.Disown(t.Context(), []string{key})
		put(one, 3)
		wantLong(t, two, key, 3)
		if err := raw.Set(nine); err != nil { // a body of the lost history is written late
			t.Fatal(err)
		}
		two.ForgetLocal()
		wantNone(t, two, key)
		two.Fill(t.Context(), []cache.Entry{longRow(key, 3)})
		wantLong(t, two, key, 3)
	})

	t.Run("Late", func(t *testing.T) {
		put(one, 4)
		if err := raw.Set(first); err != nil { // a body of ver 1 is written late
			t.Fatal(err)
		}
		wantLong(t, one, key, 4)
		wantNone(t, two, key)
		two.Fill(t.Context(), []cache.Entry{longRow(key, 4)})
		one.ForgetLocal()
		wantLong(t, one, key, 4)
	})
	t.Run("Evicted", func(t *testing.T) {
		if err := raw.Delete(key + "+"); err != nil {
			t.Fatal(err)
		}
		one.ForgetLocal()
		two.ForgetLocal()
		wantNone(t, one, key)
		if got := headsOf(t.Context(), one, []string{key})[key]; got.Ver != 4 || !got.Partial {
			t.Errorf("got head %v, want ver 4 without a body", got)
		}
		one.Fill(t.Context(), []cache.Entry{longRow(key, 4)})
		wantLong(t, two, key, 4)
	})
	t.Run("HeadEvicted", func(t *testing.T) {
		if err := raw.Delete(key); err != nil {
			t.Fatal(err)
		}
		wantNone(t, one, key) // what is near is not used unasked
		put(two, 5)
		wantLong(t, one, key, 5)
	})
	t.Run("Dropped", func(t *testing.T) {
		one.Drop(t.Context(), []string{key})
		wantNone(t, one, key)
		wantNone(t, two, key)
	})
}

// TestMemcached_NearHeads has one process look at heads that another changes.
func TestMemcached_NearHeads(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	one, two := openMemcached(t, config{Servers: []string{server}}), openMemcached(t, config{Servers: []string{server}})
	key := newKey("heads")
	ver := func(c cache.Cache) uint64 { return headsOf(t.Context(), c, []string{key})[key].Ver }
	one.Put(t.Context(), []cache.Entry{longRow(key, 1)})
	if got := ver(two); got != 1 {
		t.Fatalf("got ver %d, want 1", got)
	}
	two.Put(t.Context(), []cache.Entry{longRow(key, 2)})
	if got := ver(two); got != 2 {
		t.Errorf("got ver %d where 2 was put, want 2", got)
	}
	wantLong(t, one, key, 2)
	waittest.Until(t, patience, "the other process sees ver 2", func() bool { return ver(one) == 2 })
	two.Drop(t.Context(), []string{key})
	if got := headsOf(t.Context(), two, []string{key}); len(got) != 0 {
		t.Errorf("after Drop: got %v, want nothing", got)
	}
	waittest.Until(t, patience, "the other process sees that it is gone", func() bool { return len(headsOf(t.Context(), one, []string{key})) == 0 })
}

func TestMemcached_NearHeads_Off(t *testing.T) {
	t.Parallel()
	server := memcachetest.Addr(t)
	one := openMemcached(t, config{Servers: []string{server}})
	two := openMemcached(t, config{Servers: []string{server}, Config: cache.Config{Late: -1}})
	key := newKey("heads")
	for ver := uint64(1); ver < 100; ver++ {
		one.Put(t.Context(), []cache.Entry{longRow(key, ver)})
		if got := headsOf(t.Context(), two, []string{key})[key].Ver; got != ver {
			t.Fatalf("got ver %d where another process put %d", got, ver)
		}
	}
}
