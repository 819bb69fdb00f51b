package work

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
)

// Questions is how many questions all peers must answer alike, and Changes how
// many follows and as many unfollows are made in all of them before the second
// half is asked, which is mostly about the accounts that were changed.
const (
	Questions = 1_000
	Changes   = 200
)

// Check asks every peer the same random questions, makes the same changes in
// all, and asks again. The answers must be those of a plain map.
func (b *Bench) Check(ctx context.Context) error {
	a := asker{b: b, Rand: rand.New(rand.NewPCG(7, 7)), plain: newPlain(b.Graph)}
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
	b       *Bench
	plain   *plain
	changed []uint64 // accounts
}

// change follows and unfollows at random, every other time again: what is
// followed is followed, at a later moment, and what is not is unfollowed.
func (a *asker) change(ctx context.Context) error {
	for i := range Changes {
		from, to := a.b.Graph.Pair(a.Rand)
		e := a.b.Graph.Edges[a.IntN(len(a.b.Graph.Edges))]
		at := uint32(changesFrom - 2*Changes + 2*i)
		a.changed = append(a.changed, from, to, e.From, e.To)
		for again := range 1 + uint32(i%2) {
			if err := a.each(func(p peer.Peer) error { return p.Follow(ctx, from, to, at+again) }); err != nil {
				return err
			}
			if err := a.each(func(p peer.Peer) error { return p.Unfollow(ctx, e.From, e.To) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// each makes a change in all peers and in the plain map. Variants share the data
// of a peer.
func (a *asker) each(change func(peer.Peer) error) error {
	for _, p := range append(slices.Clone(a.b.Peers), peer.Peer(a.plain)) {
		if err := change(p); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

// ask asks all peers one question.
func (a *asker) ask(ctx context.Context) error {
	q := a.question()
	want, _ := q.of(ctx, a.plain)
	for _, p := range slices.Concat(a.b.Peers, a.b.Variants) {
		if _, skips := p.(peer.Skipper); q.skips && !skips {
			continue
		}
		got, err := q.of(ctx, p)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", q.text, p.Name(), err)
		}
		if got != want {
			return fmt.Errorf("%s: %s answers %.200s, want %.200s", q.text, p.Name(), got, want)
		}
	}
	return nil
}

// question is something whose answer can be written down and compared.
type question struct {
	text  string
	skips bool // it is only for peers that page by offset
	of    func(ctx context.Context, p peer.Peer) (string, error)
}

func (a *asker) question() question {
	id := a.someone()
	switch a.IntN(5) {
	case 0:
		ids := a.some(20)
		return question{text: fmt.Sprintf("states of %v for %d", ids, id), of: func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.States(ctx, id, ids)
			return fmt.Sprint(got), err
		}}
	case 1:
		ids := a.some(10)
		return question{text: fmt.Sprintf("counts of %v", ids), of: func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Counts(ctx, ids)
			return fmt.Sprint(got), err
		}}
	case 2:
		before := a.place()
		return question{text: fmt.Sprintf("followers of %d before %v", id, before), of: func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Followers(ctx, id, before, pageSize)
			return fmt.Sprint(got), err
		}}
	case 3:
		skip := a.IntN(2 * pageSize)
		if id == graph.Long() {
			skip = a.IntN(graph.LongList + pageSize)
		}
		return question{text: fmt.Sprintf("followers of %d after %d", id, skip), skips: true, of: func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.(peer.Skipper).FollowersAfter(ctx, id, skip, pageSize)
			return fmt.Sprint(got), err
		}}
	default:
		before := a.place()
		return question{text: fmt.Sprintf("following of %d before %v", id, before), of: func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Following(ctx, id, before, pageSize)
			return fmt.Sprint(got), err
		}}
	}
}

// place draws where a page begins: at the newest, or before the moment of a follow
// somewhere, that follow left out: the smallest id comes last in its moment.
func (a *asker) place() peer.Entry {
	if a.IntN(3) == 0 {
		return peer.Entry{}
	}
	e := a.b.Graph.Edges[a.IntN(len(a.b.Graph.Edges))]
	return peer.Entry{ID: 1, At: e.At}
}

// someone draws one of those who were changed, from the graph by degree, from
// the special accounts, or somebody who is not there.
func (a *asker) someone() uint64 {
	if len(a.changed) > 0 && a.IntN(3) > 0 {
		return a.changed[a.IntN(len(a.changed))]
	}
	switch a.IntN(10) {
	case 0:
		return graph.Viewer(ViewerSizes[a.IntN(len(ViewerSizes))])
	case 1:
		return graph.Long()
	case 2:
		return graph.Fresh - 1
	case 3, 4, 5:
		return a.b.Graph.Edges[a.IntN(len(a.b.Graph.Edges))].From
	default:
		return a.b.Graph.Edges[a.IntN(len(a.b.Graph.Edges))].To
	}
}

// some draws different accounts, every other one of those whom viewers know.
func (a *asker) some(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		if ids[i] = a.someone(); a.IntN(2) == 0 {
			ids[i] = graph.ViewerKnows(a.IntN(200))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
