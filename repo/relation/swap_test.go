package relation_test

import (
	"testing"
	"time"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/relation"
)

// Where the server takes no more prepared statements, commits go another way.
func TestStore_Swap_NotPrepared(t *testing.T) {
	dsn := dbtest.DurableDSN(t)
	pool := pool(t, dsn)
	dbtest.Migrate(t, pool)
	s := relation.New(pool, cache.NewNone(), 0, time.Now)
	pool.MustExec(`SET GLOBAL max_prepared_stmt_count = 0`)
	ids := dbtest.IDs(t, 100)
	for ver, commit := range []func() (bool, error){
		func() (bool, error) { return s.Swap(t.Context(), followed(t, s, ids[:3], 7)) },
		func() (bool, error) { return s.Swap(t.Context(), followed(t, s, ids, 8)) },
		func() (bool, error) {
			return s.Locked(t.Context(), ids, nil, func(map[uint64]*relation.Draft) ([]relation.Row, error) {
				return followed(t, s, ids, 9), nil
			})
		},
	} {
		if won, err := commit(); err != nil || !won {
			t.Fatalf("commit %d: got %v, %v; want won", ver, won, err)
		}
	}
	if r := fresh(t, s, ids[0]); r.Followers != 3 {
		t.Errorf("%d followers, want 3", r.Followers)
	}
	for _, locked := range []bool{false, true} {
		var seen relation.Row
		err := s.Examine(t.Context(), ids[0], locked, func(r relation.Row) error { seen = r; return nil }, func(relation.Segment) error { return nil })
		if err != nil || seen.Followers != 3 {
			t.Errorf("examined, locked %v: %d followers, %v; want 3", locked, seen.Followers, err)
		}
	}
}

// followed returns the rows of ids as they will be with follower.
func followed(t *testing.T, s *relation.Store, ids []uint64, who uint64) []relation.Row {
	t.Helper()
	now, err := s.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]relation.Row, len(ids))
	for i, id := range ids {
		rows[i] = follower(t, now[id], who)
	}
	return rows
}

// A swap of more rows than one statement has is all or nothing too, whichever of
// its statements loses.
func TestStore_Swap_Many(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 150)
	if won, err := s.Swap(t.Context(), followed(t, s, ids, 7)); err != nil || !won {
		t.Fatalf("got %v, %v; want won", won, err)
	}
	for _, stale := range []int{0, 49, 149} {
		rows := followed(t, s, ids, 8)
		rows[stale].Ver--
		if won, err := s.Swap(t.Context(), rows); err != nil || won {
			t.Errorf("row %d is stale: got %v, %v; want lost", stale, won, err)
		}
		for _, id := range ids {
			if r := fresh(t, s, id); r.Followers != 1 {
				t.Fatalf("row %d is stale: %d followers, want 1", stale, r.Followers)
			}
		}
	}
	if won, err := s.Swap(t.Context(), followed(t, s, ids, 8)); err != nil || !won {
		t.Errorf("got %v, %v; want won", won, err)
	}
}
