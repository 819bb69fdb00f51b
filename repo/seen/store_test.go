package seen

import (
	"errors"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestStore(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	s, ctx := New(pool), t.Context()
	if err := s.Put(ctx, nil); err != nil {
		t.Fatal(err)
	}
	for _, marks := range [][]Mark{{{5, 100}, {1030, 50}}, {{5, 90}, {1030, 60}, {3, 1}}} {
		if err := s.Put(ctx, marks); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.Walk(ctx, 0, 2)
	if want := []Mark{{3, 1}, {5, 100}}; err != nil || !slices.Equal(first, want) {
		t.Fatalf("got %v, %v, want %v", first, err, want)
	}
	rest, err := s.Walk(ctx, 5, 2)
	if want := []Mark{{1030, 60}}; err != nil || !slices.Equal(rest, want) {
		t.Fatalf("got %v, %v, want %v", rest, err, want)
	}
	if one, err := s.One(ctx, 5); err != nil || one != (Mark{5, 100}) {
		t.Errorf("got %v, %v", one, err)
	}
	if none, err := s.One(ctx, 6); !errors.Is(err, repo.ErrNotFound) {
		t.Errorf("got %v, %v of somebody who was never seen", none, err)
	}
}

// More than a statement takes are written, and no more than one gives are read.
func TestStore_Bounds(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	s := New(pool)
	marks := make([]Mark, 2*MaxRows+5)
	for i := range marks {
		marks[i] = Mark{uint64(i + 1), 7}
	}
	if err := s.Put(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	total, after := 0, uint64(0)
	for {
		page, err := s.Walk(t.Context(), after, 10*MaxRows)
		if err != nil || len(page) > MaxRows {
			t.Fatalf("got %d marks, %v, want %d at most", len(page), err, MaxRows)
		}
		if len(page) == 0 {
			break
		}
		total, after = total+len(page), page[len(page)-1].AccountID
	}
	if total != len(marks) {
		t.Errorf("got %d marks in all, want %d", total, len(marks))
	}
}

func TestStore_Indexes(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, at FROM seen WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, 5, 5, 9000, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, at FROM seen WHERE bucket = ? AND account_id = ?`, 5, 5)
}
