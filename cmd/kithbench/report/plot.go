package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrNothing says that no line can be compared with kith's.
var ErrNothing = errors.New("no line to compare with kith's")

// Sizes of the plot. 675 points are the 900 pixels of a README.
const (
	plotWidth  vg.Length = 675
	barHeight  vg.Length = 11.5 // with the space to the next
	margin     vg.Length = 8
	legendRoom vg.Length = 26
	axisRoom   vg.Length = 26
	labelGap   vg.Length = 3   // between a bar and its number
	groupGap             = 0.7 // in bars
	headGap              = 1.6 // in bars, above the first group
)

// palette is Okabe's and Ito's, which the colour-blind can tell apart. The
// peers take them in the order of the lines.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xB2, 255}, // blue
	color.RGBA{0xE6, 0x9F, 0x00, 255}, // orange
	color.RGBA{0x00, 0x9E, 0x73, 255}, // green
	color.RGBA{0xD5, 0x5E, 0x00, 255}, // vermilion
	color.RGBA{0x56, 0xB4, 0xE9, 255}, // sky
	color.RGBA{0xCC, 0x79, 0xA7, 255}, // purple
	color.RGBA{0x55, 0x55, 0x55, 255}, // grey
}

// WritePlot writes an SVG: for each case a group of bars on a log scale, one
// for each other peer, from 1 × to what kith is better by. Bars to the left are
// those where kith loses. It returns ErrNothing if there is no bar.
func (r Run) WritePlot(w io.Writer) error {
	c := newChart(groups(r.Lines))
	if len(c.bars) == 0 {
		return ErrNothing
	}
	height := vg.Length(c.height)*barHeight + legendRoom + axisRoom + 2*margin
	canvas := vgsvg.New(plotWidth, 3*vg.Length(math.Ceil(float64(height/3)))) // 3 points are 4 whole pixels
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Path())
	c.draw(area)
	return writeSVG(w, canvas)
}

// writeSVG names fonts of the same widths beside gonum's, which few have: a
// page that shows an SVG as an image lets it load none.
func writeSVG(w io.Writer, canvas *vgsvg.Canvas) error {
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	if _, err := w.Write(svg); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}

// draw puts the legend above the plot.
func (c *chart) draw(area draw.Canvas) {
	p := plot.New()
	c.style(p)
	p.Add(bands(c.bands), &bars{c})
	p.Draw(draw.Crop(area, margin, -margin, margin, -legendRoom-margin))
	c.legend(draw.Crop(area, margin, -margin, 0, -margin))
}

// style sets the axes: a log scale below, the cases on the left. The axis has
// no label of gonum's, which on a log scale takes a part of the plot's width.
func (c *chart) style(p *plot.Plot) {
	p.X.Min, p.X.Max = c.limits()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	p.X.Tick.Label.Font = sans(9, ink).Font
	p.Y.Min, p.Y.Max, p.Y.Padding = 0, c.height, 0
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Y.Tick.Marker = plot.ConstantTicks(c.cases())
	p.Y.Tick.Label.Font = sans(caseSize, ink).Font
}

func (c *chart) cases() []plot.Tick {
	var ts []plot.Tick
	for _, b := range c.bands {
		ts = append(ts, plot.Tick{Value: (b.low + b.high) / 2, Label: b.label})
	}
	return ts
}

// limits of the axis: wide enough for every bar and for the longest number on
// either side.
func (c *chart) limits() (low, high float64) {
	low, high = 0.5, 2
	for _, b := range c.bars {
		if b.ratio > 0 {
			low, high = min(low, b.ratio), max(high, b.ratio)
		}
	}
	left, right := c.numberRoom()
	perPoint := math.Log(high/low) / float64(plotWidth-3*margin-c.caseRoom()-left-right)
	return low * math.Exp(-perPoint*float64(left)), high * math.Exp(perPoint*float64(right))
}

// numberRoom is the width of the longest number on either side.
func (c *chart) numberRoom() (left, right vg.Length) {
	left, right = 3*margin, 3*margin
	for _, b := range c.bars {
		width := sans(numberSize, ink).Width(b.label()) + labelGap
		if b.ratio < 1 {
			left = max(left, width)
		} else {
			right = max(right, width)
		}
	}
	return left, right
}

// caseRoom is the width of the longest name of a case.
func (c *chart) caseRoom() (width vg.Length) {
	for _, b := range c.bands {
		width = max(width, sans(caseSize, ink).Width(b.label))
	}
	return width
}
