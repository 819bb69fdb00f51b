package relation_test

import (
	"slices"
	"testing"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// lose takes rows back to what they were in an earlier state of the database, as a
// failover to a replica that is behind does, or a restore.
func lose(t *testing.T, before []relation.Row) {
	t.Helper()
	for _, r := range before {
		dbtest.DB(t).MustExec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, relation.Bucket(r.AccountID), r.AccountID)
		if r.Ver > 0 {
			dbtest.DB(t).MustExec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, updated_at) VALUES (?,?,?,?,?,?,?,?,?,?)`,
				relation.Bucket(r.AccountID), r.AccountID, r.Ver, r.List, r.Friends, r.Followers, r.Following, r.Followers, r.Following, r.UpdatedAt)
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
