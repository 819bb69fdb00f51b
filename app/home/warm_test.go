package home_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"kith/app/home"
	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/timeline"
)

// asked notes whose feeds are read as a whole.
type asked struct {
	home.Feeds
	ids []uint64
}

func (a *asked) Rows(ctx context.Context, ids []uint64) ([]feed.Row, error) {
	a.ids = append(a.ids, ids...)
	return a.Feeds.Rows(ctx, ids)
}

// warmWorld is a reader with a warm row of two posts, who comes back.
func warmWorld(t *testing.T, cap int) (w *world, reader uint64, authors, want []uint64) {
	w = newWorld(t, config{lines: local(t), warm: true, cap: cap})
	p := w.People(3)
	reader, authors = p[0], p[1:]
	w.Follows(reader, authors...)
	want = []uint64{w.Post(t, authors[0], "one").ID, w.Post(t, authors[1], "two").ID}
	slices.Reverse(want)
	w.pushed()
	w.Clock.Add(3600)
	w.want(reader, want...)
	w.cool(reader)
	return w, reader, authors, want
}

// Where feeds are not cached, only those of authors who posted since are read.
func TestService_Home_Warm(t *testing.T) {
	w, reader, authors, want := warmWorld(t, 0)
	w.Clock.Add(3600)
	want = append([]uint64{w.Post(t, authors[1], "three").ID}, want...)
	w.pushed()
	feeds, before := &asked{Feeds: w.Feeds}, w.from("warm")
	s := home.New(home.Config{Relations: w.Rows, Posts: w.Stored, Feeds: feeds, Lines: w.lines, Warm: w.warm, WarmFrom: 3, Now: w.Now, Push: true})
	page, err := s.Home(t.Context(), reader, home.Range{Limit: 20})
	if err != nil || !slices.Equal(ids(page.Items), want) || !slices.Equal(feeds.ids, authors[1:]) {
		t.Errorf("got %v, read the feeds of %v, %v, want %v and %v", ids(page.Items), feeds.ids, err, want, authors[1:])
	}
	few := home.New(home.Config{Relations: w.Rows, Posts: w.Stored, Feeds: feeds, Lines: w.lines, Warm: w.warm, WarmFrom: 4, Now: w.Now, Push: true})
	w.lines.Drop(t.Context(), reader)
	feeds.ids = nil
	if page, err = few.Home(t.Context(), reader, home.Range{Limit: 20}); err != nil || !slices.Equal(ids(page.Items), want) || len(feeds.ids) != 3 {
		t.Errorf("few are missing: %v, read the feeds of %v, %v, want all", ids(page.Items), feeds.ids, err)
	}
	w.want(reader, want...)
	if w.from("warm") == before {
		t.Error("no line came from the row")
	}
}

// What a row cannot be the begin of is built from feeds alone.
func TestService_Home_WarmNot(t *testing.T) {
	set := func(what string) func(*testing.T, *world, uint64) {
		return func(t *testing.T, w *world, reader uint64) {
			if _, err := dbtest.DB(t).ExecContext(t.Context(), `UPDATE timeline SET `+what+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(reader), reader); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, w *world, reader uint64)
		warm bool
	}{
		"a good one":    {func(*testing.T, *world, uint64) {}, true},
		"bad bytes":     {set(`list = 'x'`), false},
		"others":        {set(`follows = follows + 1`), false},
		"of the future": {set(`covered_until = covered_until + 3600000`), false},
		"none":          {func(t *testing.T, w *world, reader uint64) { w.warm.Drop(t.Context(), reader) }, false},
		"a week later":  {func(_ *testing.T, w *world, _ uint64) { w.Clock.Add(7 * 24 * 3600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, reader, _, want := warmWorld(t, 0)
			c.do(t, w, reader)
			warm, cold := w.from("warm"), w.from("cold")
			page, err := w.Home(t.Context(), reader, home.Range{Limit: 20})
			if err != nil || !slices.Equal(ids(page.Items), want) {
				t.Errorf("got %v, %v, want %v", ids(page.Items), err, want)
			}
			if warm, cold = w.from("warm")-warm, w.from("cold")-cold; warm+cold != 1 || c.warm != (warm == 1) {
				t.Errorf("%d lines came from the row, %d from feeds", warm, cold)
			}
		})
	}
}

// What came late into the feeds, so that a row lacks it, is found, and what an author posted since is, however
// much it is.
func TestService_Home_WarmMends(t *testing.T) {
	w, reader, authors, want := warmWorld(t, 0)
	r, err := w.warm.Row(t.Context(), reader)
	if err != nil {
		t.Fatal(err)
	}
	want = append([]uint64{w.Post(t, authors[1], "late").ID}, want...)
	w.Clock.Add(1)
	r.BuiltAt = w.Now()
	if saved, err := w.warm.Save(t.Context(), reader, r.Line); !saved || err != nil {
		t.Fatal(saved, err)
	}
	w.want(reader, want...)
	w.cool(reader)
	w.Clock.Add(3600)
	many(t, w, authors[0], feed.MaxEvents+1, w.Now(), time.Millisecond)
	warm := w.from("warm")
	got := ids(w.read(reader, 200))
	if len(got) != feed.MaxEvents+4 || !slices.Equal(got[feed.MaxEvents+1:], want) {
		t.Errorf("%d entries, want %d", len(got), feed.MaxEvents+4)
	}
	if w.from("warm") == warm {
		t.Error("a feed that does not reach back: no line came from the row")
	}
}

// Posts of the past that are imported come into a home that has a row.
func TestService_Home_WarmPast(t *testing.T) {
	w, reader, authors, want := warmWorld(t, 0)
	begin := event.Time(want[1])
	w.Clock.Add(3600)
	many(t, w, w.People(1)[0], 1, begin, time.Second) // not followed
	many(t, w, authors[0], 40, begin.Add(time.Second), time.Millisecond)
	if got := ids(w.read(reader, 50)); len(got) != 42 || got[41] != want[1] {
		t.Errorf("%d entries, want 42", len(got))
	}
	if w.from("warm") == 0 {
		t.Error("no line came from the row")
	}
}

// So they do where they are more than the author's feed holds, and fewer than a line.
func TestService_Home_WarmPastDeep(t *testing.T) {
	w, reader, authors, want := warmWorld(t, 2*feed.MaxEvents)
	begin := event.Time(want[1])
	w.Clock.Add(3600)
	const n = feed.MaxEvents + 5
	many(t, w, authors[0], n, begin.Add(time.Second), time.Millisecond)
	warm := w.from("warm")
	if got := ids(w.read(reader, 300)); len(got) != n+2 || got[n+1] != want[1] {
		t.Errorf("%d entries, want %d", len(got), n+2)
	}
	if w.from("warm") == warm {
		t.Error("no line came from the row")
	}
}

// A reader who stores a line again to which much was pushed saves it, one who looks at the
// homes of others does not. A line is saved once.
func TestService_Home_Saves(t *testing.T) {
	w, reader, authors, want := warmWorld(t, 0)
	w.Clock.Add(400)
	w.want(reader, want...)
	if _, err := w.Home(t.Context(), reader, home.Range{}); err != nil {
		t.Fatal(err)
	}
	built := func() time.Time {
		t.Helper()
		r, err := w.warm.Row(t.Context(), reader)
		if err != nil {
			t.Fatal(err)
		}
		return r.BuiltAt
	}
	before := built()
	w.Clock.Add(1)
	w.lines.Drop(t.Context(), reader)
	if _, err := w.Home(t.Context(), reader, home.Range{}); err != nil {
		t.Fatal(err)
	}
	e := event.Event{ID: want[0], Author: authors[1]}
	if err := w.lines.Push(t.Context(), slices.Repeat([]event.Event{e}, timeline.CompactAt+1), []uint64{reader}); err != nil {
		t.Fatal(err)
	}
	if would, err := w.Checkpoint(t.Context(), reader, true); !would || err != nil || !built().Equal(before) {
		t.Errorf("a dry checkpoint: %t, %v, and the row is of %v, want %v", would, err, built(), before)
	}
	if _, err := w.Watch().Home(t.Context(), reader, home.Range{}); err != nil || !built().Equal(before) {
		t.Errorf("who looks at another's home saved it: %v", err)
	}
	if _, err := w.Home(t.Context(), reader, home.Range{}); err != nil || !built().Equal(w.Now()) {
		t.Errorf("the row is of %v, want %v: %v", built(), w.Now(), err)
	}
	for _, dry := range []bool{true, false} {
		if saved, err := w.Checkpoint(t.Context(), reader, dry); saved || err != nil {
			t.Errorf("saved again: %t, %v", saved, err)
		}
	}
	w.lines.Drop(t.Context(), reader)
	if saved, err := w.Checkpoint(t.Context(), reader, false); saved || err != nil {
		t.Errorf("saved what is not there: %t, %v", saved, err)
	}
}

// Memcached is lost as a whole, nothing else.
func TestService_Home_Lost(t *testing.T) {
	x := newTiers(t, 60, 20)
	first := x.page(x.Service, 0)
	second := x.page(x.Service, first.Next)
	if saved, err := x.Checkpoint(t.Context(), x.reader, false); !saved || err != nil {
		t.Fatal(saved, err)
	}
	x.server.Restart()
	for range 2 {
		for before, want := range map[uint64]home.Items{0: first, first.Next: second} {
			if got := x.page(x.Service, before); !slices.Equal(ids(got.Items), ids(want.Items)) || got.Next != want.Next {
				t.Errorf("before %d: %v, want %v", before, ids(got.Items), ids(want.Items))
			}
		}
	}
}
