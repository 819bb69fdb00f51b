package work

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// Questions is how many questions all peers must answer alike. Before the second half, which
// is mostly about accounts that changed, each peer makes as many follows as Changes says, and
// as many unfollows.
const (
	Questions = 1_000
	Changes   = 200
)

// Check asks every peer the same random questions before and after the same changes. The
// answers must be those of a plain map.
func (b *Bench) Check(ctx context.Context) error {
	a := asker{Rand: rand.New(rand.NewPCG(7, 7)), graph: b.Graph, plain: peer.NewPlain(b.Graph), peers: b.Peers}
	for i := range Questions {
		if i == Questions/2 {
			if err := a.change(ctx); err != nil {
				return err
			}
		}
		if err := a.ask(ctx); err != nil {
			return fmt.Errorf("question %d of %d: %w", i+1, Questions, err)
		}
	}
	return nil
}

// asker draws questions and changes.
type asker struct {
	*rand.Rand
	graph   *graph.Graph
	peers   []peer.Peer
	plain   *peer.Plain
	changed []uint64 // accounts
}

// change makes random follows and unfollows, every other one twice. The second follow has a
// later time.
func (a *asker) change(ctx context.Context) error {
	for i := range Changes {
		from, to := a.graph.Pair(a.Rand)
		e := a.graph.Edges[a.IntN(len(a.graph.Edges))]
		at := uint32(changesFrom - 2*Changes + 2*i)
		a.changed = append(a.changed, from, to, e.From, e.To)
		for again := range 1 + uint32(i%2) {
			for _, p := range append(slices.Clone(a.peers), peer.Peer(a.plain)) {
				if err := p.Follow(ctx, from, to, at+again); err != nil {
					return fmt.Errorf("%s: %w", p.Name(), err)
				}
				if err := p.Unfollow(ctx, e.From, e.To); err != nil {
					return fmt.Errorf("%s: %w", p.Name(), err)
				}
			}
		}
	}
	return nil
}

// ask asks all peers one question.
func (a *asker) ask(ctx context.Context) error {
	q := a.question(ctx)
	want, _ := q.answer(a.plain)
	for _, p := range a.peers {
		got, err := q.answer(p)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", q.text, p.Name(), err)
		}
		if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
			return fmt.Errorf("%s: %s answers %.200s, want %.200s", q.text, p.Name(), got, want)
		}
	}
	return nil
}

// question is something whose answer can be written down and compared.
type question struct {
	text   string
	answer func(peer.Peer) (any, error)
}

func (a *asker) question(ctx context.Context) question {
	id := a.account()
	list := peer.Followers
	switch a.IntN(4) {
	case 0:
		ids := a.accounts(20)
		return question{fmt.Sprintf("states of %v for %d", ids, id), func(p peer.Peer) (any, error) { return p.States(ctx, id, ids) }}
	case 1:
		ids := a.accounts(10)
		return question{fmt.Sprintf("counts of %v", ids), func(p peer.Peer) (any, error) { return p.Counts(ctx, ids) }}
	case 2:
		list = peer.Following
	}
	before := a.cursor()
	return question{fmt.Sprintf("%s of %d before %v", list, id, before), func(p peer.Peer) (any, error) { return p.Page(ctx, list, id, before, pageSize) }}
}

// cursor draws where a page begins: at the newest, or after a follow of some time. No id is
// below 1, so the page begins with an older time.
func (a *asker) cursor() peer.Entry {
	if a.IntN(3) == 0 {
		return peer.Entry{}
	}
	return peer.Entry{ID: 1, At: a.graph.Edges[a.IntN(len(a.graph.Edges))].At}
}

// account draws one that was changed, one of the graph by its degree, one that works need, or
// an unknown one.
func (a *asker) account() uint64 {
	if len(a.changed) > 0 && a.IntN(3) > 0 {
		return a.changed[a.IntN(len(a.changed))]
	}
	switch e := a.graph.Edges[a.IntN(len(a.graph.Edges))]; a.IntN(10) {
	case 0:
		return graph.Viewer(graph.ViewerSizes[a.IntN(len(graph.ViewerSizes))])
	case 1:
		return graph.Long
	case 2:
		return graph.Fresh - 1
	case 3, 4, 5:
		return e.From
	default:
		return e.To
	}
}

// accounts draws different accounts, about half of which viewers know.
func (a *asker) accounts(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		if ids[i] = a.account(); a.IntN(2) == 0 {
			ids[i] = graph.ViewerKnows(a.IntN(200))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
