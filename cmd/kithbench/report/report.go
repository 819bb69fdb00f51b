// Package report keeps what a run measured and shows it: as JSON, as a table, and as a small
// table and a plot for a README.
//
// A run has a line for each peer of each case of each work, and a line has every round. The
// JSON has all of it; tables and the plot have medians, and the ratio between kith and
// another peer of a case. Above 1 kith is always the better one, whether a high figure is
// good (follows a second) or a low one (bytes).
package report

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
)

// Kith is the peer with which all others are compared.
const Kith = "kith"

// ours reports whether a peer is kith in some form, to which kith cannot lose.
func ours(peer string) bool { return strings.HasPrefix(peer, Kith) }

// Higher and Lower are the values of Line.Better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Run is all that one run measured, and where. It names no host and no path.
type Run struct {
	Started  time.Time         `json:"started"`
	Took     time.Duration     `json:"took_ns"`
	Commit   string            `json:"commit"`
	Dirty    bool              `json:"dirty"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Graph    string            `json:"graph"`
	Rounds   int               `json:"rounds"`
	Short    bool              `json:"short"` // too short a run to publish
	Args     []string          `json:"args"`
	Lines    []Line            `json:"lines"`
	Targets  []TargetResult    `json:"targets"`
}

// Line is what one peer did in one case of one work. If it was timed it has Rounds, of which
// the rate counts or, where less is better, the time of a call; else it has Values, in Unit.
type Line struct {
	Work   string    `json:"work"`   // hot
	Case   string    `json:"case"`   // 256 clients
	Unit   string    `json:"unit"`   // follows/s, ms, bytes an edge
	Better string    `json:"better"` // Higher or Lower
	Peer   string    `json:"peer"`
	Rounds []Round   `json:"rounds,omitempty"`
	Values []float64 `json:"values,omitempty"`
}

// Round is one measurement: calls that succeeded, seconds, the median and the 99th percentile
// of a call in microseconds, and calls that failed.
type Round struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Failed  int64   `json:"failed"`
}

// WriteJSON writes the whole run, with every round.
func (r Run) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Samples returns one figure for each round: the value, the rate or, where less is better,
// the median call in milliseconds.
func (l Line) Samples() []float64 {
	s := slices.Clone(l.Values)
	for _, r := range l.Rounds {
		switch {
		case l.Better == Lower:
			s = append(s, r.P50/1000)
		case r.Seconds > 0:
			s = append(s, float64(r.Ops)/r.Seconds)
		default:
			s = append(s, 0)
		}
	}
	return s
}

// Median is that of the samples; 0 if there are none.
func (l Line) Median() float64 { return median(l.Samples()) }

// Quantiles are the medians of the rounds' medians and 99th percentiles, in
// milliseconds; 0 if there are none.
func (l Line) Quantiles() (p50, p99 float64) {
	var half, most []float64
	for _, r := range l.Rounds {
		half, most = append(half, r.P50/1000), append(most, r.P99/1000)
	}
	return median(half), median(most)
}

// Failed is the number of failed calls of all rounds.
func (l Line) Failed() (n int64) {
	for _, r := range l.Rounds {
		n += r.Failed
	}
	return n
}

// median of an even number of samples is halfway between the two in the middle.
func median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Ratio is how many times better mine is than theirs; below 1 it is worse. It is not ok if
// one of them is missing or 0; only a rate of mine may be 0.
func Ratio(mine, theirs Line) (ratio float64, ok bool) {
	a, b := mine.Median(), theirs.Median()
	switch {
	case len(mine.Samples()) == 0 || b <= 0:
		return 0, false
	case mine.Better != Lower:
		return a / b, true
	case a <= 0:
		return 0, false
	}
	return b / a, true
}

// line finds the line of a peer in a case; it is empty if there is none.
func (r Run) line(work, kase, peer string) Line {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Work == work && l.Case == kase && l.Peer == peer })
	if i < 0 {
		return Line{}
	}
	return r.Lines[i]
}

// group is the lines of one case, kith's first.
type group []Line

// groups sorts lines by work and by case, in the order in which these first appear.
func (r Run) groups() (all []group) {
	first := map[[2]string]int{}
	for i, l := range slices.Backward(r.Lines) {
		first[[2]string{l.Work}], first[[2]string{l.Work, l.Case}] = i, i
	}
	others := func(l Line) int {
		if l.Peer == Kith {
			return 0
		}
		return 1
	}
	lines := slices.SortedStableFunc(slices.Values(r.Lines), func(a, b Line) int {
		return cmp.Or(first[[2]string{a.Work}]-first[[2]string{b.Work}],
			first[[2]string{a.Work, a.Case}]-first[[2]string{b.Work, b.Case}],
			others(a)-others(b))
	})
	for i, l := range lines {
		if i == 0 || l.Work != lines[i-1].Work || l.Case != lines[i-1].Case {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], l)
	}
	return all
}

// ratio is kith's against one line of the group; not ok for kith's own.
func (g group) ratio(l Line) (float64, bool) {
	if l.Peer == Kith || g[0].Peer != Kith {
		return 0, false
	}
	return Ratio(g[0], l)
}

// Target is a ratio, as of [Ratio], that Peer is meant to reach against another one.
type Target struct {
	Work        string  `json:"work"`
	Case        string  `json:"case"`
	Peer        string  `json:"peer"`                   // whose figure; empty is kith
	Against     string  `json:"against"`                // empty is Peer itself, in AgainstCase
	AgainstCase string  `json:"against_case,omitempty"` // empty is Case
	AtLeast     float64 `json:"at_least"`
	Text        string  `json:"text"`
}

// TargetResult is a target and whether it was met.
type TargetResult struct {
	Target
	Ratio    float64 `json:"ratio"`    // 0 if not measured
	Measured bool    `json:"measured"` // both figures are there
	Met      bool    `json:"met"`
}

// Compare fills r.Targets with those whose work was run. One that was not measured is not met.
func (r *Run) Compare(targets []Target) {
	for _, t := range targets {
		if !slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Work == t.Work }) {
			continue
		}
		peer := cmp.Or(t.Peer, Kith)
		ratio, ok := Ratio(r.line(t.Work, t.Case, peer), r.line(t.Work, cmp.Or(t.AgainstCase, t.Case), cmp.Or(t.Against, peer)))
		r.Targets = append(r.Targets, TargetResult{Target: t, Ratio: ratio, Measured: ok, Met: ok && ratio >= t.AtLeast})
	}
}
