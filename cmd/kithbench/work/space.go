package work

import (
	"context"
	"fmt"
	"time"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// Space measures what each peer takes for the graph it holds, an edge. name says
// which graph, follows how many edges of it there are. resident is the resident
// size of the memory server that a peer has, with all that the server has; 0 where
// it has none.
func (b *Bench) Space(ctx context.Context, peers []peer.Peer, name string, follows int, resident func(peer string) (int64, error)) error {
	for _, p := range peers {
		b.Progress("space", name, p.Name(), 0)
		s, err := p.Space(ctx)
		if err != nil {
			return fmt.Errorf("space of %s: %w", p.Name(), err)
		}
		memory, err := resident(p.Name())
		if err != nil {
			return fmt.Errorf("space of %s: %w", p.Name(), err)
		}
		b.each("on disk, pages in use, "+name, p.Name(), s.Pages, follows)
		b.each("on disk, files, "+name, p.Name(), s.Files, follows)
		b.each("in memory, "+name, p.Name(), s.Memory, follows)
		b.each("resident, "+name, p.Name(), memory, follows)
	}
	return nil
}

func (b *Bench) each(kase, name string, bytes int64, follows int) {
	if bytes <= 0 {
		return
	}
	b.weighed("space", kase, "bytes an edge", name, float64(bytes)/float64(follows))
}

// Loaded notes how long a peer took to load a graph.
func (b *Bench) Loaded(name, graph string, took time.Duration) {
	b.weighed("load", graph, "s", name, took.Seconds())
}

// weighed notes one figure of which less is better.
func (b *Bench) weighed(work, kase, unit, name string, value float64) {
	b.Lines = append(b.Lines, report.Line{Work: work, Case: kase, Unit: unit, Better: report.Lower, Peer: name, Values: []float64{value}})
}
