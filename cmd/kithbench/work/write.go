package work

import (
	"context"
	"fmt"
	"sync/atomic"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// Stars is how many accounts with full lists the works need in all.
func Stars(rounds int) int { return len(hotClients)*rounds + len(Processes)*rounds }

var hotClients = []int{64, 256}

// Hot lets n clients follow one account that has a full list already, each time
// by somebody new. The follower's own row is part of it.
func (b *Bench) Hot(ctx context.Context) error {
	for i, n := range hotClients {
		err := b.run(ctx, load{work: "hot", name: fmt.Sprintf("%d clients", n), unit: "follows/s", clients: n,
			begin: func(p peer.Peer, round int) (func(context.Context, *client) error, error) {
				star := i*b.Rounds + round
				return followers(p, graph.Star(star), graph.Fresh+uint64(star)*1_000_000), nil
			}})
		if err != nil {
			return err
		}
	}
	return nil
}

// followers makes clients who follow one account as somebody new each time.
func followers(p peer.Peer, star, first uint64) func(context.Context, *client) error {
	var next atomic.Uint64
	return func(ctx context.Context, _ *client) error {
		n := next.Add(1)
		return p.Follow(ctx, first+n, star, changesFrom+uint32(n))
	}
}

// changesFrom is the moment of the first change, later than all of the graph.
const changesFrom = 1_720_000_000

// Spread lets clients follow and unfollow all over the graph, as often as its
// own degrees say. A client unfollows only what it followed.
func (b *Bench) Spread(ctx context.Context) error {
	for _, n := range []int{64, 256} {
		err := b.run(ctx, load{work: "spread", name: fmt.Sprintf("%d clients", n), unit: "changes/s", clients: n,
			begin: func(p peer.Peer, round int) (func(context.Context, *client) error, error) {
				return b.changes(p, n), nil
			}})
		if err != nil {
			return err
		}
	}
	return nil
}

// One is one follow at a time on an idle machine: how long it takes.
func (b *Bench) One(ctx context.Context) error {
	return b.run(ctx, load{work: "one follow", name: "1 client", unit: "ms", clients: 1, latency: true,
		begin: func(p peer.Peer, round int) (func(context.Context, *client) error, error) {
			return b.changes(p, 1), nil
		}})
}

// changes makes clients who follow a pair of the graph, and every other time
// unfollow one of those again.
func (b *Bench) changes(p peer.Peer, clients int) func(context.Context, *client) error {
	mine := make([][][2]uint64, clients)
	var at atomic.Uint32
	at.Store(changesFrom)
	return func(ctx context.Context, c *client) error {
		made := mine[c.n]
		if c.IntN(2) == 0 && len(made) > 0 {
			i := c.IntN(len(made))
			edge := made[i]
			made[i] = made[len(made)-1]
			mine[c.n] = made[:len(made)-1]
			return p.Unfollow(ctx, edge[0], edge[1])
		}
		from, to := b.Graph.Pair(c.Rand)
		mine[c.n] = append(made, [2]uint64{from, to})
		return p.Follow(ctx, from, to, at.Add(1))
	}
}
