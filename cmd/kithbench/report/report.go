// Package report keeps what a run of the benchmark measured and shows it: as JSON
// for programs, as a table for people, and as a small table and a plot for a README.
//
// A run is a list of lines, one for each peer of each case of each work, and a
// line keeps every round it was measured in: tables and plots take the medians,
// the JSON has all of it. What counts is the ratio between kith and another
// peer of the same case. It is turned so that above 1 kith is always the better
// one, whether a high figure is good (follows per second) or a low one (bytes).
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Kith is the peer that all others are compared with.
const Kith = "kith"

// ours says that a peer is kith in another form, to which kith cannot lose.
func ours(peer string) bool { return strings.HasPrefix(peer, Kith) }

// Higher and Lower are the values of Line.Better. Anything else is Higher.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Run is everything that one run of the benchmark measured, and where. It names
// no host and no path.
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

// Line is what one peer did in one case of one work. What was timed has Rounds,
// of which the rate counts or, where less is better, the time of one call. What
// was weighed has Values, in Unit.
type Line struct {
	Work   string    `json:"work"`   // hot
	Case   string    `json:"case"`   // 256 clients
	Unit   string    `json:"unit"`   // follows/s, ms, bytes an edge
	Better string    `json:"better"` // Higher or Lower
	Peer   string    `json:"peer"`
	Rounds []Round   `json:"rounds,omitempty"`
	Values []float64 `json:"values,omitempty"`
}

// Round is one measurement of a rate: what was done, in how long, how many
// microseconds half and 99 of 100 calls took at most, and how many calls failed,
// which Ops does not count.
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

// ReadJSON reads a run that WriteJSON wrote.
func ReadJSON(r io.Reader) (run Run, err error) {
	if err := json.NewDecoder(r).Decode(&run); err != nil {
		return Run{}, fmt.Errorf("read run from JSON: %w", err)
	}
	return run, nil
}

// Samples returns one figure for each round: the value, the rate or, where less
// is better, the milliseconds that half of the calls took at most.
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

// Median is the median of the samples; 0 if there are none.
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

// Ratio is how many times better mine is than theirs; below 1 it is worse. It
// is not ok if there is nothing to compare: theirs is 0 or was not measured, or
// mine is where lower is better, as with bytes of a disk that a peer does not
// have. A rate of mine that is 0 gives 0.
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

// line is that of a peer in a case; without samples if there is none.
func (r Run) line(work, kase, peer string) Line {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Work == work && l.Case == kase && l.Peer == peer })
	if i < 0 {
		return Line{}
	}
	return r.Lines[i]
}

// group is the lines of one case, kith's first.
type group []Line

// groups sorts lines by work and case, each in the order of its first line.
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

// Target is what a peer is meant to reach against another one: a ratio, turned
// so that more is better for Peer.
type Target struct {
	Work        string  `json:"work"`
	Case        string  `json:"case"`
	Peer        string  `json:"peer"`                   // whose figure; empty is kith
	Against     string  `json:"against"`                // empty is Peer itself, in AgainstCase
	AgainstCase string  `json:"against_case,omitempty"` // empty is Case
	AtLeast     float64 `json:"at_least"`
	Text        string  `json:"text"`
}

// TargetResult is a target and what became of it.
type TargetResult struct {
	Target
	Ratio    float64 `json:"ratio"`    // 0 if not measured
	Measured bool    `json:"measured"` // both figures are there
	Met      bool    `json:"met"`
}

// Compare fills r.Targets: those whose work was run, in their order. One that was
// not measured is not met.
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
