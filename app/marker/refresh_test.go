package marker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/app"
	"kith/app/home"
	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/event"
	"kith/repo/marker"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const me = 7

// world is a home to which events come, and the markers of one account.
type world struct {
	mu      sync.Mutex
	now     time.Time
	home    []uint64 // ascending
	hidden  map[uint64]bool
	passes  int // how many hidden events a page passes
	markers map[marker.Timeline]marker.Marker
	between func() // is called once, between the read and the swap of a refresh
	fail    error  // what the next swap answers
}

func newWorld() (*world, *Service) {
	w := &world{now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), hidden: map[uint64]bool{}, passes: 1 << 20, markers: map[marker.Timeline]marker.Marker{}}
	return w, New(Config{Store: w, Homes: w, Now: func() time.Time { return w.now }})
}

// post adds an event that is so old, and returns its id.
func (w *world) post(age time.Duration) uint64 {
	id := event.First(w.now.Add(-age))
	for slices.Contains(w.home, id) {
		id++
	}
	w.home = append(w.home, id)
	slices.Sort(w.home)
	return id
}

func (w *world) posts(n int) (ids []uint64) {
	for range n {
		w.now = w.now.Add(time.Second)
		ids = append(ids, w.post(0))
	}
	return ids
}

// Home is the plain form of a home, with pages that end early.
func (w *world) Home(_ context.Context, _ uint64, want home.Range) (out home.Items, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Clone(w.home)
	if !want.Oldest {
		slices.Reverse(all)
	}
	passed := 0
	for _, id := range all {
		if id <= want.After || want.Before != 0 && id >= want.Before {
			continue
		}
		if out.Next = id; w.hidden[id] {
			passed++
		} else {
			out.Items = append(out.Items, home.Item{Entry: home.Entry{Event: event.Event{ID: id}}})
		}
		if len(out.Items) == want.Limit || passed == w.passes {
			break
		}
	}
	if len(out.Items) < want.Limit && passed < w.passes {
		out.Next = 0
	}
	if want.Oldest {
		slices.Reverse(out.Items)
	}
	return out, nil
}

func (w *world) Of(_ context.Context, _ uint64, timelines ...marker.Timeline) (out []marker.Marker, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range timelines {
		m := w.markers[t]
		m.Timeline = t
		out = append(out, m)
	}
	return out, nil
}

func (w *world) Swap(_ context.Context, _ uint64, markers []marker.Marker) (out []marker.Marker, err error) {
	if f := w.between; f != nil {
		w.between = nil
		f()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fail; err != nil {
		return nil, err
	}
	for _, m := range markers {
		if w.markers[m.Timeline].Ver != m.Ver {
			return nil, repo.ErrConflict
		}
	}
	for _, m := range markers {
		if len(m.Recent) > marker.MaxRecent || len(m.Recent) > 0 && m.Recent[0] <= m.Settled || !slices.IsSorted(m.Recent) {
			return nil, fmt.Errorf("a bad marker: %+v", m)
		}
		m.Ver++
		w.markers[m.Timeline] = m
		out = append(out, m)
	}
	return out, nil
}

func ids(items []home.Item) (out []uint64) {
	for _, i := range slices.Backward(items) {
		out = append(out, i.Event.ID)
	}
	return out
}

type tester interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
	Context() context.Context
}

func loaded([]home.Item) error { return nil }

func refresh(t tester, s *Service) Refreshed {
	t.Helper()
	got, err := s.Refresh(t.Context(), me, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// handsOut checks what a refresh hands out, oldest first, and the position after it.
func handsOut(t tester, s *Service, more bool, position uint64, want ...uint64) {
	t.Helper()
	got := refresh(t, s)
	if !slices.Equal(ids(got.Items), want) || got.Marker.LastRead != position || got.More != more {
		t.Errorf("got %v, position %d, more %v; want %v, %d, %v", ids(got.Items), got.Marker.LastRead, got.More, want, position, more)
	}
}

func TestService_Refresh(t *testing.T) {
	t.Run("Empty", func(t *testing.T) {
		w, s := newWorld()
		handsOut(t, s, false, 0)
		if len(w.markers) != 0 {
			t.Errorf("a position was made of nothing: %v", w.markers)
		}
	})
	t.Run("Newest first, then the oldest", func(t *testing.T) {
		w, s := newWorld()
		old := w.posts(100)
		handsOut(t, s, false, old[99], old[70:]...)
		handsOut(t, s, false, old[99])
		if m := w.markers[marker.Home]; m.Ver != 1 {
			t.Errorf("a refresh without news wrote version %d", m.Ver)
		}
		fresh := w.posts(70)
		handsOut(t, s, true, fresh[29], fresh[:30]...)
		handsOut(t, s, true, fresh[59], fresh[30:60]...)
		handsOut(t, s, false, fresh[69], fresh[60:]...)
		handsOut(t, s, false, fresh[69])
	})
	t.Run("Fewer than a page at first", func(t *testing.T) {
		w, s := newWorld()
		all := w.posts(3)
		handsOut(t, s, false, all[2], all...)
		late := w.post(2 * time.Second)
		handsOut(t, s, false, all[2], late) // and the position stays
		handsOut(t, s, false, all[2])
	})
	t.Run("Late", func(t *testing.T) {
		w, s := newWorld()
		first := w.posts(1)
		handsOut(t, s, false, first[0], first...)
		w.now = w.now.Add(time.Hour)
		read := w.posts(1)
		handsOut(t, s, false, read[0], read...)
		w.now = w.now.Add(time.Minute)
		late, newer := w.post(2*time.Minute), w.post(0)
		handsOut(t, s, false, newer, late, newer)
		w.now = w.now.Add(time.Hour)
		handsOut(t, s, false, newer)
	})
	t.Run("Late, more than a page", func(t *testing.T) {
		w, s := newWorld()
		first := w.posts(60)
		handsOut(t, s, false, first[59], first[30:]...)
		w.now = w.now.Add(home.Late - 10*time.Second) // the first of these are settled when the page is read
		before := first[59]
		for range 2 {
			read := w.posts(1)
			var late []uint64
			for i := range 40 {
				late = append(late, w.post(home.Late-time.Duration(i)*100*time.Millisecond))
			}
			handsOut(t, s, true, before, late[:30]...)
			w.now = w.now.Add(5 * time.Second)
			handsOut(t, s, false, read[0], append(late[30:], read...)...)
			before = read[0]
		}
	})
	t.Run("Late, among much that is not shown", func(t *testing.T) {
		w, s := newWorld()
		w.passes = 10
		first := w.posts(1)
		handsOut(t, s, false, first[0], first...)
		w.now = w.now.Add(home.Late)
		read := w.posts(1)
		handsOut(t, s, false, read[0], read...)
		one := w.post(home.Late - time.Second)
		for i := range w.passes {
			w.hidden[w.post(home.Late-time.Duration(2+i)*time.Second)] = true
		}
		two := w.post(home.Late - 13*time.Second)
		w.now = w.now.Add(time.Minute)
		handsOut(t, s, true, read[0], one)
		handsOut(t, s, false, read[0], two)
	})
	t.Run("A clock ahead", func(t *testing.T) {
		w, s := newWorld()
		first := w.posts(1)
		w.now = w.now.Add(24 * time.Hour)
		handsOut(t, s, false, first[0], first...)
		w.now = w.now.Add(-24 * time.Hour)
		next := w.posts(1)
		handsOut(t, s, false, next[0], next...)
	})
	t.Run("Much that is not shown", func(t *testing.T) {
		w, s := newWorld()
		w.passes = 10
		first := w.posts(1)
		handsOut(t, s, false, first[0], first...)
		hidden := w.posts(25)
		for _, id := range hidden {
			w.hidden[id] = true
		}
		last := w.posts(1)
		handsOut(t, s, true, hidden[9])
		handsOut(t, s, true, hidden[19])
		handsOut(t, s, false, last[0], last...)
	})
	t.Run("Set back, forward, and away", func(t *testing.T) {
		w, s := newWorld()
		all := w.posts(10)
		handsOut(t, s, false, all[9], all...)
		set := func(id uint64) {
			if _, err := s.Set(t.Context(), me, []Move{{Timeline: marker.Home, LastRead: id}}); err != nil {
				t.Fatal(err)
			}
		}
		set(all[9]) // where it is
		handsOut(t, s, false, all[9])
		set(all[4])
		handsOut(t, s, false, all[9], all[5:]...)
		all = append(all, w.posts(5)...)
		set(all[12])
		handsOut(t, s, false, all[14], all[13:]...)
		set(0)
		handsOut(t, s, false, all[14], all...)
	})
	t.Run("Two devices", func(t *testing.T) {
		w, s := newWorld()
		first := w.posts(1)
		handsOut(t, s, false, first[0], first...)
		fresh := w.posts(40)
		w.between = func() { handsOut(t, s, true, fresh[29], fresh[:30]...) }
		handsOut(t, s, false, fresh[39], fresh[30:]...)
	})
	t.Run("Always lost", func(t *testing.T) {
		w, s := newWorld()
		w.posts(1)
		w.fail = fmt.Errorf("lost: %w", repo.ErrConflict)
		if _, err := s.Refresh(t.Context(), me, loaded); app.KindOf(err) != app.Conflict {
			t.Errorf("got %v, want a conflict", err)
		}
	})
	t.Run("What cannot be loaded", func(t *testing.T) {
		w, s := newWorld()
		all := w.posts(1)
		away := errors.New("away")
		if _, err := s.Refresh(t.Context(), me, func([]home.Item) error { return away }); !errors.Is(err, away) || len(w.markers) != 0 {
			t.Errorf("got %v and %v, want that nothing is handed out", err, w.markers)
		}
		handsOut(t, s, false, all[0], all...)
	})
	t.Run("No database", func(t *testing.T) {
		w, s := newWorld()
		all := w.posts(1)
		w.fail = fmt.Errorf("away: %w", repo.ErrUnavailable)
		if got, err := s.Refresh(t.Context(), me, loaded); app.KindOf(err) != app.Busy || len(got.Items) > 0 {
			t.Errorf("got %v, %v", got, err)
		}
		w.fail = nil
		handsOut(t, s, false, all[0], all...)
	})
}

// Past what a marker remembers the position still moves, nothing comes twice, and what
// comes in order is never left out.
func TestService_Refresh_ManyRecent(t *testing.T) {
	w, s := newWorld()
	refreshed := w.posts(1)
	handsOut(t, s, false, refreshed[0], refreshed...)
	for range 20 {
		fresh := make([]uint64, PageSize)
		for i := range fresh {
			fresh[i] = w.post(0)
		}
		handsOut(t, s, true, fresh[PageSize-1], fresh...)
	}
	handsOut(t, s, false, w.home[len(w.home)-1])
}

// Where the newest of a home is so much that is not shown that the first page ends early,
// without an entry, refreshes begin with what comes then.
func TestService_Refresh_FirstPasses(t *testing.T) {
	w, s := newWorld()
	w.posts(1)
	w.passes = 5
	for _, id := range w.posts(10) {
		w.hidden[id] = true
	}
	if got := refresh(t, s); len(got.Items) != 0 || got.Marker.LastRead == 0 {
		t.Fatalf("got %+v, want a position and no entries", got)
	}
	w.passes = 1 << 20
	fresh := w.posts(2)
	handsOut(t, s, false, fresh[1], fresh...)
}

// Whatever comes in whatever order, less late than home.Late, is handed out once.
func TestService_Refresh_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, s := newWorld()
		before := w.posts(rapid.IntRange(1, 40).Draw(t, "before"))
		got := map[uint64]int{}
		take := func() bool {
			r := refresh(t, s)
			for _, id := range ids(r.Items) {
				got[id]++
			}
			return r.More
		}
		take()
		floor := uint64(0)
		if len(before) >= PageSize {
			floor = before[len(before)-PageSize]
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "pause")) * time.Second)
			n, ages := rapid.IntRange(0, 4).Draw(t, "posts"), rapid.IntRange(0, int(home.Late/time.Second))
			if rapid.IntRange(0, 9).Draw(t, "burst") == 0 {
				n = 40 // of one moment, as where somebody is followed
				ages = rapid.Just(ages.Draw(t, "age of all"))
			}
			// All of them, and those of the first refresh, fit into a marker.
			for range min(n, marker.MaxRecent-PageSize-(len(w.home)-len(before))) {
				w.post(time.Duration(ages.Draw(t, "age")) * time.Second)
			}
			if rapid.Bool().Draw(t, "refresh") {
				if rapid.Bool().Draw(t, "another first") {
					w.between = func() { take() }
				}
				take()
				w.between = nil
			}
		}
		for take() {
		}
		for _, id := range w.home {
			if n := got[id]; n > 1 || n == 0 && id >= floor {
				t.Fatalf("an event of %s before the end was handed out %d times", w.now.Sub(event.Time(id)), n)
			}
		}
	})
}

// Devices that refresh at once, on the real table.
func TestService_Refresh_Race(t *testing.T) {
	w, _ := newWorld()
	s := New(Config{Store: marker.New(dbtest.DB(t)), Homes: w, Now: func() time.Time { return w.now }})
	account := dbtest.IDs(t, 1)[0]
	w.posts(1)
	if _, err := s.Refresh(t.Context(), account, loaded); err != nil {
		t.Fatal(err)
	}
	fresh := w.posts(300)
	got := make(chan uint64, 2*len(fresh))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				r, err := s.Refresh(t.Context(), account, loaded)
				if app.KindOf(err) == app.Conflict && err != nil {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				for _, id := range ids(r.Items) {
					got <- id
				}
				if len(r.Items) == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	close(got)
	var all []uint64
	for id := range got {
		all = append(all, id)
	}
	slices.Sort(all)
	if !slices.Equal(all, fresh) {
		t.Errorf("%d entries were handed out, want %d, each once", len(all), len(fresh))
	}
}

func TestService_Set_Race(t *testing.T) {
	w, s := newWorld()
	w.between = func() {
		if _, err := s.Set(t.Context(), me, []Move{{Timeline: marker.Home, LastRead: 5}}); err != nil {
			t.Error(err)
		}
	}
	_, err := s.Set(t.Context(), me, []Move{{Timeline: marker.Home, LastRead: 6}})
	var refusal *app.Error
	if !errors.As(err, &refusal) || refusal.Kind != app.Conflict || w.markers[marker.Home].LastRead != 5 {
		t.Errorf("got %v and %+v, want a conflict", err, w.markers)
	}
}
