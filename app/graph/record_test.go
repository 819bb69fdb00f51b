package graph

import (
	"cmp"
	"context"
	"io"
	"slices"
	"testing"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/spill"
)

func TestOwnerKey(t *testing.T) {
	ids := []uint64{1, 2, 1023, 1024, 1025, 2047, 2048, 1 << 32, 1<<63 - 1, 1<<63 - 1024}
	byKey := slices.SortedFunc(slices.Values(ids), repo.CompareKeys)
	for i, id := range byKey {
		if got := accountOf(ownerKey(id)); got != id {
			t.Errorf("got %d back, want %d", got, id)
		}
		if ownerKey(id)>>63 != 0 {
			t.Errorf("key of %d uses the top bit", id)
		}
		if i > 0 && ownerKey(byKey[i-1]) >= ownerKey(id) {
			t.Errorf("key of %d is not below that of %d", byKey[i-1], id)
		}
	}
}

// TestGrouper_Times: the smallest known time counts on both sides.
func TestGrouper_Times(t *testing.T) {
	tests := map[string]struct {
		times []uint32
		want  uint32
	}{
		"one":              {[]uint32{5}, 5},
		"unknown":          {[]uint32{0}, 0},
		"all unknown":      {[]uint32{0, 0}, 0},
		"smallest":         {[]uint32{9, 5, 7}, 5},
		"known":            {[]uint32{0, 5, 0}, 5},
		"largest possible": {[]uint32{0, 1<<32 - 1}, 1<<32 - 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := spill.New(spill.Config{})
			for _, at := range tt.times {
				out, in := edge{10, 20, at}.sides()
				s.Add(t.Context(), out)
				s.Add(t.Context(), in)
			}
			if err := s.Sort(t.Context()); err != nil {
				t.Fatal(err)
			}
			c := groups(t, &grouper{records: s.Walk(), limits: limitsOf(512 << 20)})[0]
			want := []list.Edge{{ID: 20, Time: tt.want, Out: true}}
			if !slices.Equal(c[0].edges, want) || c[0].id != 10 {
				t.Errorf("follower: got %v, want %v", c[0], want)
			}
			want = []list.Edge{{ID: 10, Time: tt.want}}
			if !slices.Equal(c[1].edges, want) || c[1].id != 20 {
				t.Errorf("followee: got %v, want %v", c[1], want)
			}
		})
	}
}

func groups(t *testing.T, g *grouper) (all []chunk) {
	t.Helper()
	for {
		c, err := g.chunk()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
}

func TestGrouper_Chunks(t *testing.T) {
	s, only := spill.New(spill.Config{}), spill.New(spill.Config{})
	for i := range uint64(1000) {
		out, in := edge{1 + i, 2001 + i%3, 7}.sides()
		s.Add(t.Context(), out)
		s.Add(t.Context(), in)
		if i%10 == 0 {
			only.Add(t.Context(), spill.Record{Hi: ownerKey(1 + i)})
		}
	}
	only.Add(t.Context(), spill.Record{Hi: ownerKey(2002)})
	for _, sorter := range []*spill.Sorter{s, only} {
		if err := sorter.Sort(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		only         *spill.Walk
		limits       limits
		owners, most int
	}{
		"All":      {nil, limits{accounts: 100, bytes: 1 << 20}, 1003, 100},
		"ByBytes":  {nil, limits{accounts: 100, bytes: 50 * packedEdge}, 1003, 50},
		"Only":     {only.Walk(), limits{accounts: 7, bytes: 1 << 20}, 101, 7},
		"OnlyOnes": {only.Walk(), limits{accounts: 1, bytes: 1 << 20}, 101, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			edges, last := map[uint64][]list.Edge{}, uint64(0)
			for _, c := range groups(t, &grouper{records: s.Walk(), only: tt.only, limits: tt.limits}) {
				if len(c) > tt.most {
					t.Errorf("got %d accounts in a chunk, want %d at most", len(c), tt.most)
				}
				for i, o := range c {
					if key := ownerKey(o.id); key < last || key == last && i > 0 {
						t.Errorf("account %d comes out of order", o.id)
					} else {
						last = key
					}
					if n := len(o.edges) * packedEdge; n > tt.limits.bytes {
						t.Errorf("account %d: %d bytes of edges at once, want %d at most", o.id, n, tt.limits.bytes)
					}
					edges[o.id] = append(edges[o.id], o.edges...)
				}
			}
			for id, got := range edges {
				if want := cmp.Or(map[uint64]int{2001: 334, 2002: 333, 2003: 333}[id], 1); len(got) != want || !slices.IsSortedFunc(got, func(a, b list.Edge) int { return cmp.Compare(a.ID, b.ID) }) {
					t.Errorf("account %d: got %d edges, want %d in order", id, len(got), want)
				}
			}
			if len(edges) != tt.owners {
				t.Errorf("got %d accounts, want %d", len(edges), tt.owners)
			}
		})
	}
}

func TestChunk_Parts(t *testing.T) {
	c := chunk{{id: 1}, {id: 2}, {id: 3}, {id: 4}}
	outlines := map[uint64]relation.Outline{1: {Columns: relation.Columns{KeptFollowers: 6}}, 2: {Columns: relation.Columns{KeptFollowers: 6}}, 3: {Columns: relation.Columns{KeptFollowers: 50}}, 4: {Columns: relation.Columns{KeptFollowing: 1}}}
	var got [][]uint64
	for p := range c.parts(outlines, 120) {
		got = append(got, p.ids())
	}
	want := [][]uint64{{1, 2}, {3}, {4}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}
