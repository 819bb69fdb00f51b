package relation_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// archived is an account followed by ids, 1 second apart from second 1 on, with
// all but the newest keep in the archive, and in segments of so many trims.
func archived(t *testing.T, s *relation.Store, id uint64, ids []uint64, keep int) {
	t.Helper()
	edges := make([]list.Edge, len(ids))
	for i, other := range ids {
		edges[i] = list.Edge{ID: other, Time: uint32(i + 1)}
	}
	merge := func(d *relation.Draft, left []list.Edge) { d.Merge(left) }
	if _, err := s.MergeLocked(t.Context(), id, edges, merge); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trim(t.Context(), id, keep); err != nil {
		t.Fatal(err)
	}
}

func TestStore_Scan(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 30)
	for _, id := range ids {
		archived(t, s, id, []uint64{1, 2, 3}, 2)
	}
	var got []uint64
	after := uint64(0)
	for more := true; more; {
		more = false
		err := s.Walk(t.Context(), after, 7, func(r relation.Row) error {
			after, more = r.ID, true
			if !slices.Contains(ids, r.ID) {
				return nil
			}
			got = append(got, r.ID)
			v, err := r.View()
			if err != nil || r.Columns != relation.ColumnsOf(v.Len) || r.Followers != 3 || r.KeptFollowers != 2 || len(r.Archived) == 0 {
				t.Errorf("row of %d: %+v, %v", r.ID, r, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if slices.Sort(got); !slices.Equal(got, ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
	stop := errors.New("stop")
	if err := s.Walk(t.Context(), 0, 5, func(relation.Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of each", err)
	}
}

func TestStore_Archived(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 5)
	for _, id := range ids[1:4] {
		archived(t, s, id, []uint64{1, 2, 3, 4}, 1)
		archived(t, s, id, []uint64{5, 6, 7, 8}, 1)
	}
	for _, tt := range []struct {
		after, last uint64
		limit       int
		want        []uint64
	}{
		{ids[0], ids[4], 10, ids[1:4]}, {ids[1], ids[4], 10, ids[2:4]}, {ids[0], ids[2], 10, ids[1:3]}, {ids[0], ids[4], 1, ids[1:2]}, {ids[3], ids[4], 10, nil},
	} {
		if got, err := s.Archived(t.Context(), tt.after, tt.last, tt.limit); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("after %d to %d: got %v, %v, want %v", tt.after, tt.last, got, err, tt.want)
		}
	}
}

// An account that changes while it is read is read again.
func TestStore_Examine(t *testing.T) {
	s := open(t, cache.NewNone())
	id := dbtest.IDs(t, 1)[0]
	archived(t, s, id, []uint64{1, 2, 3, 4, 5, 6}, 2)
	for _, locked := range []bool{false, true} {
		looks, entries := 0, 0
		err := s.Examine(t.Context(), id, locked, func(r relation.Row) error {
			v, err := r.View()
			if err != nil {
				return err
			}
			if looks++; looks == 1 && !locked {
				if _, err := s.Trim(context.Background(), id, 1); err != nil {
					t.Fatal(err)
				}
			}
			entries = v.Len(list.Followers)
			return nil
		}, func(g relation.Segment) error {
			if !relation.Fits(g) {
				t.Errorf("segment %+v does not fit", g.Header)
			}
			entries += int(g.N)
			return nil
		})
		if want := map[bool]int{false: 2, true: 1}[locked]; err != nil || entries != 6 || looks != want {
			t.Errorf("locked %v: got %d entries in %d looks, %v, want 6 in %d", locked, entries, looks, err, want)
		}
	}
}

func TestScan_Index(t *testing.T) {
	for _, query := range []string{
		`SELECT account_id, list FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT 10`,
		`SELECT account_id, list FROM relation WHERE bucket = ? AND account_id = ? AND ? = 1025`,
	} {
		dbtest.CheckIndex(t, dbtest.DB(t), query, 1, 1, 1025)
	}
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT COUNT(*) FROM relation WHERE bucket IN (?,?,?)`, 0, 1, 2)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM relation_archive WHERE bucket = ? AND account_id > ? AND account_id <= ? GROUP BY account_id ORDER BY account_id LIMIT ?`,
		1, 1, 9000, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT ver, list FROM relation_archive WHERE bucket = ? AND account_id = ? AND section = ? AND seq = ?`, 1, 1, 1, 1)
}
