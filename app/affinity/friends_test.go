package affinity

import (
	"slices"
	"testing"

	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/interaction"
)

// walk pages through somebody's friends; between does something before each
// page but the first.
func (w *world) walk(owner uint64, limit int, between func(page int)) []uint64 {
	w.t.Helper()
	var all []uint64
	var at Cursor
	for n := 0; ; n++ {
		if n > 0 && between != nil {
			between(n)
		}
		p, err := w.Friends(w.t.Context(), owner, at, limit)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, p.IDs...)
		if !p.Full {
			return all
		}
		var ok bool
		if at, ok = ParseCursor(p.Next.String()); !ok {
			w.t.Fatalf("cursor %s cannot be read", p.Next)
		}
	}
}

// circle makes somebody with 30 friends, of whom the first 10 have scores:
// friend i has i messages. It returns the order to expect.
func (w *world) circle() (me uint64, friends, want []uint64) {
	w.t.Helper()
	ids := w.relations.People(32)
	me, friends = ids[0], ids[1:31]
	stranger := ids[31]
	var events []interaction.Event
	for i, f := range friends {
		w.relations.Befriend(me, f)
		for range i + 1 {
			if i < 10 {
				events = append(events, interaction.Event{Actor: me, Target: f, Kind: "message", At: start})
			}
		}
	}
	for range 20 { // near, and no friend
		events = append(events, interaction.Event{Actor: me, Target: stranger, Kind: "message", At: start})
	}
	w.record(events...)
	w.fold()
	for i := 9; i >= 0; i-- {
		want = append(want, friends[i])
	}
	for i := 29; i >= 10; i-- {
		want = append(want, friends[i])
	}
	return me, friends, want
}

func TestFriends_Order(t *testing.T) {
	w := newWorld(t, cachetest.Local(t))
	me, _, want := w.circle()
	for _, limit := range []int{1, 3, 7, 10, 30, 80} {
		if got := w.walk(me, limit, nil); !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %v, want %v", limit, got, want)
		}
	}
	if p, err := w.Friends(t.Context(), me, Cursor{}, 0); err != nil || len(p.IDs) != 0 || p.Full {
		t.Errorf("limit 0: got %+v, %v", p, err)
	}
}

func TestFriends_NoScores(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	ids := w.relations.People(6)
	for _, f := range ids[1:] {
		w.relations.Befriend(ids[0], f)
	}
	want := slices.Clone(ids[1:])
	slices.Reverse(want)
	// A first score between two pages changes nothing for who began without.
	got := w.walk(ids[0], 2, func(n int) {
		w.record(interaction.Event{Actor: ids[0], Target: ids[1], Kind: "message", At: start})
		w.fold()
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := w.walk(w.relations.People(1)[0], 2, nil); len(got) != 0 {
		t.Errorf("got %v of somebody without friends", got)
	}
}

// Scores that change between two pages repeat and skip nobody, while the cache
// holds the order in which the reader began.
func TestFriends_StableWhileFolding(t *testing.T) {
	w := newWorld(t, cachetest.Local(t))
	me, friends, want := w.circle()
	got := w.walk(me, 4, func(n int) {
		for i := range n { // the last come first
			w.record(interaction.Event{Actor: me, Target: friends[29-i], Kind: "message", At: start})
			w.record(interaction.Event{Actor: me, Target: friends[(n*7)%30], Kind: "message", At: start})
		}
		w.fold()
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if now := w.walk(me, 30, nil); slices.Equal(now, want) {
		t.Error("the order of a new reader is the old one")
	}
}

// Without a cache a reader goes on in the new order: scores that only grow in
// proportion change nothing, and nobody who keeps a place is lost.
func TestFriends_ForgottenOrder(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	me, friends, want := w.circle()
	got := w.walk(me, 4, func(n int) {
		w.relations.Clock.Add(86400)
		w.record(interaction.Event{Actor: me, Target: friends[9], Kind: "message", At: uint32(w.relations.Clock.Load())}) // the first stays the first
		w.fold()
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Who is a friend no more is not shown, whatever the score.
func TestFriends_Unfriended(t *testing.T) {
	w := newWorld(t, cachetest.Local(t))
	me, friends, want := w.circle()
	if _, err := w.relations.Unfollow(t.Context(), friends[9], me); err != nil {
		t.Fatal(err)
	}
	if got := w.walk(me, 4, nil); !slices.Equal(got, want[1:]) {
		t.Errorf("got %v, want %v", got, want[1:])
	}
}

// Friends in the archive come too, once.
func TestFriends_Archived(t *testing.T) {
	w := newWorld(t, cache.NewNone())
	me, friends, _ := w.circle()
	if _, err := w.relations.Rows.Trim(t.Context(), me, 5); err != nil {
		t.Fatal(err)
	}
	got := w.walk(me, 4, nil)
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(friends)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
