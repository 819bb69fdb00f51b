// Package work is what is asked of the peers: the loads that are timed, and the
// questions that make sure, before any clock runs, that all peers answer alike.
//
// A case is one load that is the same for every peer that takes part in it. In
// each round every case of a work has its turn, and in each case every peer, A B C
// A B C, so that a machine that is busy for a while hurts all of them alike, and
// cases may be compared with each other as peers may. What a case draws at random
// it draws from a seed of the round, so that all peers are asked the same in the
// same round.
//
// After a turn that changes something the peer is asked whether what it
// acknowledged is there. If not, the run ends: its figures would be worth nothing.
package work

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
	"kith/repo"
)

// Bench is what all works share.
type Bench struct {
	Servers *server.Servers
	Peers   []peer.Peer
	Graph   *graph.Graph
	Rounds  int
	Span    time.Duration // of one peer in one round
	Memory  time.Duration // of the work memory
	// Progress is called before each turn.
	Progress func(work, name, peer string, round int)
	// Lines is what was measured so far.
	Lines []report.Line

	kith *site // serves the peer kith, once a work has needed it
}

// Work is one of the works. It needs one of its peers at least, and those that are
// there take part.
type Work struct {
	Name  string
	Peers []string
	run   func(b *Bench, ctx context.Context, peers []peer.Peer) error
}

// readers are the peers that answer questions in a way of their own: naive and
// twotable-packed only change differently.
var readers = []string{peer.KithName, peer.AloneName, peer.TwoTableName, peer.RedisName, peer.SyncedName}

// Works are all works, in the order in which they run.
var Works = []Work{
	{"space", peer.Names, func(b *Bench, ctx context.Context, peers []peer.Peer) error {
		return b.Space(ctx, peers, WithTimes, len(b.Graph.Edges))
	}},
	{"hot", peer.Names, (*Bench).hot},
	{"spread", peer.Names, (*Bench).spread},
	{"one", peer.Names, (*Bench).one},
	{"states", readers, (*Bench).states},
	{"page", append([]string{peer.PackedName}, readers...), (*Bench).pages},
	{"mixed", append([]string{peer.FreshName}, readers...), (*Bench).mixed},
	{"contend", []string{peer.KithName}, (*Bench).contend},
	{"http", []string{peer.KithName, peer.AloneName}, (*Bench).http},
	{"memory", []string{peer.KithName}, (*Bench).memory},
}

// Run runs the work with those of its peers that are there.
func (w Work) Run(ctx context.Context, b *Bench) error {
	taking := slices.DeleteFunc(slices.Clone(b.Peers), func(p peer.Peer) bool { return !slices.Contains(w.Peers, p.Name()) })
	if err := w.run(b, ctx, taking); err != nil {
		return fmt.Errorf("%s: %w", w.Name, err)
	}
	return nil
}

// Close stops what works have started.
func (b *Bench) Close() {
	if b.kith != nil {
		b.kith.Stop()
	}
}

// The graphs that are loaded, by the names of cases: as it was read, and with the
// accounts that works need and a time for each follow.
const (
	AsFile    = "as the file is"
	WithTimes = "each follow at a time of its own"
)

// Space measures what each peer takes for the graph it holds, an edge. name says
// which graph, follows how many edges of it there are.
func (b *Bench) Space(ctx context.Context, peers []peer.Peer, name string, follows int) error {
	for _, p := range peers {
		b.Progress("space", name, p.Name(), 0)
		s, err := p.Space(ctx)
		if err != nil {
			return fmt.Errorf("space of %s: %w", p.Name(), err)
		}
		for _, kind := range []struct {
			name  string
			bytes int64
		}{{"on disk, pages in use, ", s.Pages}, {"on disk, files, ", s.Files}, {"in memory, ", s.Memory}, {"resident, ", s.Resident}} {
			if kind.bytes > 0 {
				b.Weighed("space", kind.name+name, "bytes an edge", p.Name(), float64(kind.bytes)/float64(follows))
			}
		}
	}
	return nil
}

// Weighed notes one figure of which less is better.
func (b *Bench) Weighed(work, kase, unit, peer string, value float64) {
	b.Lines = append(b.Lines, report.Line{Work: work, Case: kase, Unit: unit, Better: report.Lower, Peer: peer, Values: []float64{value}})
}

// load is one case of a work.
type load struct {
	line  report.Line // without a peer
	turns []turn
}

// turn is what one peer does in each round.
type turn struct {
	peer string
	take func(ctx context.Context, round int) (report.Round, error)
}

// rate is the case of a work that counts how much is done in a second.
func rate(work, name, unit string, turns []turn) load {
	return load{report.Line{Work: work, Case: name, Unit: unit, Better: report.Higher}, turns}
}

// each makes the same turn for several peers.
func each(peers []peer.Peer, take func(ctx context.Context, p peer.Peer, round int) (report.Round, error)) (turns []turn) {
	for _, p := range peers {
		turns = append(turns, turn{p.Name(), func(ctx context.Context, round int) (report.Round, error) { return take(ctx, p, round) }})
	}
	return turns
}

// asking makes turns of clients who ask one thing after the other.
func (b *Bench) asking(peers []peer.Peer, clients int, do func(ctx context.Context, p peer.Peer, c *client) error) []turn {
	return each(peers, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
		seed := uint64(round)
		if p.Name() == peer.FreshName {
			seed += 1 << 32 // it is on kith's data, and would find followed what kith has followed
		}
		return drive(ctx, clients, b.Span, seed, func(ctx context.Context, c *client) error { return do(ctx, p, c) })
	})
}

// run lets cases and peers take turns.
func (b *Bench) run(ctx context.Context, loads ...load) error {
	var lines []*report.Line
	for round := range b.Rounds {
		n := 0
		for _, l := range loads {
			for _, t := range l.turns {
				if round == 0 {
					line := l.line
					line.Peer = t.peer
					lines = append(lines, &line)
				}
				b.Progress(l.line.Work, l.line.Case, t.peer, round)
				r, err := t.take(ctx, round)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", l.line.Case, t.peer, err)
				}
				lines[n].Rounds = append(lines[n].Rounds, r)
				n++
			}
		}
	}
	for _, l := range lines {
		b.Lines = append(b.Lines, *l)
	}
	return nil
}

// client is one of those who ask at once.
type client struct {
	*rand.Rand
	n    int             // which one it is
	took []time.Duration // of what was done
	lost int64           // what was given up
}

// least is how many calls a client makes on average, however long they take:
// where calls are about as long as the span, a round would have little but those
// that all begin at once. Not each client: where they fight for one row, the one
// that loses most may take a minute for three calls.
const least = 3

// drive lets clients do one thing after the other for a span of time, and until
// they have done it least times each on average, and returns what they did and how
// long each thing took.
func drive(ctx context.Context, clients int, span time.Duration, seed uint64, do func(ctx context.Context, c *client) error) (report.Round, error) {
	all := make([]*client, clients)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begin := time.Now()
	var missing atomic.Int64 // calls until there are enough
	missing.Store(int64(clients) * least)
	var done sync.WaitGroup
	for i := range all {
		c := &client{Rand: rand.New(rand.NewPCG(seed, uint64(i))), n: i, took: make([]time.Duration, 0, 1024)}
		all[i] = c
		done.Go(func() {
			for ctx.Err() == nil && (time.Since(begin) < span || missing.Load() > 0) {
				if err := c.call(ctx, do); err != nil {
					stop(err)
				}
				missing.Add(-1)
			}
		})
	}
	done.Wait()
	took := time.Since(begin)
	if err := context.Cause(ctx); err != nil {
		return report.Round{}, err
	}
	return summary(all, took), nil
}

// call does one thing. Losing too often is counted, anything else that goes wrong
// ends the run: its figures would be worth nothing.
func (c *client) call(ctx context.Context, do func(ctx context.Context, c *client) error) error {
	start := time.Now()
	err := do(ctx, c)
	if errors.Is(err, peer.ErrGaveUp) || errors.Is(err, repo.ErrConflict) {
		c.lost++
		return nil
	}
	if err == nil {
		c.took = append(c.took, time.Since(start))
	}
	return err
}

func summary(all []*client, took time.Duration) report.Round {
	r := report.Round{Seconds: took.Seconds()}
	var calls []time.Duration
	for _, c := range all {
		calls = append(calls, c.took...)
		r.Failed += c.lost
	}
	r.Ops = int64(len(calls))
	slices.Sort(calls)
	r.P50, r.P99 = quantile(calls, 0.50), quantile(calls, 0.99)
	return r
}

// quantile is the smallest of the values, in microseconds, that so large a part of
// them does not exceed: the 99th of 100 for 0.99.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return float64(sorted[min(max(i, 0), len(sorted)-1)]) / float64(time.Microsecond)
}
