package memcache_test

import (
	"testing"
	"time"

	"kith/repo/memcache"
	"kith/repo/memcachetest"
)

func TestClient_Ahead(t *testing.T) {
	server := memcachetest.Start(t)
	client := func() *memcache.Client {
		c, err := memcache.New(memcache.Config{Servers: []string{server.Addr}, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	c, other := client(), client()
	set := func(key, value string) {
		t.Helper()
		all := []memcache.Command{{Verb: memcache.Set, Key: key, Value: []byte(value)}}
		if c.Do(t.Context(), all); all[0].Err != nil {
			t.Fatal(all[0].Err)
		}
	}
	set("a", "1")
	set("b", "2")
	ctx := c.Ahead(t.Context(), []string{"a", "b", "none"})
	set("a", "3")
	set("b", "4")
	get := func(want ...string) {
		t.Helper()
		var out [2]memcache.Item
		c.Get(ctx, []string{"b", "none"}, out[:])
		if string(out[0].Value) != want[0] || out[1].Value != nil {
			t.Errorf("got %q and %q, want %q and nothing", out[0].Value, out[1].Value, want[0])
		}
	}
	get("2") // as it was asked for
	get("4") // asked again
	var out [2]memcache.Item
	c.GetLong(ctx, []string{"a", "other"}, out[:]) // not all of it was asked for
	if string(out[0].Value) != "3" {
		t.Errorf("got %q, want 3", out[0].Value)
	}
	ctx = c.Ahead(t.Context(), []string{"b", "a", "b", "none"})
	set("b", "6")
	get("4")
	var twice [1]memcache.Item
	if c.Get(ctx, []string{"b"}, twice[:]); string(twice[0].Value) != "4" {
		t.Errorf("a key that was named twice: got %q the second time, want 4", twice[0].Value)
	}
	ctx = c.Ahead(t.Context(), []string{"a"})
	set("a", "5")
	if other.Get(ctx, []string{"a"}, out[:1]); string(out[0].Value) != "5" {
		t.Errorf("another client got %q, want 5", out[0].Value)
	}
}
