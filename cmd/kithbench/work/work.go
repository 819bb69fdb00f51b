// Package work has the loads that are timed, and the questions that all peers must answer
// alike before that.
//
// A case is one load, the same for each of its peers. In each round every case of a work has
// its turn, and in each case every peer (A B C, A B C), so that a machine that is busy for a
// while slows all of them alike. A round has a seed for what is random in it, so all peers
// are asked the same.
//
// After a turn with changes the peer must have what it acknowledged, else the run ends.
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

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/graph"
	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/server"
	"kith/repo"
)

// Bench is shared by all works.
type Bench struct {
	Servers  *server.Servers
	Peers    []peer.Peer
	Graph    *graph.Graph
	Rounds   int
	Span     time.Duration                            // of one peer in one round
	Memory   time.Duration                            // of the work memory
	World    feed.Size                                // of the work home
	Wanted   func(peer string) bool                   // which peers the work home opens
	Progress func(work, name, peer string, round int) // called before each turn
	Lines    []report.Line                            // what was measured so far

	sites map[string]*site // servers of peers, by name, once a work has needed them
}

// Work is one of the works. At least one of its peers must be there.
type Work struct {
	Name  string
	Peers []string
	run   func(b *Bench, ctx context.Context, peers []peer.Peer) error
}

// readers are the peers that differ in how they answer; naive and twotable-packed only
// differ in how they change.
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
	{"page", readers, (*Bench).pages},
	{"mixed", append([]string{peer.FreshName}, readers...), (*Bench).mixed},
	{"contend", []string{peer.KithName}, (*Bench).contend},
	{"http", []string{peer.KithName, peer.AloneName}, (*Bench).http},
	{"memory", []string{peer.KithName}, (*Bench).memory},
	{Home, peer.HomeNames, (*Bench).home},
}

// Run runs the work with its peers.
func (w Work) Run(ctx context.Context, b *Bench) error {
	taking := slices.DeleteFunc(slices.Clone(b.Peers), func(p peer.Peer) bool { return !slices.Contains(w.Peers, p.Name()) })
	if err := w.run(b, ctx, taking); err != nil {
		return fmt.Errorf("%s: %w", w.Name, err)
	}
	return nil
}

// Close stops what works have started.
func (b *Bench) Close() {
	for _, s := range b.sites {
		s.Stop()
	}
}

// The graphs that are loaded, as cases name them: as it was read, and as [graph.Graph.Complete]
// makes it.
const (
	AsFile    = "as the file is"
	WithTimes = "each follow at a time of its own"
)

// Space measures the bytes that each peer takes for an edge. The graph has a name and so many
// follows.
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

// Weighed adds one figure, of which less is better.
func (b *Bench) Weighed(work, kase, unit, peer string, value float64) {
	b.Lines = append(b.Lines, report.Line{Work: work, Case: kase, Unit: unit, Better: report.Lower, Peer: peer, Values: []float64{value}})
}

// load is one case of a work.
type load struct {
	line  report.Line // without a peer
	turns []turn
}

// turn is the part of one peer in each round.
type turn struct {
	peer string
	take func(ctx context.Context, round int) (report.Round, error)
}

// rate makes a case that counts how much is done in a second.
func rate(work, name, unit string, turns []turn) load {
	return load{report.Line{Work: work, Case: name, Unit: unit, Better: report.Higher}, turns}
}

// latency makes a case that asks how long one call takes.
func latency(work, name string, turns []turn) load {
	return load{report.Line{Work: work, Case: name, Unit: "ms", Better: report.Lower}, turns}
}

// each makes the same turn for several peers.
func each[P interface{ Name() string }](peers []P, take func(ctx context.Context, p P, round int) (report.Round, error)) (turns []turn) {
	for _, p := range peers {
		turns = append(turns, turn{p.Name(), func(ctx context.Context, round int) (report.Round, error) { return take(ctx, p, round) }})
	}
	return turns
}

// asking makes turns in which clients ask one thing after the other.
func (b *Bench) asking(peers []peer.Peer, clients int, do func(ctx context.Context, p peer.Peer, c *client) error) []turn {
	return each(peers, func(ctx context.Context, p peer.Peer, round int) (report.Round, error) {
		seed := uint64(round)
		if p.Name() == peer.FreshName {
			seed += 1 << 32 // kith, with the same data, has already made the follows of the other seed
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

// client is one of several that ask at the same time.
type client struct {
	*rand.Rand
	n    int             // its index
	took []time.Duration // by each call that succeeded
	lost int64           // calls that gave up
}

// least is how many calls a client makes on average, however long they take: else a round
// with calls as long as the span would have only those that all begin at once. It is no
// least for each client: one that loses most swaps may take a minute for three calls.
const least = 3

// drive lets clients call do for a span of time, and until they have called it least times on
// average.
func drive(ctx context.Context, clients int, span time.Duration, seed uint64, do func(ctx context.Context, c *client) error) (report.Round, error) {
	all := make([]*client, clients)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	begin := time.Now()
	var missing atomic.Int64 // how many calls more are needed
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

// call calls do once. It counts a change that gave up; any other error ends the run.
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

// quantile is in microseconds: for 0.99 of 100 values, the 99th.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return float64(sorted[min(max(i, 0), len(sorted)-1)]) / float64(time.Microsecond)
}
