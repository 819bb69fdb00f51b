package relation_test

import (
	"errors"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// followers returns the counts of an account and its followers with their
// times, row and archive together, oldest first, and how many stand in the archive.
func followers(t *testing.T, s *relation.Store, id uint64) (c relation.Counts, all []list.Entry, old int) {
	t.Helper()
	add := func(b []byte) {
		v, err := list.Parse(b)
		if err == nil {
			err = v.Check()
		}
		if err != nil {
			t.Fatalf("list of %d: %v", id, err)
		}
		_ = v.Each(list.Followers, func(other uint64, _, at uint32) bool {
			all = append(all, list.Entry{ID: other, Time: at})
			return true
		})
	}
	err := s.Examine(t.Context(), id, true, func(r relation.Row) error { c = r.Counts; add(r.List); return nil }, func(g relation.Segment) error {
		if !relation.Fits(g) {
			t.Errorf("segment %+v does not fit", g.Header)
		}
		old += int(g.N)
		add(g.List)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b list.Entry) int { return a.Cursor().Compare(b.Cursor()) })
	return c, all, old
}

func TestStore_Rebuild(t *testing.T) {
	s := open(t, cache.NewNone())
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := dbtest.DB(t).Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	fans := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	want := []list.Entry{{ID: 1, Time: 1}, {ID: 2, Time: 2}, {ID: 3, Time: 3}, {ID: 4, Time: 4}, {ID: 5, Time: 5}, {ID: 6, Time: 6}, {ID: 7, Time: 7}, {ID: 8, Time: 8}}
	all := relation.Evidence{}
	for _, w := range want {
		all.Edges = append(all.Edges, list.Edge{ID: w.ID, Time: w.Time})
	}
	tests := map[string]struct {
		set  string // of the row, or
		arch string // of the segment
		said *relation.Evidence
		err  error
	}{
		"Fine":         {},
		"Counts":       {set: `followers = 1`},
		"Header":       {arch: `n = 1, newest_at = 99`},
		"Section":      {arch: `section = 0`},
		"NewerSegment": {arch: `seq = seq + 1024000`},
		"CutRow":       {set: `list = LEFT(list, 6)`, said: &all},
		"CutSegment":   {arch: `list = LEFT(list, 6)`, said: &all},
		"CutUnsaid":    {set: `list = LEFT(list, 6)`, err: relation.ErrLost},
		"NoRow":        {set: "gone", said: &all},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			id := dbtest.IDs(t, 1)[0]
			archived(t, s, id, fans, 3)
			switch {
			case tt.set == "gone":
				exec(`DELETE FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
			case tt.set != "":
				exec(`UPDATE relation SET `+tt.set+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
			case tt.arch != "":
				exec(`UPDATE relation_archive SET `+tt.arch+` WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
			}
			if tt.said != nil {
				tt.said.Ver = fresh(t, s, id).Ver
			}
			done, err := s.Rebuild(t.Context(), id, tt.said)
			if !errors.Is(err, tt.err) {
				t.Fatalf("got %+v, %v, want %v", done, err, tt.err)
			}
			if tt.err != nil {
				return
			}
			c, got, old := followers(t, s, id)
			if !slices.Equal(got, want) || c != (relation.Counts{Followers: 8}) {
				t.Errorf("got %v, %+v, want %v", got, c, want)
			}
			if _, err := s.Trim(t.Context(), id, 1); err != nil {
				t.Fatal(err)
			}
			if c, got, now := followers(t, s, id); !slices.Equal(got, want) || c.Followers != 8 || now != 7 || now < old {
				t.Errorf("after another trim: got %v, %+v, %d archived, want %v", got, c, now, want)
			}
		})
	}
}

// An id that stands more than once stands once afterwards, with the earlier time.
func TestStore_Rebuild_Doubles(t *testing.T) {
	s := open(t, cache.NewNone())
	id := dbtest.IDs(t, 1)[0]
	archived(t, s, id, []uint64{11, 12, 13, 14}, 2) // 11 and 12 are archived
	d, err := relation.Open(fresh(t, s, id))
	if err != nil {
		t.Fatal(err)
	}
	d.AddFollower(11, 90)
	d.AddFollowing(12, 91)
	row, err := d.Pack(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if won, err := s.Swap(t.Context(), []relation.Row{row}); !won || err != nil {
		t.Fatal(won, err)
	}
	done, err := s.Rebuild(t.Context(), id, nil)
	if err != nil {
		t.Fatalf("got %+v, %v", done, err)
	}
	c, got, old := followers(t, s, id)
	if want := []list.Entry{{ID: 11, Time: 1}, {ID: 13, Time: 3}, {ID: 14, Time: 4}}; !slices.Equal(got, want) || old != 0 {
		t.Errorf("got %v, %d archived, want %v", got, old, want)
	}
	if c != (relation.Counts{Friends: 1, Followers: 4, Following: 1}) {
		t.Errorf("got %+v, want 12 for a friend", c)
	}
}

// An edit that searches the archive finds who is there, whatever the counts say.
func TestDraft_Search(t *testing.T) {
	s := open(t, cache.NewNone())
	c := committer.New(s, committer.Config{})
	defer c.Close(t.Context())
	ids := dbtest.IDs(t, 2)
	star, fan := ids[0], ids[1]
	archived(t, s, star, []uint64{fan, 2, 3, 4, 5, 6}, 2)
	if _, err := dbtest.DB(t).Exec(`UPDATE relation SET followers = 2, archived = '' WHERE bucket = ? AND account_id = ?`, repo.Bucket(star), star); err != nil {
		t.Fatal(err)
	}
	err := c.Do(t.Context(), []uint64{star}, func(rows map[uint64]*relation.Draft) error {
		d := rows[star]
		searched, other := d.Search(fan), d.Search(99)
		if !searched || !other {
			return relation.ErrRecall
		}
		if _, at := d.Times(fan); at != 1 || d.Rel(99) != 0 {
			t.Errorf("got %d since %d, want the archived one since 1", d.Rel(fan), at)
		}
		d.AddFollower(7, 70)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rebuild(t.Context(), star, nil); err != nil { // counts it anew
		t.Fatal(err)
	}
	if got, all, _ := followers(t, s, star); got != (relation.Counts{Followers: 7}) || len(all) != 7 {
		t.Errorf("got %+v and %v, want 7 followers", got, all)
	}
}

// Salvage never panics, and what it returns can be stored.
func FuzzSalvage(f *testing.F) {
	l := list.New()
	l.Merge([]list.Edge{{ID: 1, Time: 1}, {ID: 2, Time: 2, Out: true}, {ID: 1, Time: 4, Out: true}, {ID: 1 << 40, Time: 9}})
	l.Put(list.Blocking, 5, 6)
	if _, err := l.SetOption(2, list.Option{Note: true, Languages: []string{"de"}}); err != nil {
		f.Fatal(err)
	}
	b, err := l.Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		l, lost := relation.Salvage(b)
		packed, err := l.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := list.Parse(packed)
		if err == nil {
			err = v.Check()
		}
		if err != nil {
			t.Fatalf("salvaged %x to %x: %v", b, packed, err)
		}
		if whole, err := list.Parse(b); err == nil && whole.Check() == nil && (len(lost) > 0 || string(packed) != string(b)) {
			t.Errorf("salvaged a good list %x to %x, lost %v", b, packed, lost)
		}
	})
}
