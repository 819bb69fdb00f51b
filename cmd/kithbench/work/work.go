// Package work is what is asked of the peers: the loads that are timed, and the
// questions that make sure, before any clock runs, that all peers answer alike.
//
// A case is one load that is the same for every peer it names. In each round
// every case of a work has its turn, and in each case every peer, A B C A B C, so
// that a machine that is busy for a while hurts all of them alike, and cases may
// be compared with each other as peers may. What a case draws at random it draws
// from a seed of the round, so that all peers are asked the same in the same round.
//
// After a turn that changes something the peer is asked whether what it
// acknowledged is there. If not, the run ends: its figures would be worth nothing.
package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/repo"
)

// Bench is what all works share.
type Bench struct {
	Peers []peer.Peer
	// Variants have a part in mixed only. They are on the data of another peer, so
	// they draw from seeds of their own: what that one has followed they would find
	// followed.
	Variants []peer.Peer
	Graph    *graph.Graph
	Rounds   int
	Span     time.Duration // of one peer in one round
	// Progress is told before each span.
	Progress func(work, name, peer string, round int)
	// Lines is what was measured so far.
	Lines []report.Line

	drawn draws
}

// Peer returns the peer of a name; nil if it is not there.
func (b *Bench) Peer(name string) peer.Peer {
	i := slices.IndexFunc(b.Peers, func(p peer.Peer) bool { return p.Name() == name })
	if i < 0 {
		return nil
	}
	return b.Peers[i]
}

// load is one case of a work.
type load struct {
	work, name, unit string
	clients          int
	skip             func(p peer.Peer) bool // peers that have no part in it
	// latency says that what counts is how long one takes, not how many there are.
	latency bool
	// variants says that variants of peers have a part in it.
	variants bool
	// begin makes the turn of a peer in a round.
	begin func(ctx context.Context, p peer.Peer, round int) (turn, error)
}

// turn is what one peer does in one round.
type turn struct {
	do func(ctx context.Context, c *client) error
	// after looks at what was done, and is not timed; nil where nothing was changed.
	after func(ctx context.Context, r report.Round) error
}

// reads is a turn that changes nothing and is the same in every round.
func reads(do func(ctx context.Context, p peer.Peer, c *client) error) func(context.Context, peer.Peer, int) (turn, error) {
	return func(_ context.Context, p peer.Peer, _ int) (turn, error) {
		return turn{do: func(ctx context.Context, c *client) error { return do(ctx, p, c) }}, nil
	}
}

// gaveUp tells a change that lost too often from one that went wrong.
func gaveUp(err error) bool {
	return errors.Is(err, peer.ErrGaveUp) || errors.Is(err, repo.ErrConflict)
}

// run lets cases and peers take turns.
func (b *Bench) run(ctx context.Context, loads ...load) error {
	lines := make([][]report.Line, len(loads))
	for i, l := range loads {
		lines[i] = b.lines(l)
	}
	for round := range b.Rounds {
		for i, l := range loads {
			if err := b.round(ctx, l, round, lines[i]); err != nil {
				return err
			}
		}
	}
	b.Lines = append(b.Lines, slices.Concat(lines...)...)
	return nil
}

// lines are those of a case, one for each peer that has a part in it.
func (b *Bench) lines(l load) (lines []report.Line) {
	better := report.Higher
	if l.latency {
		better = report.Lower
	}
	for _, p := range b.taking(l) {
		lines = append(lines, report.Line{Work: l.work, Case: l.name, Unit: l.unit, Better: better, Peer: p.Name()})
	}
	return lines
}

// taking are the peers that have a part in a case, variants last.
func (b *Bench) taking(l load) (all []peer.Peer) {
	for _, p := range b.Peers {
		if l.skip == nil || !l.skip(p) {
			all = append(all, p)
		}
	}
	if l.variants {
		all = append(all, b.Variants...)
	}
	return all
}

// variantSeed is above the seeds of all rounds.
const variantSeed = 1 << 32

func (b *Bench) seed(p peer.Peer, round int) uint64 {
	if slices.Contains(b.Variants, p) {
		return variantSeed + uint64(round)
	}
	return uint64(round)
}

// round is one round of one case, a line for each of the peers taking part.
func (b *Bench) round(ctx context.Context, l load, round int, lines []report.Line) error {
	for i, p := range b.taking(l) {
		b.Progress(l.work, l.name, p.Name(), round)
		r, err := b.once(ctx, l, p, round)
		if err != nil {
			return fmt.Errorf("%s, %s, %s: %w", l.work, l.name, p.Name(), err)
		}
		lines[i].Rounds = append(lines[i].Rounds, r)
	}
	return nil
}

func (b *Bench) once(ctx context.Context, l load, p peer.Peer, round int) (report.Round, error) {
	t, err := l.begin(ctx, p, round)
	if err != nil {
		return report.Round{}, err
	}
	r, err := drive(ctx, l.clients, b.Span, b.seed(p, round), t.do)
	if err == nil && t.after != nil {
		err = t.after(ctx, r)
	}
	return r, err
}

// without skips the peers named.
func without(names ...string) func(peer.Peer) bool {
	return func(p peer.Peer) bool { return slices.Contains(names, p.Name()) }
}
