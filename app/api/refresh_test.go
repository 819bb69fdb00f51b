package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

const refreshPath = "/api/v1/timelines/home/refresh"

// homeID is what is compared of a Status.
type homeID struct {
	ID string `json:"id"`
}

func statusIDs(all []homeID) (out []string) {
	for _, s := range all {
		out = append(out, s.ID)
	}
	return out
}

func TestRefresh(t *testing.T) {
	w := newWorld(t)
	reader, author := w.add(false), w.add(false)
	me, she := w.as(reader), w.as(author)
	into[rel](me.post(at(author, "/follow")))
	check := func(marker string, want ...string) {
		t.Helper()
		a := me.post(refreshPath)
		if got := statusIDs(into[[]homeID](a)); !slices.Equal(got, want) || a.header.Get("Kith-Marker") != marker {
			t.Fatalf("got %v, %q; want %v, %q", got, a.header.Get("Kith-Marker"), want, marker)
		}
	}
	check("")
	var all []string // newest first
	post := func(n int) {
		for range n {
			w.clock.pass(time.Second)
			s := into[homeID](she.form("/api/v1/statuses", "status=hello"))
			all = append([]string{s.ID}, all...)
		}
	}
	post(40)
	check(fmt.Sprintf(`last_read_id="%s", version=1`, all[0]), all[:30]...)
	check(fmt.Sprintf(`last_read_id="%s", version=1`, all[0]))
	post(35)
	check(fmt.Sprintf(`last_read_id="%s", version=2, more`, all[5]), all[5:35]...)
	check(fmt.Sprintf(`last_read_id="%s", version=3`, all[0]), all[:5]...)
	if got := into[positions](me.get(bothMarkers)); got["home"].LastRead != all[0] || got["home"].Version != 3 {
		t.Errorf("got %v, want the position of the refreshes", got)
	}
	// A client that lost an answer says where it was.
	into[positions](me.json(markers, fmt.Sprintf(`{"home":{"last_read_id":"%s","version":3}}`, all[2])))
	check(fmt.Sprintf(`last_read_id="%s", version=5`, all[0]), all[:2]...)
	if got := into[[]homeID](she.post(refreshPath)); len(got) != 30 {
		t.Errorf("the author's own home has %d entries, want 30", len(got))
	}
	if a := me.get(refreshPath); a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET answers %d", a.status)
	}
}
