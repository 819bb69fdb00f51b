package interaction

import (
	"errors"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestStore_AppendLoadDelete(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	s, ctx := New(pool), t.Context()
	if _, err := s.Next(ctx, 0); !errors.Is(err, repo.ErrNotFound) {
		t.Fatalf("got %v of an empty log", err)
	}
	events := []Event{{Actor: 5, Target: 7, Kind: "visit", At: 9}, {Actor: 1029, Target: 7, Kind: "visit", At: 9}, {Actor: 900, Target: 5, Kind: "x", At: 1}}
	batches := Batches(events, ids())
	for range 2 { // a flush may come twice
		if err := s.Append(ctx, batches); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ from, want uint16 }{{0, 5}, {5, 5}, {6, 900}} {
		if got, err := s.Next(ctx, c.from); err != nil || got != c.want {
			t.Errorf("from %d: got %d, %v, want %d", c.from, got, err, c.want)
		}
	}
	if n, err := s.Count(ctx, 0, repo.Buckets-1); err != nil || n != 3 {
		t.Errorf("got %d, %v, want 3 events", n, err)
	}
	if n, err := s.Count(ctx, 6, 7); err != nil || n != 0 {
		t.Errorf("got %d, %v, want none", n, err)
	}
	got, err := s.Load(ctx, 5, 0, 1<<60, 10)
	if err != nil || len(got) != 1 || got[0].N != 2 || !slices.Equal(got[0].Events, batches[0].Events) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err := s.Load(ctx, 5, 0, got[0].ID, 10); err != nil || len(got) != 0 {
		t.Errorf("got %+v, %v below the first id", got, err)
	}
	remove := func(tx *sqlx.Tx) error { return Delete(ctx, tx, 5, got) }
	if err := db.WithTx(ctx, pool, remove); err != nil {
		t.Fatal(err)
	}
	if err := db.WithTx(ctx, pool, remove); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("got %v of a second delete", err)
	}
	if err := s.Drop(ctx, Batch{Bucket: 900, ID: batches[1].ID}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Count(ctx, 0, repo.Buckets-1); err != nil || n != 0 {
		t.Errorf("got %d, %v, want none left", n, err)
	}
}

// A statement has bounds, whatever it is asked.
func TestStore_Bounds(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	s, ctx, newID := New(pool), t.Context(), ids()
	batches := make([]Batch, 2*MaxRows+1)
	for i := range batches {
		batches[i] = Batches([]Event{{Actor: 5, Target: 7, Kind: "visit", At: 9}}, newID)[0]
	}
	if err := s.Append(ctx, batches); !errors.Is(err, repo.ErrTooLarge) {
		t.Errorf("got %v, want that it is too large", err)
	}
	for part := range slices.Chunk(batches, MaxRows) {
		if err := s.Append(ctx, part); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Load(ctx, 5, 0, 1<<60, 10*MaxRows); err != nil || len(got) != MaxRows {
		t.Errorf("got %d batches, %v, want %d", len(got), err, MaxRows)
	}
	if err := db.WithTx(ctx, pool, func(tx *sqlx.Tx) error { return Delete(ctx, tx, 5, batches) }); err != nil {
		t.Error(err)
	}
	if n, err := s.Count(ctx, 0, repo.Buckets-1); err != nil || n != 0 {
		t.Errorf("%d events are left, %v", n, err)
	}
}

func TestStore_Indexes(t *testing.T) {
	pool := dbtest.DB(t)
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`SELECT bucket FROM interaction WHERE bucket >= ? ORDER BY bucket LIMIT 1`, []any{5}},
		{`SELECT bucket, batch_id, n, events FROM interaction WHERE bucket = ? AND batch_id < ? ORDER BY batch_id LIMIT ?`, []any{5, 100, 10}},
		{`SELECT CAST(COALESCE(SUM(n), 0) AS SIGNED) FROM interaction WHERE bucket IN (?,?)`, []any{5, 6}},
		{`DELETE FROM interaction WHERE bucket = ? AND batch_id IN (?,?)`, []any{5, 1, 2}},
	} {
		dbtest.CheckIndex(t, pool, q.sql, q.args...)
	}
}
