package work

import (
	"context"
	"fmt"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
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
		b.each("on disk, "+name, p.Name(), s.Disk, follows)
		b.each("in memory, "+name, p.Name(), s.Memory, follows)
	}
	return nil
}

func (b *Bench) each(kase, name string, bytes int64, follows int) {
	if bytes <= 0 {
		return
	}
	b.Lines = append(b.Lines, report.Line{Work: "space", Case: kase, Unit: "bytes an edge", Better: report.Lower, Peer: name,
		Values: []float64{float64(bytes) / float64(follows)}})
}
