package work

import (
	"context"
	"fmt"
	"sync/atomic"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// Stars is how many accounts with full lists the works need in all: one for each
// case and round, and one on which processes warm up.
func Stars(rounds int) int { return (len(hotClients)+len(Processes))*rounds + 1 }

var hotClients = []int{64, 256}

// mostNaive is the most clients that fight for one row by themselves: a call of
// one of 256 takes about two seconds, so that a round of one says nothing.
const mostNaive = 64

// Hot lets n clients follow one account that has a full list already, each time
// by somebody new. The follower's own row is part of it.
func (b *Bench) Hot(ctx context.Context) error {
	var loads []load
	for i, n := range hotClients {
		loads = append(loads, load{work: "hot", name: fmt.Sprintf("%d clients", n), unit: "follows/s", clients: n,
			skip: func(p peer.Peer) bool { return p.Name() == peer.NaiveName && n > mostNaive },
			begin: func(ctx context.Context, p peer.Peer, round int) (turn, error) {
				star := i*b.Rounds + round
				before, err := followersOf(ctx, p, graph.Star(star))
				if err != nil {
					return turn{}, err
				}
				c := newCrowd(p, graph.Star(star), firstFan(star), n)
				return turn{do: c.follow, after: c.after(before)}, nil
			}})
	}
	return b.run(ctx, loads...)
}

// firstFan is before the first of those who follow a star while it is timed.
func firstFan(star int) uint64 { return graph.Fresh + uint64(star)*graph.FreshEach }

// changesFrom is the moment of the first change, later than all of the graph.
const changesFrom = 1_720_000_000

// Spread lets clients follow and unfollow all over the graph, as often as its
// own degrees say. A client unfollows only what it followed.
func (b *Bench) Spread(ctx context.Context) error {
	var loads []load
	for _, n := range []int{64, 256} {
		loads = append(loads, load{work: "spread", name: fmt.Sprintf("%d clients", n), unit: "changes/s", clients: n,
			begin: func(_ context.Context, p peer.Peer, _ int) (turn, error) {
				l := newLedger(b.Graph, p, n)
				return turn{do: l.change, after: l.after}, nil
			}})
	}
	return b.run(ctx, loads...)
}

// One is one follow at a time on an idle machine: how long it takes. The follows
// are dropped again when the clock has stopped.
func (b *Bench) One(ctx context.Context) error {
	return b.run(ctx, load{work: "one follow", name: "1 client", unit: "ms", clients: 1, latency: true,
		begin: func(_ context.Context, p peer.Peer, _ int) (turn, error) {
			l := newLedger(b.Graph, p, 1)
			return turn{do: l.follow, after: l.undo}, nil
		}})
}

// moments are the times of changes, one after the other.
type moments struct{ last atomic.Uint32 }

func (m *moments) next() uint32 { return changesFrom + m.last.Add(1) }
