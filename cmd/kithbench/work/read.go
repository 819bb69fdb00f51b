package work

import (
	"context"
	"fmt"
	"slices"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// readers is how many clients ask at once.
const readers = 16

// ViewerSizes are how many edges the viewers of the work states have.
var ViewerSizes = []int{200, 2_000, 20_000}

// States asks what 100 people are to a viewer, half of them people he knows.
func (b *Bench) States(ctx context.Context) error {
	var loads []load
	for _, edges := range ViewerSizes {
		loads = append(loads, load{work: "states of 100", name: fmt.Sprintf("viewer with %d edges", edges), unit: "answers/s", clients: readers,
			skip: without(peer.NaiveName, peer.PackedName),
			begin: reads(func(ctx context.Context, p peer.Peer, c *client) error {
				_, err := p.States(ctx, graph.Viewer(edges), b.hundred(c, edges))
				return err
			})})
	}
	return b.run(ctx, loads...)
}

// hundred draws 100 different people, about half of them known to a viewer.
func (b *Bench) hundred(c *client, edges int) []uint64 {
	ids := make([]uint64, 0, 100)
	known := edges * 3 / 4
	for i := range 50 {
		ids = append(ids, graph.ViewerKnows((c.IntN(known)/50*50+i)%known))
	}
	from := c.IntN(len(b.drawn.accounts) - 50)
	return append(ids, b.drawn.accounts[from:from+50]...)
}

const pageSize = 40

// deep is the page that the cases of deep pages ask for, and those about it.
const deep = 200

// Pages asks for pages of 40 followers: the first of all kinds of accounts, and
// page 200 of a long list, by its cursor and, of those who page so, by offset.
func (b *Bench) Pages(ctx context.Context) error {
	order := b.drawn.followers(graph.Long())
	page := load{work: "page of 40", unit: "pages/s", clients: readers, skip: without(peer.NaiveName, peer.PackedName)}
	first, key, offset := page, page, page
	first.name, first.begin = "first", reads(func(ctx context.Context, p peer.Peer, c *client) error {
		_, to := b.Graph.Pair(c.Rand)
		_, err := p.Followers(ctx, to, peer.Entry{}, pageSize)
		return err
	})
	key.name, key.begin = "200th by key", reads(func(ctx context.Context, p peer.Peer, c *client) error {
		before := order[pageSize*(deep-5+c.IntN(10))]
		_, err := p.Followers(ctx, graph.Long(), before, pageSize)
		return err
	})
	offset.name, offset.begin = "200th by offset", reads(func(ctx context.Context, p peer.Peer, c *client) error {
		_, err := p.(peer.Skipper).FollowersAfter(ctx, graph.Long(), pageSize*(deep-5+c.IntN(10)), pageSize)
		return err
	})
	offset.skip = func(p peer.Peer) bool { _, ok := p.(peer.Skipper); return !ok }
	return b.run(ctx, first, key, offset)
}

// draws are what cases draw from.
type draws struct {
	graph    *graph.Graph
	accounts []uint64 // of the graph, the most followed first
}

// Prepare makes what the works draw from.
func (b *Bench) Prepare() {
	n := make(map[uint64]int)
	for _, e := range b.Graph.Edges[:b.Graph.Own] {
		n[e.To]++
	}
	ids := b.Graph.Accounts()
	slices.SortFunc(ids, func(x, y uint64) int {
		if n[x] != n[y] {
			return n[y] - n[x]
		}
		return compare(x, y)
	})
	b.drawn = draws{graph: b.Graph, accounts: ids}
}

// followers returns who follows an account, the latest first.
func (d *draws) followers(id uint64) (all []peer.Entry) {
	for _, e := range d.graph.Edges {
		if e.To == id {
			all = append(all, peer.Entry{ID: e.From, At: e.At})
		}
	}
	slices.SortFunc(all, newestFirst)
	return all
}

func newestFirst(a, b peer.Entry) int {
	if a.At != b.At {
		return compare(b.At, a.At)
	}
	return compare(b.ID, a.ID)
}
