package seen

import (
	"slices"
	"testing"

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
	if one, err := s.One(ctx, 5); err != nil || !slices.Equal(one, []Mark{{5, 100}}) {
		t.Errorf("got %v, %v", one, err)
	}
	if none, err := s.One(ctx, 6); err != nil || len(none) != 0 {
		t.Errorf("got %v, %v", none, err)
	}
}

func TestStore_Indexes(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, at FROM seen WHERE (bucket = ? AND account_id > ?) OR bucket > ? ORDER BY bucket, account_id LIMIT ?`, 5, 5, 5, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, at FROM seen WHERE bucket = ? AND account_id = ?`, 5, 5)
}
