package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours that are no peer's.
var (
	ink   = color.Gray{0x22}
	grid  = color.Gray{0xD8}
	shade = color.Gray{0xF4}
	loss  = color.RGBA{0xB0, 0x00, 0x20, 255}
)

// decades marks every power of ten.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var ts []plot.Tick
	for e := math.Ceil(math.Log10(low)); e <= math.Log10(high); e++ {
		v := math.Pow(10, e)
		ts = append(ts, plot.Tick{Value: v, Label: fmt.Sprintf("%g ×", v)})
	}
	return ts
}

// bands are the stripes behind the bars, every second one shaded.
type bands []band

// Plot implements plot.Plotter. It draws the grid too.
func (bs bands) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, b := range bs {
		if i%2 == 0 {
			fill(c, shade, c.Min.X, y(b.low), c.Max.X, y(b.high))
		}
	}
	line := draw.LineStyle{Color: grid, Width: 0.6}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
}

func fill(c draw.Canvas, colour color.Color, x0, y0, x1, y1 vg.Length) {
	c.FillPolygon(colour, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
}

// bars draws the bars of a chart, their numbers and the line of 1 ×.
type bars struct{ *chart }

// Plot implements plot.Plotter.
func (bs *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, b := range bs.bars {
		end := x(max(b.ratio, p.X.Min))
		fill(c, bs.colour(b.peer), x(1), y(b.y-0.38), end, y(b.y+0.38))
		bs.label(c, b, end, y(b.y))
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.2}, x(1), c.Min.Y, x(1), c.Max.Y)
	bs.sides(c, x(1), y(bs.height-headGap/2))
}

// sides says what left and right of the line of 1 × mean.
func (bs *bars) sides(c draw.Canvas, x, y vg.Length) {
	wins, loses := sans(caseSize, ink), sans(caseSize, loss)
	wins.YAlign, loses.YAlign, loses.XAlign = text.YCenter, text.YCenter, text.XRight
	c.FillText(wins, vg.Point{X: x + 2*labelGap, Y: y}, "kith is so many times better →")
	c.FillText(loses, vg.Point{X: x - 2*labelGap, Y: y}, "← kith loses")
}

// label puts the number where the bar ends, away from the line of 1 ×.
func (bs *bars) label(c draw.Canvas, b bar, end, y vg.Length) {
	style := sans(numberSize, ink)
	style.YAlign = text.YCenter
	gap := labelGap
	if b.ratio < 1 {
		style.XAlign, gap, style.Color = text.XRight, -gap, loss
	}
	c.FillText(style, vg.Point{X: end + gap, Y: y}, b.label())
}

// Sizes of the numbers beside the bars and of all other words.
const (
	numberSize vg.Length = 8.5
	caseSize   vg.Length = 10
)

// sans is a style that gonum can measure, in the font that writeSVG replaces.
func sans(size vg.Length, colour color.Color) text.Style {
	return text.Style{
		Color: colour, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

// legend is one row: gonum's own would stand in the plot, a line for each peer.
func (c *chart) legend(area draw.Canvas) {
	var offset vg.Length
	for _, peer := range c.peers {
		l := plot.NewLegend()
		l.TextStyle, l.ThumbnailWidth = sans(caseSize, ink), 12
		l.Top, l.Left, l.XOffs = true, true, offset
		l.Add(peer, swatch{c.colour(peer)})
		l.Draw(area)
		offset += l.Rectangle(area).Size().X + 18
	}
}

// swatch is the colour of a peer in the legend.
type swatch struct{ color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	fill(*c, s.Color, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
}
