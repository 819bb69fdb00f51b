package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// position is a Marker as it is decoded.
type position struct {
	LastRead string `json:"last_read_id"`
	Version  int    `json:"version"`
	Updated  string `json:"updated_at"`
}

type positions map[string]position

const (
	markers     = "/api/v1/markers"
	bothMarkers = markers + "?timeline[]=home&timeline[]=notifications"
)

func TestMarkers(t *testing.T) {
	w := newWorld(t)
	c := w.as(w.add(false))
	const day = "2026-05-01T10:00:00.000Z"
	check := func(a answer, want positions) {
		t.Helper()
		if got := into[positions](a); !cmp.Equal(got, want) {
			t.Fatalf("%s: got %s", a.what, cmp.Diff(want, got))
		}
	}
	check(c.get(bothMarkers), positions{})
	check(c.form(markers, url.Values{"home[last_read_id]": {"12"}}.Encode()), positions{"home": {"12", 1, day}})
	check(c.json(markers, `{"home":{"last_read_id":"13"},"notifications":{"last_read_id":"5"}}`), positions{"home": {"13", 2, day}, "notifications": {"5", 1, day}})
	check(c.get(bothMarkers), positions{"home": {"13", 2, day}, "notifications": {"5", 1, day}})
	check(c.get(markers+"?timeline=home"), positions{"home": {"13", 2, day}})
	check(c.get(markers), positions{})
	check(c.get(markers+"?timeline[]=public&timeline[]=notifications&timeline[]=notifications"), positions{"notifications": {"5", 1, day}})
	// Back, as in Mastodon; and what is there stays as it is.
	check(c.json(markers, `{"home":{"last_read_id":11}}`), positions{"home": {"11", 3, day}})
	check(c.json(markers, `{"home":{"last_read_id":"11","version":3}}`), positions{"home": {"11", 3, day}})
	check(c.json(markers, `{"home":{"last_read_id":"0"}}`), positions{"home": {"0", 4, day}})
	check(c.json(markers, `{"public":{"last_read_id":"9"},"home":null}`), positions{})
	check(c.post(markers), positions{})
	check(w.as(w.add(false)).get(bothMarkers), positions{}) // nobody else's
}

func TestMarkers_Refused(t *testing.T) {
	w := newWorld(t)
	c := w.as(w.add(false))
	const id, number = "home[last_read_id] must be an id", "home[version] must be a whole number"
	for body, want := range map[string]string{
		`{"home":{}}`: id, `{"home":"9"}`: id, `{"home":{"last_read_id":""}}`: id, `{"home":{"last_read_id":"x"}}`: id, `{"home":{"last_read_id":"-1"}}`: id,
		`{"home":{"last_read_id":"01"}}`: id, `{"home":{"last_read_id":1.5}}`: id, `{"home":{"last_read_id":9223372036854775808}}`: id,
		`{"home":{"last_read_id":["9"]}}`: "must be a single value", `{"home":{"last_read_id":{"a":"9"}}}`: "must be a single value", `{"home":[{"last_read_id":"9"}]}`: id,
		`{"home":{"last_read_id":"9","version":"x"}}`: number, `{"home":{"last_read_id":"9","version":-1}}`: number,
		`{"notifications":{"last_read_id":"9"},"home":{"last_read_id":"x"}}`: id,
	} {
		c.json(markers, body).refused(http.StatusUnprocessableEntity, want)
	}
	if got := into[positions](c.get(bothMarkers)); len(got) != 0 {
		t.Errorf("got %v after refusals only", got)
	}
}

// Who saw another version than the one that is there loses, and changes nothing.
func TestMarkers_Stale(t *testing.T) {
	w := newWorld(t)
	c := w.as(w.add(false))
	const sentence = "Conflict during update, please try again"
	into[positions](c.json(markers, `{"home":{"last_read_id":"9","version":0},"notifications":{"last_read_id":"9"}}`))
	for _, body := range []string{
		`{"home":{"last_read_id":"10","version":0}}`, `{"home":{"last_read_id":"10","version":2}}`, `{"home":{"last_read_id":"9","version":2}}`,
		`{"notifications":{"last_read_id":"10"},"home":{"last_read_id":"10","version":2}}`,
	} {
		a := c.json(markers, body)
		a.refused(http.StatusConflict, sentence)
		if a.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("got %v", a.header)
		}
	}
	got := into[positions](c.get(bothMarkers))
	if got["home"].LastRead != "9" || got["home"].Version != 1 || got["notifications"].Version != 1 {
		t.Errorf("got %v", got)
	}
}

// Devices that move a position at once, each by the version that it saw: one wins.
func TestMarkers_Race(t *testing.T) {
	w := newWorld(t)
	c := w.as(w.add(false))
	const devices = 8
	var group sync.WaitGroup
	answers := make(chan answer, devices)
	for i := range devices {
		group.Go(func() { answers <- c.json(markers, fmt.Sprintf(`{"home":{"last_read_id":"%d","version":0}}`, i+1)) })
	}
	group.Wait()
	won := positions{}
	for range devices {
		switch a := <-answers; a.status {
		case http.StatusOK:
			if len(won) > 0 {
				t.Error("two won")
			}
			if err := json.Unmarshal([]byte(a.body), &won); err != nil {
				t.Fatal(err)
			}
		case http.StatusConflict:
		default:
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	if got := into[positions](c.get(bothMarkers)); len(won) != 1 || !cmp.Equal(got, won) {
		t.Errorf("%v won, and the marker is %v", won, got)
	}
}
