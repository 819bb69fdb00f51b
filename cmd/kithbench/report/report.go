// Package report keeps what a run of the benchmark measured and shows it: as a
// table for people, as JSON for programs and as a plot for a README.
//
// A run is a list of lines, one for each peer of each case of each work, and a
// line keeps every round it was measured in: tables and plots take the medians,
// the JSON has all of it. What counts is the ratio between kith and another
// peer of the same case. It is turned so that above 1 kith is always the better
// one, whether a high figure is good (follows per second) or a low one (bytes).
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// Kith is the peer that all others are compared with.
const Kith = "kith"

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
	Unit   string    `json:"unit"`   // follows/s, ms, bytes
	Better string    `json:"better"` // Higher or Lower
	Peer   string    `json:"peer"`
	Rounds []Round   `json:"rounds,omitempty"`
	Values []float64 `json:"values,omitempty"`
}

// Round is one measurement of a rate: what was done, in how long, how long half
// and how long 99 of 100 calls took at most, and how many calls failed, which
// Ops does not count.
type Round struct {
	Ops      int64
	Seconds  float64
	P50, P99 time.Duration
	Failed   int64
}

// roundJSON is a Round as it is written: times are microseconds.
type roundJSON struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Failed  int64   `json:"failed"`
}

// MarshalJSON writes the times in microseconds, as p50_us and p99_us.
func (r Round) MarshalJSON() ([]byte, error) {
	us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	return json.Marshal(roundJSON{r.Ops, r.Seconds, us(r.P50), us(r.P99), r.Failed})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Round) UnmarshalJSON(b []byte) error {
	var j roundJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	ns := func(us float64) time.Duration { return time.Duration(math.Round(us * float64(time.Microsecond))) }
	*r = Round{j.Ops, j.Seconds, ns(j.P50), ns(j.P99), j.Failed}
	return nil
}

// WriteJSON writes the whole run, with every round.
func (r Run) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write run as JSON: %w", err)
	}
	return nil
}

// ReadJSON reads a run that WriteJSON wrote.
func ReadJSON(r io.Reader) (Run, error) {
	var run Run
	if err := json.NewDecoder(r).Decode(&run); err != nil {
		return Run{}, fmt.Errorf("read run from JSON: %w", err)
	}
	return run, nil
}
