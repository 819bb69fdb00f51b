package peer

import (
	"cmp"
	"context"
	"slices"

	"kith/cmd/kithbench/graph"
)

// Plain is a peer too simple to be wrong: maps that are sorted when they are read.
type Plain struct {
	Peer    // nil: only the methods below are called
	Out, In map[uint64]map[uint64]uint32
}

// NewPlain returns a plain map of a graph.
func NewPlain(g *graph.Graph) *Plain {
	p := &Plain{Out: map[uint64]map[uint64]uint32{}, In: map[uint64]map[uint64]uint32{}}
	for _, e := range g.Edges {
		_ = p.Follow(context.Background(), e.From, e.To, e.At)
	}
	return p
}

func (p *Plain) Name() string { return "a plain map" }

func (p *Plain) Follow(_ context.Context, from, to uint64, at uint32) error {
	if _, there := p.Out[from][to]; !there {
		put(p.Out, from, to, at)
		put(p.In, to, from, at)
	}
	return nil
}

func put(m map[uint64]map[uint64]uint32, a, b uint64, at uint32) {
	if m[a] == nil {
		m[a] = map[uint64]uint32{}
	}
	m[a][b] = at
}

func (p *Plain) Unfollow(_ context.Context, from, to uint64) error {
	delete(p.Out[from], to)
	delete(p.In[to], from)
	return nil
}

func (p *Plain) States(_ context.Context, viewer uint64, ids []uint64) ([]State, error) {
	states := make([]State, len(ids))
	for i, id := range ids {
		_, states[i].Following = p.Out[viewer][id]
		_, states[i].FollowedBy = p.In[viewer][id]
	}
	return states, nil
}

func (p *Plain) Page(_ context.Context, l List, id uint64, before Entry, limit int) ([]Entry, error) {
	if l == Following {
		return page(p.Out[id], before, limit), nil
	}
	return page(p.In[id], before, limit), nil
}

func page(m map[uint64]uint32, before Entry, limit int) []Entry {
	all := make([]Entry, 0, len(m))
	for id, at := range m {
		if e := (Entry{ID: id, At: at}); before == (Entry{}) || NewestFirst(before, e) < 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, NewestFirst)
	return all[:min(limit, len(all))]
}

// NewestFirst orders the entries of a list.
func NewestFirst(a, b Entry) int {
	return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
}

func (p *Plain) Counts(_ context.Context, ids []uint64) ([]Counts, error) {
	counts := make([]Counts, len(ids))
	for i, id := range ids {
		counts[i] = Counts{Following: int64(len(p.Out[id])), Followers: int64(len(p.In[id]))}
	}
	return counts, nil
}
