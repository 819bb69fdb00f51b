package report

import "cmp"

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

// Judge holds lines against targets, in the targets' order. A target that was
// not measured is not met.
func Judge(lines []Line, targets []Target) []TargetResult {
	results := make([]TargetResult, len(targets))
	for i, t := range targets {
		results[i] = t.judge(lines)
	}
	return results
}

func (t Target) judge(lines []Line) TargetResult {
	peer := cmp.Or(t.Peer, Kith)
	ours, _ := find(lines, t.Work, t.Case, peer)
	theirs, _ := find(lines, t.Work, cmp.Or(t.AgainstCase, t.Case), cmp.Or(t.Against, peer))
	ratio, ok := Ratio(ours, theirs)
	return TargetResult{Target: t, Ratio: ratio, Measured: ok, Met: ok && ratio >= t.AtLeast}
}

// MissedBy is the part of AtLeast that is lacking: 0 if the target was met, 1
// if nothing was reached or measured.
func (r TargetResult) MissedBy() float64 {
	switch {
	case r.Met:
		return 0
	case !r.Measured:
		return 1
	}
	return 1 - r.Ratio/r.AtLeast
}
