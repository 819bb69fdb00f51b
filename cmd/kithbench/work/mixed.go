package work

import (
	"cmp"
	"context"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// action is one thing that a mix does, and how often.
type action struct {
	weight float64
	do     func(m *mixer, ctx context.Context, c *client) error
}

// linkBench is the mix of LinkBench (SIGMOD 2013). Changes of nodes are left
// out, since peers keep only edges; what remains keeps its proportions. A node
// that is read is the counts of an account, and an update of a link a follow
// that is there already.
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

// Mixed runs the mixes. Who is asked about follows a Zipf law, with the
// exponents of LinkBench: 0.8 for reads, 0.741 for changes.
func (b *Bench) Mixed(ctx context.Context) error {
	var loads []load
	for _, m := range []struct {
		name string
		mix  []action
	}{{"LinkBench", linkBench}, {"TAO", tao}} {
		loads = append(loads, load{work: "mixed", name: m.name, unit: "actions/s", clients: mixClients, variants: true, skip: without(peer.NaiveName, peer.PackedName),
			begin: func(_ context.Context, p peer.Peer, _ int) (turn, error) {
				return turn{do: b.mix(p, m.mix)}, nil
			}})
	}
	return b.run(ctx, loads...)
}

// mixer is one peer under a mix.
type mixer struct {
	peer          peer.Peer
	graph         *graph.Graph
	reads, writes *graph.Zipf
}

func (b *Bench) mix(p peer.Peer, mix []action) func(context.Context, *client) error {
	m := &mixer{peer: p, graph: b.Graph, reads: graph.NewZipf(b.drawn.accounts, 0.8), writes: graph.NewZipf(b.drawn.accounts, 0.741)}
	sum := 0.0
	for _, a := range mix {
		sum += a.weight
	}
	return func(ctx context.Context, c *client) error {
		x := c.Float64() * sum
		for _, a := range mix {
			if x -= a.weight; x < 0 {
				return a.do(m, ctx, c)
			}
		}
		return nil
	}
}

func (m *mixer) list(ctx context.Context, c *client) error {
	_, err := m.peer.Followers(ctx, m.reads.Draw(c.Rand), peer.Entry{}, pageSize)
	return err
}

// since asks for the followers before a moment somewhere in the graph's years.
func (m *mixer) since(ctx context.Context, c *client) error {
	at := m.graph.Edges[c.IntN(m.graph.Own)].At
	_, err := m.peer.Followers(ctx, m.reads.Draw(c.Rand), peer.Entry{ID: 1, At: at}, pageSize)
	return err
}

func (m *mixer) node(ctx context.Context, c *client) error {
	_, err := m.peer.Counts(ctx, []uint64{m.reads.Draw(c.Rand)})
	return err
}

func (m *mixer) counts(ctx context.Context, c *client) error {
	ids := make([]uint64, 10)
	for i := range ids {
		ids[i] = m.reads.Draw(c.Rand)
	}
	_, err := m.peer.Counts(ctx, ids)
	return err
}

func (m *mixer) edge(ctx context.Context, c *client) error {
	_, err := m.peer.States(ctx, m.reads.Draw(c.Rand), []uint64{m.reads.Draw(c.Rand)})
	return err
}

func (m *mixer) add(ctx context.Context, c *client) error {
	from, to := m.pair(c)
	return m.peer.Follow(ctx, from, to, changesFrom+uint32(c.IntN(1<<24)))
}

// again follows somebody who is followed already.
func (m *mixer) again(ctx context.Context, c *client) error {
	e := m.graph.Edges[c.IntN(m.graph.Own)]
	return m.peer.Follow(ctx, e.From, e.To, e.At)
}

func (m *mixer) remove(ctx context.Context, c *client) error {
	from, to := m.pair(c)
	return m.peer.Unfollow(ctx, from, to)
}

func (m *mixer) pair(c *client) (from, to uint64) {
	for {
		from, to = m.writes.Draw(c.Rand), m.writes.Draw(c.Rand)
		if from != to {
			return from, to
		}
	}
}
