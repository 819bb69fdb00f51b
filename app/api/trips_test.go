package api_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/cache"
	"kith/repo/memcache"
	"kith/repo/memcachetest"
)

// TestFollow_Trips counts how often one POST follow exchanges bytes with memcached: for
// the accounts, for their rows, and to put the rows that were committed. A list is so
// long at first that its body is stored apart.
func TestFollow_Trips(t *testing.T) {
	reg := prometheus.NewRegistry()
	servers, err := memcache.New(memcache.Config{Servers: []string{memcachetest.Start(t).Addr}, Timeout: 10 * time.Second, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	c, err := cache.NewMemcached(cache.Config{Client: servers})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := newLiveWorldOn(t, c)
	trips := func() int {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "kith_cache_trips_total" {
				return int(f.Metric[0].Counter.GetValue())
			}
		}
		t.Fatal("no metric of trips")
		return 0
	}
	star := w.add(false)
	for n, fan := range w.people(300) {
		w.as(fan).get("/api/v1/accounts/verify_credentials")
		into[[]rel](w.as(fan).get("/api/v1/accounts/relationships?id[]=" + text(star)))
		before := trips()
		into[rel](w.as(fan).post(at(star, "/follow")))
		if made := trips() - before; n > 0 && made > 3 {
			t.Errorf("follower %d: %d trips to memcached, want 3 at most", n, made)
		}
	}
}
