package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// ledger is clients who change edges all over the graph and write down what they
// did, each for itself.
type ledger struct {
	graph *graph.Graph
	peer  peer.Peer
	at    moments
	mine  [][]pair // of each client, what it follows and may unfollow
	done  [][]entry
}

type pair struct{ from, to uint64 }

// entry is a change that was made, or of which nobody knows.
type entry struct {
	pair
	follow, unknown bool
}

func newLedger(g *graph.Graph, p peer.Peer, clients int) *ledger {
	return &ledger{graph: g, peer: p, mine: make([][]pair, clients), done: make([][]entry, clients)}
}

// change follows a pair of the graph, and every other time unfollows one of
// those again.
func (l *ledger) change(ctx context.Context, c *client) error {
	made := l.mine[c.n]
	if c.IntN(2) == 1 || len(made) == 0 {
		return l.follow(ctx, c)
	}
	i := c.IntN(len(made))
	e := made[i]
	made[i] = made[len(made)-1]
	l.mine[c.n] = made[:len(made)-1]
	err := l.peer.Unfollow(ctx, e.from, e.to)
	l.done[c.n] = append(l.done[c.n], entry{pair: e, unknown: err != nil})
	return err
}

// follow follows a pair of the graph.
func (l *ledger) follow(ctx context.Context, c *client) error {
	var e pair
	e.from, e.to = l.graph.Pair(c.Rand)
	err := l.peer.Follow(ctx, e.from, e.to, l.at.next())
	l.mine[c.n] = append(l.mine[c.n], e)
	l.done[c.n] = append(l.done[c.n], entry{e, true, err != nil})
	return err
}

// looked is how many edges are looked at after a round, and accounts how many
// accounts of theirs.
const (
	looked   = 256
	accounts = 24
)

// after looks for the last changes of a round, and whether the lists of accounts
// are as long as their counts say.
func (l *ledger) after(ctx context.Context, _ report.Round) error {
	last := l.last()
	last = last[:min(looked, len(last))]
	for _, e := range last {
		if err := eventually(ctx, func(ctx context.Context) error { return l.look(ctx, e) }); err != nil {
			return err
		}
	}
	for _, e := range last[:min(accounts/2, len(last))] {
		for _, id := range []uint64{e.from, e.to} {
			if err := eventually(ctx, func(ctx context.Context) error { return l.adds(ctx, id) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// last are the last changes of edges that only one client has touched: which of
// two clients came last nobody knows. The latest of each client come first.
func (l *ledger) last() (all []entry) {
	by := map[pair]int{}
	for n, done := range l.done {
		for _, e := range done {
			if was, there := by[e.pair]; e.unknown || (there && was != n) {
				by[e.pair] = -1
			} else {
				by[e.pair] = n
			}
		}
	}
	for back := 1; len(all) < looked; back++ {
		more := false
		for n, done := range l.done {
			if back > len(done) {
				continue
			}
			more = true
			if e := done[len(done)-back]; by[e.pair] == n {
				by[e.pair] = -1 // what comes before it no longer counts
				all = append(all, e)
			}
		}
		if !more {
			break
		}
	}
	return all
}

// look looks at an edge from both sides.
func (l *ledger) look(ctx context.Context, e entry) error {
	out, err := l.peer.States(ctx, e.from, []uint64{e.to})
	if err != nil {
		return err
	}
	in, err := l.peer.States(ctx, e.to, []uint64{e.from})
	if err != nil {
		return err
	}
	if out[0].Following != e.follow || in[0].FollowedBy != e.follow {
		return fmt.Errorf("%d follows %d: got %v, from the other side %v, want %v", e.from, e.to, out[0].Following, in[0].FollowedBy, e.follow)
	}
	return nil
}

// longest is the longest list that adds reads.
const longest = 4_000

// adds compares an account's counts with the length of its lists.
func (l *ledger) adds(ctx context.Context, id uint64) error {
	counts, err := l.peer.Counts(ctx, []uint64{id})
	if err != nil {
		return err
	}
	followers, err := l.peer.Followers(ctx, id, peer.Entry{}, longest)
	if err != nil {
		return err
	}
	following, err := l.peer.Following(ctx, id, peer.Entry{}, longest)
	if err != nil {
		return err
	}
	got := peer.Counts{Following: int64(len(following)), Followers: int64(len(followers))}
	want := peer.Counts{Following: min(counts[0].Following, longest), Followers: min(counts[0].Followers, longest)}
	if got != want {
		return fmt.Errorf("the lists of %d are %+v long, its counts %+v", id, got, counts[0])
	}
	return nil
}

// undoers is how many drop what was followed at once.
const undoers = 64

// undo looks at what was followed and then drops it.
func (l *ledger) undo(ctx context.Context, r report.Round) error {
	if err := l.after(ctx, r); err != nil {
		return err
	}
	made := slices.Concat(l.mine...)
	if len(made) == 0 {
		return nil
	}
	errs := make([]error, undoers)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			for i := n; i < len(made) && errs[n] == nil; i += undoers {
				errs[n] = l.peer.Unfollow(ctx, made[i].from, made[i].to)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
