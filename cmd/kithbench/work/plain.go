package work

import (
	"context"
	"slices"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// plain is the peer that is too simple to be wrong: maps, sorted when asked.
type plain struct{ out, in map[uint64]map[uint64]uint32 }

var (
	_ peer.Peer    = (*plain)(nil)
	_ peer.Skipper = (*plain)(nil)
)

func newPlain(g *graph.Graph) *plain {
	p := &plain{out: map[uint64]map[uint64]uint32{}, in: map[uint64]map[uint64]uint32{}}
	_ = p.Load(context.Background(), g)
	return p
}

func (p *plain) Name() string { return "a plain map" }

func (p *plain) Load(ctx context.Context, g *graph.Graph) error {
	for _, e := range g.Edges {
		_ = p.Follow(ctx, e.From, e.To, e.At)
	}
	return nil
}

func (p *plain) Follow(_ context.Context, from, to uint64, at uint32) error {
	if _, there := p.out[from][to]; there {
		return nil
	}
	put(p.out, from, to, at)
	put(p.in, to, from, at)
	return nil
}

func put(m map[uint64]map[uint64]uint32, a, b uint64, at uint32) {
	if m[a] == nil {
		m[a] = map[uint64]uint32{}
	}
	m[a][b] = at
}

func (p *plain) Unfollow(_ context.Context, from, to uint64) error {
	delete(p.out[from], to)
	delete(p.in[to], from)
	return nil
}

func (p *plain) States(_ context.Context, viewer uint64, ids []uint64) ([]peer.State, error) {
	states := make([]peer.State, len(ids))
	for i, id := range ids {
		_, out := p.out[viewer][id]
		_, in := p.in[viewer][id]
		states[i] = peer.State{Following: out, FollowedBy: in}
	}
	return states, nil
}

func (p *plain) Followers(_ context.Context, id uint64, before peer.Entry, limit int) ([]peer.Entry, error) {
	return page(p.in[id], before, limit), nil
}

func (p *plain) Following(_ context.Context, id uint64, before peer.Entry, limit int) ([]peer.Entry, error) {
	return page(p.out[id], before, limit), nil
}

func (p *plain) FollowersAfter(_ context.Context, id uint64, skip, limit int) ([]peer.Entry, error) {
	all := page(p.in[id], peer.Entry{}, skip+limit)
	return all[min(skip, len(all)):], nil
}

func page(m map[uint64]uint32, before peer.Entry, limit int) []peer.Entry {
	all := make([]peer.Entry, 0, len(m))
	for id, at := range m {
		if e := (peer.Entry{ID: id, At: at}); before == (peer.Entry{}) || newestFirst(before, e) < 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, newestFirst)
	return all[:min(limit, len(all))]
}

func (p *plain) Counts(_ context.Context, ids []uint64) ([]peer.Counts, error) {
	counts := make([]peer.Counts, len(ids))
	for i, id := range ids {
		counts[i] = peer.Counts{Following: int64(len(p.out[id])), Followers: int64(len(p.in[id]))}
	}
	return counts, nil
}

func (p *plain) Space(context.Context) (peer.Space, error) { return peer.Space{}, nil }
func (p *plain) Close() error                              { return nil }
