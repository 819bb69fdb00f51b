package relation_test

import (
	"errors"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

func TestStore_Outlines(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 4)
	slices.SortFunc(ids, func(a, b uint64) int { return int(repo.Bucket(a)) - int(repo.Bucket(b)) })
	for i, id := range ids[:3] {
		row := fresh(t, s, id)
		for f := range uint64(i + 1) {
			row = follower(t, row, f+1)
		}
		if won, err := s.Swap(t.Context(), []relation.Row{row}); !won || err != nil {
			t.Fatal(won, err)
		}
	}
	dbtest.DB(t).MustExec(`UPDATE relation SET list = LEFT(list, 3) WHERE bucket = ? AND account_id = ?`, repo.Bucket(ids[1]), ids[1])
	got, err := s.Outlines(t.Context(), ids)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d outlines, %v, want those of the 3 rows", len(got), err)
	}
	for i, id := range ids[:3] {
		o, bad := got[id], i == 1
		if o.AccountID != ids[i] || o.Ver == 0 || bad != errors.Is(o.Err, list.ErrFormat) || !bad && o.Len(list.Followers) != i+1 {
			t.Errorf("outline %d of %d is %+v", i, ids[i], o)
		}
	}
	walked, err := s.WalkOutlines(t.Context(), ids[0], 100)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(walked, func(o relation.Outline) bool { return o.AccountID == ids[2] })
	if at < 0 || slices.ContainsFunc(walked, func(o relation.Outline) bool { return o.AccountID == ids[0] }) {
		t.Errorf("the walk after %d has the place %d for %d", ids[0], at, ids[2])
	}
}

func TestStore_CountLong(t *testing.T) {
	s := open(t, cache.NewNone())
	before, err := s.CountLong(t.Context(), 700)
	if err != nil {
		t.Fatal(err)
	}
	d, err := relation.Open(fresh(t, s, dbtest.IDs(t, 1)[0]))
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(705) {
		d.AddFollower(id+1, 1)
	}
	row, err := d.Pack(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if won, err := s.Swap(t.Context(), []relation.Row{row}); !won || err != nil {
		t.Fatal(won, err)
	}
	if n, err := s.CountLong(t.Context(), 700); err != nil || n != before+1 {
		t.Errorf("%d long rows, %v, want %d", n, err, before+1)
	}
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT COUNT(*) FROM relation WHERE blocks >= ?`, 1000)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, kept_followers, kept_following, blocks, LEFT(list, ?) AS start FROM relation FORCE INDEX (by_blocks) WHERE blocks >= ? AND (blocks > ? OR (blocks = ? AND (bucket > ? OR (bucket = ? AND account_id > ?)))) ORDER BY blocks, bucket, account_id LIMIT ?`, 40, 1000, 1000, 1000, 1, 1, 1, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id, ver, kept_followers, kept_following, blocks, LEFT(list, ?) AS start FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, 40, 1, 1, 9000, 10)
}
