package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// Sizes of the plot, in pixels.
const (
	plotWidth = 900
	barHeight = 15.0 // with the space to the next
	headRoom  = 60.0 // for the legend and the words above the bars
	axisRoom  = 30.0
	margin    = 10.0
	letter    = 5.8 // the average width of a letter of a label, or more
)

// palette is Okabe's and Ito's, which the colour-blind can tell apart.
var palette = []string{"#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#555555"}

// bar is one peer of one case, from 1 × to ratio.
type bar struct {
	peer, label string
	ratio, y    float64
}

// band is the stripe of one case.
type band struct {
	label       string
	top, bottom float64
}

// plot is the layout.
type plot struct {
	bars   []bar
	bands  []band
	peers  []string // in the order of the legend
	bottom float64
	names  float64 // where the names of cases end
	// left and right are where the ratios low and high are.
	left, right, low, high float64

	strings.Builder
}

// WritePlot writes an SVG with, for each case, a bar for each other peer, on a log scale from
// 1 × to how many times better kith is. Bars to the left are those where kith loses. Without
// a bar nothing is written.
func (r Run) WritePlot(w io.Writer) error {
	p := plot{bottom: headRoom}
	for _, g := range r.groups() {
		p.add(g)
	}
	if len(p.bars) == 0 {
		return nil
	}
	p.scale()
	p.draw()
	_, err := io.WriteString(w, p.String())
	return err
}

// add puts a group below those that are there.
func (p *plot) add(g group) {
	top := p.bottom
	for _, l := range g {
		ratio, ok := g.ratio(l)
		if !ok || ours(l.Peer) {
			continue
		}
		p.bars = append(p.bars, bar{l.Peer, times(ratio) + " " + l.Peer, ratio, p.bottom + barHeight/3})
		p.bottom += barHeight
		if !slices.Contains(p.peers, l.Peer) {
			p.peers = append(p.peers, l.Peer)
		}
	}
	if p.bottom > top {
		p.bottom += barHeight * 2 / 3
		p.bands = append(p.bands, band{g[0].Work + ", " + g[0].Case, top, p.bottom})
	}
}

// scale leaves room for the longest name of a case and the longest label on either side.
func (p *plot) scale() {
	p.low, p.high = 0.5, 2
	lost, won := margin, margin
	for _, b := range p.bands {
		p.names = max(p.names, margin+letter*float64(len(b.label)))
	}
	for _, b := range p.bars {
		if b.ratio < 1 {
			lost = max(lost, letter*float64(len(b.label)))
		} else {
			won = max(won, letter*float64(len(b.label)))
		}
		if b.ratio > 0 { // 0 has no position on a log scale
			p.low, p.high = min(p.low, b.ratio), max(p.high, b.ratio)
		}
	}
	p.left, p.right = p.names+margin+lost, plotWidth-margin-won
}

func (p *plot) x(ratio float64) float64 {
	return p.left + (p.right-p.left)*math.Log(max(ratio, p.low)/p.low)/math.Log(p.high/p.low)
}

func (p *plot) draw() {
	height := p.bottom + axisRoom
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%.0f" viewBox="0 0 %[1]d %.0[2]f" font-family="Arial,Helvetica,sans-serif" font-size="12">`+"\n", plotWidth, height)
	p.rect("#ffffff", 0, 0, plotWidth, height)
	for i, b := range p.bands {
		if i%2 == 0 {
			p.rect("#f4f4f4", 0, b.top, plotWidth, b.bottom-b.top)
		}
		p.text("end", "#222222", p.names, (b.top+b.bottom)/2+4, b.label)
	}
	for e := math.Ceil(math.Log10(p.low)); e <= math.Log10(p.high); e++ {
		v := math.Pow(10, e)
		p.rect("#d8d8d8", p.x(v), headRoom, 0.8, p.bottom-headRoom)
		p.text("middle", "#222222", p.x(v), p.bottom+16, fmt.Sprintf("%g ×", v))
	}
	one := p.x(1)
	for _, b := range p.bars {
		end := p.x(b.ratio)
		p.rect(p.colour(b.peer), min(one, end), b.y+2, math.Abs(end-one), barHeight-4)
		if b.ratio < 1 {
			p.text("end", "#b00020", end-4, b.y+barHeight-4, b.label)
		} else {
			p.text("start", "#222222", end+4, b.y+barHeight-4, b.label)
		}
	}
	p.rect("#222222", one-0.8, headRoom, 1.6, p.bottom-headRoom)
	p.text("start", "#222222", one+6, headRoom-8, "kith is so many times better →")
	p.text("end", "#b00020", one-6, headRoom-8, "← kith loses")
	x := margin
	for _, peer := range p.peers {
		p.rect(p.colour(peer), x, margin, 12, 12)
		p.text("start", "#222222", x+16, margin+10, peer)
		x += 34 + letter*float64(len(peer))
	}
	p.WriteString("</svg>\n")
}

func (p *plot) rect(colour string, x, y, width, height float64) {
	fmt.Fprintf(p, `<rect fill="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", colour, x, y, width, height)
}

func (p *plot) text(anchor, colour string, x, y float64, words string) {
	fmt.Fprintf(p, `<text text-anchor="%s" fill="%s" x="%.1f" y="%.1f">%s</text>`+"\n", anchor, colour, x, y, html.EscapeString(words))
}

// colour of a peer; beyond the palette they start again.
func (p *plot) colour(peer string) string { return palette[slices.Index(p.peers, peer)%len(palette)] }
