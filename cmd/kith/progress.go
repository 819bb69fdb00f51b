package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"

	"kith/app/graph"
)

// progress shows how far an import, an export or a job is: a bar with rate and time left
// on a terminal, a line every few seconds elsewhere.
type progress struct {
	to    io.Writer
	now   func() time.Time
	bar   func(graph.Progress) *progressbar.ProgressBar // nil: no terminal
	shown *progressbar.ProgressBar
	phase string
	last  graph.Progress
	begun time.Time // of the phase
	lined time.Time // when the last plain line was written
}

// linePause is the time between two plain lines.
const linePause = 3 * time.Second

func newProgress(to *os.File, now func() time.Time) *progress {
	p := &progress{to: to, now: now}
	if isatty.IsTerminal(to.Fd()) {
		p.bar = func(at graph.Progress) *progressbar.ProgressBar { return newBar(to, at) }
	}
	return p
}

func newBar(to io.Writer, at graph.Progress) *progressbar.ProgressBar {
	total := at.Total
	if total <= 0 {
		total = -1 // a spinner
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(to), progressbar.OptionSetDescription(fmt.Sprintf("%-7s", at.Phase)),
		progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionOnCompletion(func() { fmt.Fprintln(to) }),
	}
	if at.Phase == "read" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(units[at.Phase]))
	}
	return progressbar.NewOptions64(total, options...)
}

// units are what the phases count. Each edge is written twice, once for each
// of its sides.
var units = map[string]string{
	"read": "bytes", "accounts": "sides", "write": "sides", "check": "rows", "settle": "edges", "export": "edges",
	"link": "lines", "place": "lines", "posts": "posts", "counts": "replies and reposts", // an import of posts
	"rebuild": "rows", "differing": "rows", "verify": "pairs", "others": "accounts", "post rows": "rows", // an audit
	"trim": "rows", "affinity": "events", "suggest": "accounts", "audit": "rows", "expire": "rows", "checkpoint": "accounts", // the jobs
}

// report shows how far a phase is. Phases without a unit are not shown.
func (p *progress) report(at graph.Progress) {
	if units[at.Phase] == "" {
		return
	}
	now := p.now()
	if at.Phase != p.phase {
		p.end()
		p.phase, p.begun, p.lined, p.last = at.Phase, now, now, at
		if p.bar != nil {
			p.shown = p.bar(at)
			p.shown.StartWithoutRender() // its clock
		}
		return // a rate takes two reports
	}
	moved := at.Total != p.last.Total
	p.last = at
	switch {
	case p.shown != nil:
		if moved && at.Total > 0 { // the estimate of a job gets better
			p.shown.ChangeMax64(at.Total)
		}
		p.set()
	case p.bar == nil && now.Sub(p.lined) >= linePause:
		p.lined = now
		fmt.Fprintln(p.to, line(at, now.Sub(p.begun)))
	}
}

// set moves the bar. The only error is that more is done than there is in all.
func (p *progress) set() { _ = p.shown.Set64(p.last.Done) }

// end leaves the bar as it is and begins a new line.
func (p *progress) end() {
	if p.shown == nil {
		return
	}
	p.set()
	// A full bar has ended its line by itself.
	if !p.shown.IsFinished() {
		fmt.Fprintln(p.to)
	}
	p.shown = nil
}

// line is what the bar shows, as text.
func line(at graph.Progress, took time.Duration) string {
	rate := float64(at.Done) / max(took.Seconds(), 1e-9)
	unit := units[at.Phase]
	if at.Total <= 0 {
		return fmt.Sprintf("%s: %d %s, %.0f a second", at.Phase, at.Done, unit, rate)
	}
	text := fmt.Sprintf("%s: %d of %d %s (%d%%), %.0f a second", at.Phase, at.Done, at.Total, unit, 100*at.Done/at.Total, rate)
	if rate < 1 {
		return text
	}
	left := time.Duration(float64(at.Total-at.Done) / rate * float64(time.Second))
	return text + fmt.Sprintf(", %v left", left.Round(time.Second))
}
