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
// many changes are made in all of them before the second half is asked.
const (
	Questions = 1_000
	Changes   = 200
)

// Check asks every peer the same random questions, makes the same changes in
// all, and asks again. The answers must be those of a plain map.
func (b *Bench) Check(ctx context.Context) error {
	r := rand.New(rand.NewPCG(7, 7))
	plain := newPlain(b.Graph)
	for i := range Questions {
		if i == Questions/2 {
			if err := b.change(ctx, r, plain); err != nil {
				return err
			}
		}
		if err := b.ask(ctx, r, plain); err != nil {
			return fmt.Errorf("question %d of %d: %w", i+1, Questions, err)
		}
	}
	return nil
}

// change follows and unfollows at random, some of it twice.
func (b *Bench) change(ctx context.Context, r *rand.Rand, plain *plain) error {
	for i := range Changes {
		from, to := b.Graph.Pair(r)
		e := b.Graph.Edges[r.IntN(len(b.Graph.Edges))]
		at := uint32(changesFrom - Changes + i)
		for _, p := range append(slices.Clone(b.Peers), peer.Peer(plain)) {
			if err := p.Follow(ctx, from, to, at); err != nil {
				return fmt.Errorf("%s: %w", p.Name(), err)
			}
			if err := p.Unfollow(ctx, e.From, e.To); err != nil {
				return fmt.Errorf("%s: %w", p.Name(), err)
			}
		}
	}
	return nil
}

// ask asks all peers one question.
func (b *Bench) ask(ctx context.Context, r *rand.Rand, plain *plain) error {
	q := b.question(r)
	want, _ := q.of(ctx, plain)
	for _, p := range b.Peers {
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
	text string
	of   func(ctx context.Context, p peer.Peer) (string, error)
}

func (b *Bench) question(r *rand.Rand) question {
	id := b.someone(r)
	switch r.IntN(4) {
	case 0:
		ids := b.some(r, 20)
		return question{fmt.Sprintf("states of %v for %d", ids, id), func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.States(ctx, id, ids)
			return fmt.Sprint(got), err
		}}
	case 1:
		ids := b.some(r, 10)
		return question{fmt.Sprintf("counts of %v", ids), func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Counts(ctx, ids)
			return fmt.Sprint(got), err
		}}
	case 2:
		before := b.place(r)
		return question{fmt.Sprintf("followers of %d before %v", id, before), func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Followers(ctx, id, before, pageSize)
			return fmt.Sprint(got), err
		}}
	default:
		before := b.place(r)
		return question{fmt.Sprintf("following of %d before %v", id, before), func(ctx context.Context, p peer.Peer) (string, error) {
			got, err := p.Following(ctx, id, before, pageSize)
			return fmt.Sprint(got), err
		}}
	}
}

// place draws where a page begins: at the newest, or before the moment of a follow
// somewhere, that follow left out: the smallest id comes last in its moment.
func (b *Bench) place(r *rand.Rand) peer.Entry {
	if r.IntN(3) == 0 {
		return peer.Entry{}
	}
	e := b.Graph.Edges[r.IntN(len(b.Graph.Edges))]
	return peer.Entry{ID: 1, At: e.At}
}

// someone draws from the graph by degree, from the special accounts, or somebody
// who is not there.
func (b *Bench) someone(r *rand.Rand) uint64 {
	switch r.IntN(10) {
	case 0:
		return graph.Viewer(ViewerSizes[r.IntN(len(ViewerSizes))])
	case 1:
		return graph.Long()
	case 2:
		return graph.Fresh - 1
	case 3, 4, 5:
		return b.Graph.Edges[r.IntN(len(b.Graph.Edges))].From
	default:
		return b.Graph.Edges[r.IntN(len(b.Graph.Edges))].To
	}
}

func (b *Bench) some(r *rand.Rand, n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		if ids[i] = b.someone(r); r.IntN(2) == 0 {
			ids[i] = graph.ViewerKnows(r.IntN(200))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
