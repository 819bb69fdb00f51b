package promotion

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kith/repo"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func fresh(t *testing.T) *Store {
	t.Helper()
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	return New(pool)
}

func (s *Store) add(t *testing.T, p Promotion, now uint32) Promotion {
	t.Helper()
	var err error
	if p.ID, err = s.Add(t.Context(), p, now); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStore(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	a := s.add(t, Promotion{Post: 9, Begins: 100, Ends: 300, Every: 5, Weight: 2}, 50)
	b := s.add(t, Promotion{Account: 8, Begins: 100, Ends: 200, Every: 10, Weight: 1}, 50)
	for now, want := range map[uint32][]Promotion{50: {b, a}, 199: {b, a}, 200: {a}, 300: nil} {
		if got, err := s.Open(ctx, now); err != nil || !cmp.Equal(got, want) {
			t.Errorf("open at %d: %v %s", now, err, cmp.Diff(want, got))
		}
	}
	if err := s.End(ctx, a.ID, 150); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Open(ctx, 150); err != nil || !cmp.Equal(got, []Promotion{b}) {
		t.Errorf("got %v, %v after the end of the other", got, err)
	}
	if err := s.End(ctx, a.ID, 160); !errors.Is(err, ErrEnded) {
		t.Errorf("got %v, want that it has ended", err)
	}
	if err := s.End(ctx, 77, 160); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	a.Ends = 150
	for before, want := range map[uint64][]Promotion{0: {b, a}, b.ID: {a}, a.ID: nil} {
		if got, err := s.Page(ctx, before, 10); err != nil || !cmp.Equal(got, want) {
			t.Errorf("before %d: %v %s", before, err, cmp.Diff(want, got))
		}
	}
}

// There are never more than servers hold.
func TestStore_Add_Full(t *testing.T) {
	s := fresh(t)
	for i := range MaxOpen {
		s.add(t, Promotion{Post: 1, Ends: uint32(100 + i)}, 50)
	}
	if _, err := s.Add(t.Context(), Promotion{Post: 1, Ends: 300}, 50); !errors.Is(err, repo.ErrTooLarge) {
		t.Errorf("got %v, want that there are too many", err)
	}
	s.add(t, Promotion{Post: 1, Ends: 300}, 100) // one has ended
}

func TestStore_Add_Race(t *testing.T) {
	s := fresh(t)
	var group sync.WaitGroup
	ids := make(chan uint64, 8)
	for range cap(ids) {
		group.Go(func() {
			id, err := s.Add(t.Context(), Promotion{Post: 1, Ends: 300}, 50)
			if err != nil {
				t.Error(err)
			}
			ids <- id
		})
	}
	group.Wait()
	close(ids)
	var got []uint64
	for id := range ids {
		got = append(got, id)
	}
	slices.Sort(got)
	if want := []uint64{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStore_Indexes(t *testing.T) {
	pool := dbtest.DB(t)
	for _, q := range []string{
		`SELECT id FROM promotion WHERE bucket = ? AND ends_at > ? LIMIT ?`,
		`SELECT id, account_id, post_id, begins_at, ends_at, every_entries, weight FROM promotion WHERE bucket = ? AND ends_at > ? ORDER BY ends_at, id LIMIT ?`,
		`SELECT id, account_id, post_id, begins_at, ends_at, every_entries, weight FROM promotion WHERE bucket = ? AND id < ? ORDER BY id DESC LIMIT ?`,
	} {
		dbtest.CheckIndex(t, pool, q, bucket, 5, 10)
	}
	dbtest.CheckIndex(t, pool, `SELECT id FROM promotion WHERE bucket = ? ORDER BY id DESC LIMIT 1`, bucket)
	dbtest.CheckIndex(t, pool, `UPDATE promotion SET ends_at = ? WHERE bucket = ? AND id = ? AND ends_at > ?`, 1, bucket, 5, 1)
}
