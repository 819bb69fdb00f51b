package relation_test

import (
	"slices"
	"testing"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// put merges edges into the row of id.
func put(t *testing.T, s *relation.Store, id uint64, edges ...list.Edge) {
	t.Helper()
	if _, err := s.MergeLocked(t.Context(), id, edges, func(d *relation.Draft, left []list.Edge) { d.Merge(left) }); err != nil {
		t.Fatal(err)
	}
}

// A row that lost entries keeps what it says, but for those who do not exist, and gets
// what others know; where it moved on they are read again.
func TestStore_Rebuild_KeepOwn(t *testing.T) {
	s := open(t, cache.NewNone())
	for name, moved := range map[string]bool{"Still": false, "Moved": true} {
		t.Run(name, func(t *testing.T) {
			ids := dbtest.IDs(t, 6)
			id, own, both, lost, gone, none := ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]
			put(t, s, id, list.Edge{ID: own, Time: 1, Out: true}, list.Edge{ID: both, Time: 2}, list.Edge{ID: none, Time: 3, Out: true})
			put(t, s, lost, list.Edge{ID: id, Time: 5})
			put(t, s, both, list.Edge{ID: id, Time: 6})
			said := &relation.Evidence{Ver: fresh(t, s, id).Ver, KeepOwn: true, Unknown: []uint64{none}, Edges: []list.Edge{
				{ID: lost, Time: 5, Out: true}, {ID: both, Time: 6, Out: true}, {ID: gone, Time: 7, Out: true}, {ID: gone, Time: 8}}}
			want := map[uint64]list.Rel{own: list.IsFollowing, both: list.IsFollowing | list.IsFollower, lost: list.IsFollowing, gone: list.IsFollowing | list.IsFollower, none: 0}
			if moved {
				said.Ver--
				want[gone] = 0
			}
			done, err := s.Rebuild(t.Context(), id, said)
			if err != nil || !slices.Equal(done.Unknown, []uint64{none}) {
				t.Fatalf("got %+v, %v", done, err)
			}
			for other, rel := range want {
				if got, _, err := s.Rels(t.Context(), fresh(t, s, id), []uint64{other}, relation.EveryRel); err != nil || got[0] != rel {
					t.Errorf("%d is %b, %v, want %b", other, got, err, rel)
				}
			}
		})
	}
}

// The others are right; where the row moved on since, they are as they are now, and
// the silence of those who have lost entries takes nothing away.
func TestStore_Rebuild_Evidence(t *testing.T) {
	s := open(t, cache.NewNone())
	for name, tt := range map[string]struct {
		moved, doubtful bool
		want            func(same, other, extra, gone uint64) []list.Entry
		done            relation.Rebuilt
	}{
		"Still": {want: func(same, other, _, gone uint64) []list.Entry {
			return []list.Entry{{ID: same, Time: 1}, {ID: gone, Time: 4}, {ID: other, Time: 20}}
		}, done: relation.Rebuilt{Added: 1, Righted: 1, Dropped: 1}},
		"Moved": {moved: true, want: func(same, other, extra, _ uint64) []list.Entry {
			return []list.Entry{{ID: same, Time: 1}, {ID: extra, Time: 3}, {ID: other, Time: 30}}
		}, done: relation.Rebuilt{Righted: 2}},
		"Doubtful": {doubtful: true, want: func(same, other, extra, gone uint64) []list.Entry {
			return []list.Entry{{ID: same, Time: 1}, {ID: other, Time: 2}, {ID: extra, Time: 3}, {ID: gone, Time: 4}}
		}, done: relation.Rebuilt{Added: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			ids := dbtest.IDs(t, 5)
			id, same, other, extra, gone := ids[0], ids[1], ids[2], ids[3], ids[4]
			put(t, s, id, list.Edge{ID: same, Time: 1}, list.Edge{ID: other, Time: 2}, list.Edge{ID: extra, Time: 3})
			put(t, s, other, list.Edge{ID: id, Time: 30, Out: true})
			archived(t, s, extra, []uint64{5, 6, 7}, 1)
			put(t, s, extra, list.Edge{ID: id, Time: 3, Out: true})
			said := &relation.Evidence{Ver: fresh(t, s, id).Ver, Edges: []list.Edge{{ID: other, Time: 20}, {ID: same, Time: 1}, {ID: gone, Time: 4}}}
			if tt.doubtful {
				said.Doubtful = map[uint64]bool{same: true, other: true, extra: true, gone: true}
			}
			if tt.moved {
				said.Ver--
			}
			done, err := s.Rebuild(t.Context(), id, said)
			if err != nil || done.Added != tt.done.Added || done.Righted != tt.done.Righted || done.Dropped != tt.done.Dropped {
				t.Errorf("got %+v, %v, want %+v", done, err, tt.done)
			}
			want := tt.want(same, other, extra, gone)
			if c, got, _ := followers(t, s, id); !slices.Equal(got, want) || int(c.Followers) != len(want) {
				t.Errorf("got %v, %+v, want %v", got, c, want)
			}
		})
	}
}
