package home_test

import (
	"fmt"
	"strings"
	"testing"

	"kith/app/home"
)

// The sentence names the entry that brings a post, also where that is another's repost, far
// away or long ago.
func TestService_Why(t *testing.T) {
	w := newWorld(t, config{lines: local(t), cap: 5, window: 2})
	people := w.People(5)
	me, ben, cleo, stranger, other := people[0], people[1], people[2], people[3], people[4]
	w.Follows(me, ben, cleo)
	old := w.Post(t, stranger, "old").ID
	first := w.repost(ben, old)
	joined := w.repost(cleo, old)
	unseen := w.repost(other, old) // by nobody whom I follow
	for range 6 {
		w.Post(t, ben, "more")
	}
	apart := w.repost(cleo, w.Post(t, stranger, "apart").ID)
	own := w.Post(t, me, "own").ID
	if _, err := w.Home(t.Context(), me, home.Range{Limit: 1}); err != nil {
		t.Fatal(err)
	}
	name := func(id uint64) string {
		return "@" + map[uint64]string{me: "me", ben: "ben", cleo: "cleo", stranger: "stranger", other: "other"}[id]
	}
	for _, c := range []struct {
		id   uint64
		want []string
	}{
		{own, []string{fmt.Sprintf("post %d by @me stands in the home of @me, as an entry of its own", own)}},
		{first, []string{fmt.Sprintf("repost %d by @ben of post %d by @stranger stands", first, old), "as an entry of its own, reposted by another, too", "older than what is kept ready, which goes back to 20"}},
		{joined, []string{fmt.Sprintf("inside the older entry %d, a repost by @ben", first)}},
		{old, []string{"stands in the home of @me since @cleo reposted it and another", fmt.Sprintf("inside the older entry %d", first), "does not bring it: by an account that the reader does not follow: @stranger"}},
		{unseen, []string{"does not stand in the home of @me: by an account that the reader does not follow: @other"}},
		{apart, []string{"as an entry of its own"}},
		{12345, []string{"post 12345 does not stand in the home of @me: there is no such post"}},
	} {
		got, err := w.Why(t.Context(), me, c.id, w.Stored, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

// Who watches leaves no trace: no line is built for somebody who does not read.
func TestService_Watch(t *testing.T) {
	w := newWorld(t, config{lines: local(t)})
	people := w.People(2)
	w.Follows(people[0], people[1])
	want := w.Post(t, people[1], "a").ID
	page, err := w.Watch().Home(t.Context(), people[0], home.Range{Limit: 9})
	if err != nil || len(page.Items) != 1 || page.Items[0].Event.ID != want {
		t.Errorf("got %v, %v, want %d", page, err, want)
	}
	for _, hot := range []bool{false, true} {
		if k, err := w.Kept(t.Context(), people[0]); err != nil || k.Hot != hot || k.Good != hot {
			t.Errorf("kept %+v, %v, want a line: %t", k, err, hot)
		}
		w.want(people[0], want) // as the reader, which builds it
	}
	w.Forget(t.Context(), people[0])
	if k, err := w.Kept(t.Context(), people[0]); err != nil || k.Hot {
		t.Errorf("kept %+v, %v, want nothing", k, err)
	}
}
