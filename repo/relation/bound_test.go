package relation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// However much others and the account itself put into a row, it stays within its
// bound, and nothing is lost: what is over it lies in the archive.
func TestDraft_Pack_Bound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := open(t, cache.NewNone())
	id := dbtest.IDs(t, 1)[0]
	const limit = 10_000
	languages := make([]string, list.MaxLanguages)
	for i := range languages {
		languages[i] = strings.Repeat("x", list.MaxLanguage)
	}
	row := fresh(t, s, id)
	want := map[list.Section]int{}
	next := uint64(1 << 40) // ids of 8 bytes
	for round := range 3 {
		d, err := relation.Open(row)
		if err != nil {
			t.Fatal(err)
		}
		for range 9_000 {
			d.AddFollower(next, r.Uint32())
			d.AddFollowing(next, r.Uint32())
			d.AddFollower(next+1, r.Uint32())
			d.AddFollowing(next+2, r.Uint32())
			next += 3
		}
		for s := list.Friends; s <= list.Following; s++ {
			want[s] += 9_000
		}
		for range 900 {
			for s := list.Blocking; s <= list.Requested; s++ {
				d.Put(s, next, r.Uint32())
			}
			if _, err := d.SetOption(next, list.Option{Notify: true, Languages: languages}); err != nil {
				t.Fatal(err)
			}
			next++
		}
		for s := list.Blocking; s <= list.Options; s++ {
			want[s] += 900
		}
		if row, err = d.Pack(1, limit, 2); err != nil {
			t.Fatal(err)
		}
		if len(row.List) > relation.MaxList {
			t.Errorf("round %d: a list of %d bytes, want %d at most", round, len(row.List), relation.MaxList)
		}
		swapped(t, s, []relation.Row{row})
		row = fresh(t, s, id)
	}
	for s, n := range want {
		if got, _, err := row.Totals(s); err != nil || got != n {
			t.Errorf("%s: %d, %v; want %d", s, got, err, n)
		}
	}
	wantArchive(t, s, row, want)
}

// wantArchive reads everything of an account and counts it.
func wantArchive(t *testing.T, s *relation.Store, row relation.Row, want map[list.Section]int) {
	t.Helper()
	got := map[list.Section]int{}
	_, archive, err := s.Whole(t.Context(), row.ID)
	if err != nil {
		t.Fatal(err)
	}
	v, err := row.View()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(archive, v) {
		if err := v.Check(); err != nil {
			t.Error(err)
		}
		for s := list.Friends; s <= list.Options; s++ {
			got[s] += v.Len(s)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("row and archive hold %v, want %v", got, want)
	}
}

// Segments of a section do not overlap, whatever places the entries that come have:
// times in ties, unknown, or older than all that is archived.
func TestStore_Swap_SegmentsApart(t *testing.T) {
	for name, at := range map[string]func(*rand.Rand) uint32{
		"Newer":   nil,
		"Ties":    func(r *rand.Rand) uint32 { return r.Uint32N(3) },
		"Unknown": func(*rand.Rand) uint32 { return 0 },
		"Random":  func(r *rand.Rand) uint32 { return r.Uint32N(1 << 30) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			s := open(t, cache.NewNone())
			id := dbtest.IDs(t, 1)[0]
			var all []list.Entry
			for round := range 8 {
				edges := make([]list.Edge, 7_000)
				for i := range edges {
					edges[i] = list.Edge{ID: 1 + r.Uint64N(1<<40), Time: uint32(round*len(edges) + i)}
					if at != nil {
						edges[i].Time = at(r)
					}
					all = append(all, list.Entry{ID: edges[i].ID, Time: edges[i].Time})
				}
				if _, err := s.MergeLocked(t.Context(), id, edges, func(d *relation.Draft, left []list.Edge) { d.Merge(left) }); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Trim(t.Context(), id, 100); err != nil {
					t.Fatal(err)
				}
			}
			headers, err := s.Headers(t.Context(), id)
			if err != nil || len(headers) < 4 || len(headers) > 12 {
				t.Fatalf("%d segments, %v", len(headers), err)
			}
			for i, h := range headers {
				if i > 0 && headers[i-1].Oldest().Compare(h.Newest()) <= 0 {
					t.Errorf("segment %+v overlaps %+v", headers[i-1], h)
				}
			}
			slices.SortFunc(all, func(a, b list.Entry) int { return b.Cursor().Compare(a.Cursor()) })
			row := fresh(t, s, id)
			for range 40 {
				i := r.IntN(len(all) - 90)
				for _, limit := range []int{1, 40, 80} {
					down, err := s.Page(t.Context(), row, list.ByFollower, list.Range{Before: all[i].Cursor(), Limit: limit})
					if err != nil || !slices.Equal(down, all[i+1:i+1+limit]) {
						t.Fatalf("%d after place %d: %v, %v; want %v", limit, i, down, err, all[i+1:i+1+limit])
					}
					up, err := s.Page(t.Context(), row, list.ByFollower, list.Range{After: all[i+1+limit].Cursor(), Limit: limit, Oldest: true})
					if err != nil || !slices.Equal(up, all[i+1:i+1+limit]) {
						t.Fatalf("%d before place %d: %v, %v", limit, i, up, err)
					}
				}
			}
		})
	}
}
