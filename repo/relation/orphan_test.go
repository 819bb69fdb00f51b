package relation_test

import (
	"errors"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// exist makes accounts.
func exist(t *testing.T, ids ...uint64) {
	t.Helper()
	if _, err := account.New(dbtest.DB(t), cache.NewNone()).Ensure(t.Context(), ids, 1); err != nil {
		t.Fatal(err)
	}
}

func TestStore_Rebuild_Unknown(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 6)
	id, friend := ids[0], ids[5]
	exist(t, id, friend)
	archived(t, s, id, ids[1:], 2) // the first three are archived
	put(t, s, id, list.Edge{ID: 9, Time: 9, Out: true}, list.Edge{ID: friend, Time: 10, Out: true})
	unknown := []uint64{ids[1], ids[4], friend, 77}
	if done, err := s.Rebuild(t.Context(), id, &relation.Evidence{KeepOwn: true, Unknown: unknown}); err != nil || !slices.Equal(done.Unknown, []uint64{ids[1], ids[4]}) {
		t.Fatalf("got %v, %v, want %v", done, err, []uint64{ids[1], ids[4]})
	}
	c, got, old := followers(t, s, id)
	if want := []list.Entry{{ID: ids[2], Time: 2}, {ID: ids[3], Time: 3}}; !slices.Equal(got, want) || old != 2 {
		t.Errorf("got %v, %d archived, want %v and the friend", got, old, want)
	}
	if want := (relation.Counts{Friends: 1, Followers: 3, Following: 2}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if done, err := s.Rebuild(t.Context(), id, &relation.Evidence{KeepOwn: true, Unknown: unknown}); err != nil || len(done.Unknown) != 0 {
		t.Errorf("got %v, %v, want nobody a second time", done, err)
	}
}

// However many are unknown, all are taken out: nobody else is read for that.
func TestStore_Rebuild_ManyUnknown(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 1501)
	edges := make([]list.Edge, len(ids)-1)
	for i, other := range ids[1:] {
		edges[i] = list.Edge{ID: other, Time: uint32(i + 1)}
	}
	put(t, s, ids[0], edges...)
	done, err := s.Rebuild(t.Context(), ids[0], &relation.Evidence{KeepOwn: true, Unknown: ids[1:]})
	if c, left, _ := followers(t, s, ids[0]); err != nil || len(done.Unknown) != len(edges) || len(left) != 0 || c != (relation.Counts{}) {
		t.Errorf("got %d taken out, %v, %d left, %+v, want none left of %d", len(done.Unknown), err, len(left), c, len(edges))
	}
}

// noted has an account keep a note about another.
func noted(t *testing.T, s *relation.Store, id, other uint64) {
	t.Helper()
	won, err := s.Locked(t.Context(), []uint64{id}, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
		if _, err := rows[id].SetNote(other, "a friend of a friend"); err != nil {
			return nil, err
		}
		r, err := s.Pack(rows[id])
		return []relation.Row{r}, err
	})
	if !won || err != nil {
		t.Fatal(won, err)
	}
}

// Who does not exist leaves no note behind, neither one about it nor one of its own.
func TestStore_Rebuild_Notes(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 3)
	exist(t, ids[0], ids[1])
	for _, other := range []uint64{ids[1], ids[2]} {
		put(t, s, ids[0], list.Edge{ID: other, Time: 1, Out: true})
		noted(t, s, ids[0], other)
	}
	if done, err := s.Rebuild(t.Context(), ids[0], &relation.Evidence{KeepOwn: true, Unknown: ids[1:]}); err != nil || !slices.Equal(done.Unknown, ids[2:]) {
		t.Fatal(done, err)
	}
	notes, err := s.Notes(t.Context(), ids[0], ids[1:])
	if err != nil || len(notes) != 1 || notes[ids[1]] == "" {
		t.Errorf("notes %v, %v, want the one about who exists", notes, err)
	}
}

// Whoever does not exist has nothing in row and archive afterwards. Whoever does is left
// alone.
func TestStore_Empty(t *testing.T) {
	s := open(t, cache.NewNone())
	for _, rowGone := range []bool{false, true} {
		id := dbtest.IDs(t, 1)[0]
		archived(t, s, id, []uint64{1, 2, 3, 4}, 2)
		noted(t, s, id, 1)
		if rowGone {
			if _, err := dbtest.DB(t).Exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []bool{true, false} {
			if was, err := s.Empty(t.Context(), id); err != nil || was != want {
				t.Errorf("got %v, %v, want %v", was, err, want)
			}
		}
		if c, got, old := followers(t, s, id); c != (relation.Counts{}) || len(got) != 0 || old != 0 || len(fresh(t, s, id).Archived) != 0 {
			t.Errorf("got %+v, %v, %d archived, want nothing", c, got, old)
		}
		if notes, err := s.Notes(t.Context(), id, []uint64{1}); err != nil || len(notes) != 0 {
			t.Errorf("notes %v, %v, want none", notes, err)
		}
	}
	id := dbtest.IDs(t, 1)[0]
	exist(t, id)
	archived(t, s, id, []uint64{1, 2, 3, 4}, 2)
	was, err := s.Empty(t.Context(), id)
	if _, got, _ := followers(t, s, id); err != nil || was || len(got) != 4 {
		t.Errorf("got %v, %v, %v of an account that exists, want 4 followers", was, err, got)
	}
}

func TestStore_Rebuild_UnknownBadBytes(t *testing.T) {
	s := open(t, cache.NewNone())
	id := dbtest.IDs(t, 1)[0]
	exist(t, id)
	put(t, s, id, list.Edge{ID: 9, Time: 9})
	if _, err := dbtest.DB(t).Exec(`UPDATE relation SET list = LEFT(list, 7) WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Rebuild(t.Context(), id, &relation.Evidence{KeepOwn: true, Unknown: []uint64{9}}); !errors.Is(err, relation.ErrLost) {
		t.Errorf("got %v, %v, want ErrLost", done, err)
	}
}

func TestStore_Orphans(t *testing.T) {
	s := open(t, cache.NewNone())
	ids := dbtest.IDs(t, 6)
	for _, id := range ids[:5] {
		put(t, s, id, list.Edge{ID: 9, Time: 9})
	}
	exist(t, ids[1], ids[5])
	if _, err := s.Empty(t.Context(), ids[4]); err != nil { // an empty row is none
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after, last uint64
		want        []uint64
	}{
		{ids[0] - 1, ids[5], []uint64{ids[0], ids[2], ids[3]}}, {ids[0], ids[2], ids[2:3]}, {ids[3], ids[5], nil},
	} {
		if got, err := s.Orphans(t.Context(), tt.after, tt.last); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("after %d to %d: got %v, %v, want %v", tt.after, tt.last, got, err, tt.want)
		}
	}
	missing, err := s.Missing(t.Context(), ids)
	if err != nil || len(missing) != 4 || missing[ids[1]] || missing[ids[5]] {
		t.Errorf("got %v, %v, want all but two", missing, err)
	}
}

func TestOrphans_Index(t *testing.T) {
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT r.account_id FROM relation r LEFT JOIN account a ON a.bucket = r.bucket AND a.account_id = r.account_id WHERE r.bucket = ? AND r.account_id > ? AND r.account_id <= ? AND a.account_id IS NULL ORDER BY r.account_id LIMIT ?`,
		1, 1, 9000, 10)
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM relation WHERE (bucket, account_id) IN ((?,?),(?,?)) AND (followers > 0 OR following > 0 OR friends > 0 OR list <> ?) ORDER BY bucket, account_id`, 1, 1, 2, 2, "x")
	dbtest.CheckIndex(t, dbtest.DB(t), `SELECT account_id FROM account WHERE (bucket, account_id) IN ((?,?),(?,?))`, 1, 1, 2, 2)
}
