package report

import (
	"image/color"
	"slices"
)

// bar is one peer of one case. y grows upwards and counts bars.
type bar struct {
	y, ratio float64
	peer     string
}

// label is the number beside the bar.
func (b bar) label() string { return times(b.ratio) + " " + b.peer }

// band is the stripe of one case.
type band struct {
	low, high float64
	label     string
}

// chart is the layout: from the first case at the top to the last at y = 0.
type chart struct {
	bars   []bar
	bands  []band
	peers  []string // in the order of the legend
	height float64  // in bars
}

func newChart(gs []group) *chart {
	c := &chart{}
	slices.Reverse(gs)
	for _, g := range gs {
		c.add(g)
	}
	c.height += headGap
	c.peers = otherPeers(gs)
	return c
}

// add puts a group on top of those that are there, its last line lowest.
func (c *chart) add(g group) {
	low := c.height
	for _, l := range slices.Backward(g.lines) {
		if ratio, ok := g.ratio(l); ok && !own(l.Peer) {
			c.bars = append(c.bars, bar{c.height + (1+groupGap)/2, ratio, l.Peer})
			c.height++
		}
	}
	if c.height > low {
		c.height += groupGap
		c.bands = append(c.bands, band{low, c.height, g.work + ", " + g.kase})
	}
}

// otherPeers are those that have a bar, in the order of the table.
func otherPeers(reversed []group) []string {
	var peers []string
	for _, g := range slices.Backward(reversed) {
		for _, l := range g.lines {
			if _, ok := g.ratio(l); ok && !own(l.Peer) && !slices.Contains(peers, l.Peer) {
				peers = append(peers, l.Peer)
			}
		}
	}
	return peers
}

// colour of a peer; beyond the palette they start again.
func (c *chart) colour(peer string) color.Color {
	return palette[slices.Index(c.peers, peer)%len(palette)]
}
