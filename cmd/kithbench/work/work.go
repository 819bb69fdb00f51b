// Package work is what is asked of the peers: the loads that are timed, and the
// questions that make sure, before any clock runs, that all peers answer alike.
//
// A case is one load that is the same for every peer it names. Peers take turns,
// A B C A B C, once in each round, so that a machine that is busy for a while
// hurts all of them alike. What a case draws at random it draws from a seed of
// the round, so that all peers are asked the same in the same round.
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
	Peers  []peer.Peer
	Graph  *graph.Graph
	Rounds int
	Span   time.Duration // of one peer in one round
	// Progress is told before each span.
	Progress func(work, name, peer string, round int)
	// Lines is what was measured so far.
	Lines []report.Line

	drawn draws
}

// load is one case of a work.
type load struct {
	work, name, unit string
	clients          int
	skip             func(p peer.Peer) bool // peers that have no part in it
	// latency says that what counts is how long one takes, not how many there are.
	latency bool
	// begin makes what clients of a peer do in a round.
	begin func(p peer.Peer, round int) (func(ctx context.Context, c *client) error, error)
}

// gaveUp tells a change that lost too often from one that went wrong.
func gaveUp(err error) bool {
	return errors.Is(err, peer.ErrGaveUp) || errors.Is(err, repo.ErrConflict)
}

// run lets the peers take turns.
func (b *Bench) run(ctx context.Context, l load) error {
	lines := map[string]*report.Line{}
	var order []string
	for round := range b.Rounds {
		for _, p := range b.Peers {
			if l.skip != nil && l.skip(p) {
				continue
			}
			b.Progress(l.work, l.name, p.Name(), round)
			r, err := b.once(ctx, l, p, round)
			if err != nil {
				return fmt.Errorf("%s, %s, %s: %w", l.work, l.name, p.Name(), err)
			}
			if lines[p.Name()] == nil {
				lines[p.Name()] = &report.Line{Work: l.work, Case: l.name, Unit: l.unit, Better: report.Higher, Peer: p.Name()}
				order = append(order, p.Name())
			}
			line := lines[p.Name()]
			if l.latency {
				line.Better = report.Lower
				line.Values = append(line.Values, float64(r.P50)/float64(time.Millisecond))
			} else {
				line.Rounds = append(line.Rounds, r)
			}
		}
	}
	for _, name := range order {
		b.Lines = append(b.Lines, *lines[name])
	}
	return nil
}

func (b *Bench) once(ctx context.Context, l load, p peer.Peer, round int) (report.Round, error) {
	do, err := l.begin(p, round)
	if err != nil {
		return report.Round{}, err
	}
	return drive(ctx, l.clients, b.Span, uint64(round), do)
}

// without skips the peers named.
func without(names ...string) func(peer.Peer) bool {
	return func(p peer.Peer) bool { return slices.Contains(names, p.Name()) }
}
