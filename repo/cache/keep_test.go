package cache

import (
	"testing"
	"time"

	"kith/repo/memcache"
)

// TestMemcached_Keep is what this process keeps of what it has seen, and for how long it
// is fresh.
func TestMemcached_Keep(t *testing.T) {
	t.Parallel()
	client, err := memcache.New(memcache.Config{Servers: []string{"/nobody/is/here"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	m, err := NewMemcached(Config{Client: client, Late: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	now := time.Now()
	fresh, stale := now.Add(time.Hour), now.Add(-time.Second)
	head := func(ver uint64) Entry { return Entry{Key: "a", Ver: ver, Value: []byte("head")} }
	long := func(ver uint64) Entry { return Entry{Key: "a", Ver: ver, Body: make([]byte, maxInline+1)} }
	want := func(ver uint64, whole bool, until time.Time) {
		t.Helper()
		k, ok := m.local.GetIfPresent("a")
		if ok != (ver > 0) || k.Ver != ver || ok && k.Partial == whole || !k.fresh.Equal(until) {
			t.Errorf("got ver %d (%v, partial %v) until %v, want %d until %v", k.Ver, ok, k.Partial, k.fresh, ver, until)
		}
	}
	m.keep(head(2), fresh)
	want(2, false, fresh)
	m.keep(head(1), fresh) // somebody was slow
	want(2, false, fresh)
	m.keep(head(3), stale)
	want(3, false, stale)
	m.keep(head(2), fresh) // of a history that is lost, perhaps: what is no longer fresh makes room
	want(2, false, fresh)
	m.keep(long(2), stale) // a body was fetched
	want(2, true, fresh)
	m.keep(head(2), stale) // a head of the same ver leaves the body alone
	want(2, true, fresh)
	m.keep(long(1), stale)
	want(2, true, fresh)
	m.keep(long(5), fresh)
	want(5, true, fresh)
	large := head(6)
	large.Value = make([]byte, maxInline+1)
	m.keep(large, fresh)
	want(0, false, time.Time{})
}
