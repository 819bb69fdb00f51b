package relation_test

import (
	"slices"
	"testing"

	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// Between a read of the row and one of the archive an edit moves entries from one to
// the other. No answer leaves out what was there throughout.
func TestStore_Steady(t *testing.T) {
	here, there := open(t, cachetest.Local(t)), open(t, cache.NewNone())
	ids := dbtest.IDs(t, 8)
	star, fans := ids[0], ids[1:]
	merge := func(d *relation.Draft, left []list.Edge) { d.Merge(left) }
	for i, fan := range fans {
		at := uint32(i + 1)
		if _, err := there.MergeLocked(t.Context(), star, []list.Edge{{ID: fan, Time: at}, {ID: fan, Time: at, Out: true}}, merge); err != nil {
			t.Fatal(err)
		}
		if _, err := there.MergeLocked(t.Context(), fan, []list.Edge{{ID: star, Time: at, Out: true}, {ID: star, Time: at}}, merge); err != nil {
			t.Fatal(err)
		}
	}
	trim := func(keep int) {
		t.Helper()
		if _, err := there.Trim(t.Context(), star, keep); err != nil {
			t.Fatal(err)
		}
	}
	recall := func(fan uint64) {
		t.Helper()
		won, err := there.Locked(t.Context(), []uint64{star, fan}, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
			if !relation.Settle(rows[star], rows[fan]) {
				return nil, nil
			}
			r, err := there.Pack(rows[star])
			return []relation.Row{r}, err
		})
		if !won || err != nil {
			t.Fatal(won, err)
		}
	}
	want := slices.Clone(fans)
	slices.Reverse(want)
	friend := list.IsFollowing | list.IsFollower
	check := func(what string, row relation.Row) {
		t.Helper()
		for o := list.ByFollower; o <= list.ByFriend; o++ {
			page, err := here.Page(t.Context(), row, o, list.Range{Limit: 10})
			var got []uint64
			for _, e := range page {
				got = append(got, e.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: page of order %d is %v, %v; want %v", what, o, got, err, want)
			}
		}
		rels, _, err := here.Rels(t.Context(), row, fans, relation.EveryRel)
		if err != nil || slices.ContainsFunc(rels, func(r list.Rel) bool { return r&friend != friend }) {
			t.Errorf("%s: %v, %v; want friends", what, rels, err)
		}
	}
	row := func() relation.Row {
		t.Helper()
		r, err := here.Row(t.Context(), star)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	trim(3)
	old := row() // which the cache goes on to hold
	check("before", old)
	recall(fans[1])
	check("recalled", old)
	trim(1)
	check("trimmed", old)
	before := fresh(t, there, star)
	trim(1)
	recall(fans[6])
	check("recalled and trimmed", before)
	check("as the cache has it", row())
}
