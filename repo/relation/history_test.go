package relation_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/cache/cachetest"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// lose takes rows back to what they were in an earlier state of the database, as a
// failover to a replica that is behind does, or a restore.
func lose(t *testing.T, before []relation.Row) {
	t.Helper()
	for _, r := range before {
		dbtest.DB(t).MustExec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(r.ID), r.ID)
		if r.Ver > 0 {
			dbtest.DB(t).MustExec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?)`,
				repo.Bucket(r.ID), r.ID, r.Ver, r.List, r.Friends, r.Followers, r.Following, r.Followers, r.Following, r.UpdatedAt)
		}
	}
}

// swapped swaps rows, which must win.
func swapped(t *testing.T, s *relation.Store, rows []relation.Row) []relation.Row {
	t.Helper()
	if won, err := s.Swap(t.Context(), rows); err != nil || !won {
		t.Fatalf("got %v, %v; want won", won, err)
	}
	return rows
}

func followersOf(t *testing.T, r relation.Row) (ids []uint64) {
	t.Helper()
	v, err := r.View()
	if err != nil {
		t.Fatal(err)
	}
	return v.AppendIDs(nil, list.ByFollower)
}

// A database loses its last commit and makes another in its place. Whoever still
// has a row of the lost history must not win with it.
func TestStore_Swap_LostHistory(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 2)
	before := swapped(t, s, followed(t, s, ids, 7))
	gone := swapped(t, s, followed(t, s, ids, 8)) // which memcached holds
	lose(t, before)
	swapped(t, s, followed(t, s, ids, 9))

	next := []relation.Row{follower(t, gone[0], 10), follower(t, fresh(t, s, ids[1]), 10)}
	if won, err := s.Swap(t.Context(), next); err != nil || won {
		t.Fatalf("a swap on a row of the lost history: got %v, %v; want lost", won, err)
	}
	for _, id := range ids {
		if got := followersOf(t, fresh(t, s, id)); !slices.Equal(got, []uint64{9, 7}) {
			t.Errorf("followers of %d are %d, want those of the history that goes on: 9 and 7", id, got)
		}
	}
}

// The same where the row itself was made in the history that was lost. Below 48
// rows a swap is one statement, from then on it is several in a transaction.
func TestStore_Swap_LostRow(t *testing.T) {
	for name, n := range map[string]int{"Statement": 3, "Transaction": 60} {
		t.Run(name, func(t *testing.T) {
			s := open(t, cache.NewNone())
			ids := dbtest.IDs(t, n)
			before := []relation.Row{fresh(t, s, ids[0])}
			gone := swapped(t, s, followed(t, s, ids, 7))[:1]
			lose(t, before)

			next := followed(t, s, ids, 8)
			next[0] = follower(t, gone[0], 8)
			if won, err := s.Swap(t.Context(), next); err != nil || won {
				t.Fatalf("a swap on a row that was lost: got %v, %v; want lost", won, err)
			}
			if r := fresh(t, s, ids[0]); r.Counts != (relation.Counts{}) || len(followersOf(t, r)) != 0 {
				t.Errorf("counts %+v, followers %d; want none: the row was lost", r.Counts, followersOf(t, r))
			}
			counts, err := s.Counts(t.Context(), ids[:1])
			if err != nil || counts[0] != (relation.Counts{}) {
				t.Errorf("counts %+v, %v; want none", counts, err)
			}
			swapped(t, s, []relation.Row{follower(t, fresh(t, s, ids[0]), 8)})
			if got := followersOf(t, fresh(t, s, ids[0])); !slices.Equal(got, []uint64{8}) {
				t.Errorf("followers %d, want 8 alone: it came after the loss", got)
			}
		})
	}
}

// An edit that loses against the history that goes on throws the lost row out of the
// cache, whether it changes anything or not, and whether there is a row at all.
func TestStore_LostHistory(t *testing.T) {
	for name, first := range map[string][]uint64{"Row": {7}, "NoRow": nil} {
		for _, who := range []uint64{7, 10} { // 7 follows already, where there is a row
			t.Run(fmt.Sprintf("%s%d", name, who), func(t *testing.T) {
				s, others := open(t, cachetest.Local(t)), open(t, cache.NewNone())
				edits := committer.New(s, committer.Config{})
				defer edits.Close(context.Background())
				ids := dbtest.IDs(t, 1)
				for _, f := range first {
					swapped(t, others, followed(t, others, ids, f))
				}
				before := []relation.Row{fresh(t, s, ids[0])}
				for f := range uint64(20) { // to be ahead of what comes
					s.Put(t.Context(), swapped(t, s, followed(t, s, ids, 100+f)))
				}
				lose(t, before)
				err := edits.Do(t.Context(), ids, func(rows map[uint64]*relation.Draft) error {
					rows[ids[0]].AddFollower(who, 200)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				want := first
				if !slices.Contains(first, who) {
					want = append([]uint64{who}, first...)
				}
				cached, err := s.Row(t.Context(), ids[0])
				if got := followersOf(t, cached); err != nil || !slices.Equal(got, want) {
					t.Errorf("the cache says %d, %v; want %d", got, err, want)
				}
				if got := followersOf(t, fresh(t, s, ids[0])); !slices.Equal(got, want) {
					t.Errorf("the database says %d, want %d", got, want)
				}
			})
		}
	}
}

// A cached row that cannot be opened is read afresh.
func TestStore_Load_BadCachedRow(t *testing.T) {
	s := open(t, cachetest.Local(t))
	ids := dbtest.IDs(t, 1)
	rows := swapped(t, s, followed(t, s, ids, 7))
	bad := rows[0]
	bad.List = slices.Clone(bad.List)
	copy(bad.List[len(bad.List)-6:], []byte{0, 0, 0, 0}) // 0 is nobody's id
	if _, err := bad.View(); err != nil {
		t.Fatalf("the row must be one that parses: %v", err)
	}
	if _, err := relation.Open(bad); err == nil {
		t.Fatal("the row must be one that cannot be opened")
	}
	s.Put(t.Context(), []relation.Row{bad})
	drafts, err := s.Load(t.Context(), ids, false)
	if err != nil || drafts[ids[0]].Len(list.Followers) != 1 {
		t.Fatalf("got %v; want the row of the database", err)
	}
	if cached, err := s.Row(t.Context(), ids[0]); err != nil || !slices.Equal(cached.List, rows[0].List) {
		t.Errorf("the cache still holds the bad row, %v", err)
	}
}
