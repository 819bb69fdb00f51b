package marker

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/repo"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func fresh(t *testing.T) (*Store, uint64) {
	t.Helper()
	return New(dbtest.DB(t)), dbtest.IDs(t, 1)[0]
}

func (s *Store) one(t *testing.T, account uint64, line Timeline) Marker {
	t.Helper()
	found, err := s.Of(t.Context(), account, line)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func (s *Store) swap(t *testing.T, account uint64, markers ...Marker) []Marker {
	t.Helper()
	out, err := s.Swap(t.Context(), account, markers)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStore_Swap(t *testing.T) {
	t.Run("Won", func(t *testing.T) {
		s, me := fresh(t)
		if got := s.one(t, me, Home); !cmp.Equal(got, Marker{Timeline: Home}) {
			t.Errorf("got %+v where none is stored", got)
		}
		first := Marker{Timeline: Home, LastRead: 9, Settled: 5, Recent: []uint64{7, 9}, UpdatedAt: 11}
		stored := s.swap(t, me, Marker{Timeline: Notifications, LastRead: 3}, first)
		first.Ver = 1
		if want := []Marker{first, {Timeline: Notifications, Ver: 1, LastRead: 3}}; !cmp.Equal(stored, want) {
			t.Errorf("got %s", cmp.Diff(want, stored))
		}
		if got := s.one(t, me, Home); !cmp.Equal(got, first) {
			t.Errorf("got %s", cmp.Diff(first, got))
		}
		first.LastRead, first.Recent = 1, nil // back, too
		s.swap(t, me, first)
		first.Ver = 2
		if got := s.one(t, me, Home); !cmp.Equal(got, first) {
			t.Errorf("got %s", cmp.Diff(first, got))
		}
	})
	t.Run("Lost", func(t *testing.T) {
		s, me := fresh(t)
		s.swap(t, me, Marker{Timeline: Home, LastRead: 9})
		for _, ver := range []uint64{0, 2} {
			_, err := s.Swap(t.Context(), me, []Marker{{Timeline: Notifications, LastRead: 1}, {Timeline: Home, LastRead: 10, Ver: ver}})
			if !errors.Is(err, repo.ErrConflict) {
				t.Errorf("got %v for version %d, want a conflict", err, ver)
			}
		}
		if got := s.one(t, me, Home); got.LastRead != 9 || got.Ver != 1 {
			t.Errorf("got %+v", got)
		}
		if got := s.one(t, me, Notifications); got.Ver != 0 {
			t.Errorf("half of a swap was done: %+v", got)
		}
	})
	t.Run("Race", func(t *testing.T) {
		s, me := fresh(t)
		const racers = 8
		for round := range uint64(5) {
			var group sync.WaitGroup
			errs := make(chan error, racers)
			for i := range racers {
				group.Go(func() {
					_, err := s.Swap(t.Context(), me, []Marker{{Timeline: Home, Ver: round, LastRead: uint64(i + 1)}, {Timeline: Notifications, Ver: round, LastRead: uint64(i + 1)}})
					errs <- err
				})
			}
			group.Wait()
			won := 0
			for range racers {
				switch err := <-errs; {
				case err == nil:
					won++
				case !errors.Is(err, repo.ErrConflict):
					t.Errorf("got %v", err)
				}
			}
			home, other := s.one(t, me, Home), s.one(t, me, Notifications)
			if won != 1 || home.Ver != round+1 || home.LastRead != other.LastRead {
				t.Errorf("round %d: %d won, and the markers are %+v and %+v", round, won, home, other)
			}
		}
	})
	t.Run("Ended", func(t *testing.T) {
		s, me := fresh(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Swap(ctx, me, []Marker{{Timeline: Home, LastRead: 1}}); err == nil {
			t.Error("got no error")
		}
	})
}

// What a lost connection did is read from the row.
func TestStore_Swap_UnknownOutcome(t *testing.T) {
	s, me := fresh(t)
	m := s.swap(t, me, Marker{Timeline: Home, LastRead: 9, Settled: 5, Recent: []uint64{9}})
	if !s.holds(t.Context(), me, m) {
		t.Error("what was swapped is not found")
	}
	for _, change := range []func(*Marker){
		func(m *Marker) { m.Ver++ }, func(m *Marker) { m.LastRead++ }, func(m *Marker) { m.Settled++ }, func(m *Marker) { m.Recent = nil }, func(m *Marker) { m.UpdatedAt++ },
	} {
		other := m[0]
		if change(&other); s.holds(t.Context(), me, []Marker{other}) {
			t.Errorf("%+v is found, and is not there", other)
		}
	}
}

// Bytes that kith did not write are an error.
func TestRecent_Bad(t *testing.T) {
	ids := func(ids ...uint64) (b []byte) {
		for _, id := range ids {
			b = binary.BigEndian.AppendUint64(b, id)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"short": ids(9)[:7], "twice": ids(9, 9), "falling": ids(9, 8), "settled": ids(5), "too long": make([]byte, 8*(MaxRecent+1)),
	} {
		if got, err := unpack(b, 5); err == nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got, err := unpack(ids(6, 9), 5); err != nil || !cmp.Equal(got, []uint64{6, 9}) {
		t.Errorf("got %v, %v", got, err)
	}
	s, me := fresh(t)
	if _, err := s.Swap(t.Context(), me, []Marker{{Timeline: Home, Settled: 5, Recent: []uint64{5}}}); err == nil {
		t.Error("a bad marker was stored")
	}
}

func TestStore_Indexes(t *testing.T) {
	pool := dbtest.DB(t)
	dbtest.CheckIndex(t, pool, `SELECT timeline, ver, last_read_id, settled_id, recent, updated_at FROM marker WHERE bucket = ? AND account_id = ?`, 5, 5)
	dbtest.CheckIndex(t, pool, `UPDATE marker SET ver = ver + 1, last_read_id = ?, settled_id = ?, recent = ?, updated_at = ? WHERE bucket = ? AND account_id = ? AND timeline = ? AND ver = ?`, 1, 1, "", 1, 5, 5, 1, 1)
}
