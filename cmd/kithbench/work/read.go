package work

import (
	"context"
	"fmt"
	"slices"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// askers is how many clients ask at once.
const askers = 16

// states asks what 100 accounts are to a viewer, who knows half of them.
func (b *Bench) states(ctx context.Context, peers []peer.Peer) error {
	accounts := b.Graph.Accounts()
	var loads []load
	for _, edges := range graph.ViewerSizes {
		loads = append(loads, rate("states of 100", fmt.Sprintf("viewer with %d edges", edges), "answers/s",
			b.asking(peers, askers, func(ctx context.Context, p peer.Peer, c *client) error {
				ids := make([]uint64, 0, 100)
				known := edges * 3 / 4
				for i := range 50 {
					ids = append(ids, graph.ViewerKnows((c.IntN(known)/50*50+i)%known))
				}
				from := c.IntN(len(accounts) - 50)
				_, err := p.States(ctx, graph.Viewer(edges), append(ids, accounts[from:from+50]...))
				return err
			})))
	}
	return b.run(ctx, loads...)
}

const pageSize = 40

// pages asks for pages of 40 followers: the first of all kinds of accounts, and
// page 200 of a long list, or one within five of it, by cursor.
func (b *Bench) pages(ctx context.Context, peers []peer.Peer) error {
	var order []peer.Entry
	for _, e := range b.Graph.Edges {
		if e.To == graph.Long {
			order = append(order, peer.Entry{ID: e.From, At: e.At})
		}
	}
	slices.SortFunc(order, peer.NewestFirst)
	deep := func(c *client) int { return pageSize * (195 + c.IntN(10)) }
	return b.run(ctx,
		rate("page of 40", "first", "pages/s", b.asking(peers, askers, func(ctx context.Context, p peer.Peer, c *client) error {
			_, to := b.Graph.Pair(c.Rand)
			_, err := p.Page(ctx, peer.Followers, to, peer.Entry{}, pageSize)
			return err
		})),
		rate("page of 40", "200th by key", "pages/s", b.asking(peers, askers, func(ctx context.Context, p peer.Peer, c *client) error {
			_, err := p.Page(ctx, peer.Followers, graph.Long, order[deep(c)], pageSize)
			return err
		})))
}

// action is one thing that a mix does, and how often.
type action struct {
	weight float64
	do     func(m *mixer, ctx context.Context, p peer.Peer, c *client) error
}

// linkBench is the mix of LinkBench (SIGMOD 2013) without changes of nodes, since peers keep
// only edges. Reading a node is reading the counts of an account, and updating a link is a
// follow that is there already.
var linkBench = []action{
	{50.7, (*mixer).list}, {12.9, (*mixer).node}, {9.0, (*mixer).add}, {8.0, (*mixer).again},
	{4.9, (*mixer).counts}, {3.0, (*mixer).remove}, {0.5, (*mixer).edge},
}

// tao is the mix of TAO (USENIX ATC 2013): 99.8 per cent of it reads.
var tao = []action{
	{40.9, (*mixer).list}, {28.9, (*mixer).node}, {15.7, (*mixer).edge}, {11.7, (*mixer).counts}, {2.8, (*mixer).since},
	{0.15, (*mixer).add}, {0.05, (*mixer).remove},
}

// mixClients is how many clients a mix has.
const mixClients = 32

// mixed runs the mixes. Accounts are drawn by Zipf's law, with the exponents of LinkBench:
// 0.8 for reads, 0.741 for changes.
func (b *Bench) mixed(ctx context.Context, peers []peer.Peer) error {
	accounts := b.Graph.Accounts()
	m := &mixer{graph: b.Graph, reads: graph.NewZipf(accounts, 0.8), writes: graph.NewZipf(accounts, 0.741)}
	return b.run(ctx,
		rate("mixed", "LinkBench", "actions/s", b.asking(peers, mixClients, m.mix(linkBench))),
		rate("mixed", "TAO", "actions/s", b.asking(peers, mixClients, m.mix(tao))))
}

// mixer draws accounts for the actions of a mix.
type mixer struct {
	graph         *graph.Graph
	reads, writes *graph.Zipf
}

func (m *mixer) mix(actions []action) func(context.Context, peer.Peer, *client) error {
	sum := 0.0
	for _, a := range actions {
		sum += a.weight
	}
	return func(ctx context.Context, p peer.Peer, c *client) error {
		x := c.Float64() * sum
		for _, a := range actions {
			if x -= a.weight; x < 0 {
				return a.do(m, ctx, p, c)
			}
		}
		return nil
	}
}

func (m *mixer) list(ctx context.Context, p peer.Peer, c *client) error {
	_, err := p.Page(ctx, peer.Followers, m.reads.Draw(c.Rand), peer.Entry{}, pageSize)
	return err
}

// since asks for the followers before the time of some edge.
func (m *mixer) since(ctx context.Context, p peer.Peer, c *client) error {
	at := m.graph.Edges[c.IntN(m.graph.Own)].At
	_, err := p.Page(ctx, peer.Followers, m.reads.Draw(c.Rand), peer.Entry{ID: 1, At: at}, pageSize)
	return err
}

func (m *mixer) node(ctx context.Context, p peer.Peer, c *client) error {
	_, err := p.Counts(ctx, []uint64{m.reads.Draw(c.Rand)})
	return err
}

func (m *mixer) counts(ctx context.Context, p peer.Peer, c *client) error {
	ids := make([]uint64, 10)
	for i := range ids {
		ids[i] = m.reads.Draw(c.Rand)
	}
	_, err := p.Counts(ctx, ids)
	return err
}

func (m *mixer) edge(ctx context.Context, p peer.Peer, c *client) error {
	_, err := p.States(ctx, m.reads.Draw(c.Rand), []uint64{m.reads.Draw(c.Rand)})
	return err
}

func (m *mixer) add(ctx context.Context, p peer.Peer, c *client) error {
	from, to := m.pair(c)
	return p.Follow(ctx, from, to, changesFrom+uint32(c.IntN(1<<24)))
}

// again follows an account that is followed already.
func (m *mixer) again(ctx context.Context, p peer.Peer, c *client) error {
	e := m.graph.Edges[c.IntN(m.graph.Own)]
	return p.Follow(ctx, e.From, e.To, e.At)
}

func (m *mixer) remove(ctx context.Context, p peer.Peer, c *client) error {
	from, to := m.pair(c)
	return p.Unfollow(ctx, from, to)
}

func (m *mixer) pair(c *client) (from, to uint64) {
	for from == to {
		from, to = m.writes.Draw(c.Rand), m.writes.Draw(c.Rand)
	}
	return from, to
}
