package report

import (
	"math"
	"testing"
)

func TestJudge(t *testing.T) {
	lines := []Line{
		{Work: "hot", Case: "2", Peer: Kith, Values: []float64{100}},
		{Work: "hot", Case: "4", Peer: Kith, Values: []float64{80}},
		{Work: "hot", Case: "2", Peer: "redis", Values: []float64{20}},
		{Work: "disk", Better: Lower, Peer: Kith, Values: []float64{10}},
		{Work: "disk", Better: Lower, Peer: "redis", Values: []float64{15}},
	}
	for _, c := range []struct {
		name     string
		target   Target
		ratio    float64
		met      bool
		missedBy float64
	}{
		{"Met", Target{Work: "hot", Case: "2", Against: "redis", AtLeast: 5}, 5, true, 0},
		{"Missed", Target{Work: "hot", Case: "2", Against: "redis", AtLeast: 20}, 5, false, 0.75},
		{"Lower", Target{Work: "disk", Against: "redis", AtLeast: 2}, 1.5, false, 0.25},
		{"OtherPeer", Target{Work: "hot", Case: "2", Peer: "redis", Against: Kith, AtLeast: 0.1}, 0.2, true, 0},
		{"OtherCase", Target{Work: "hot", Case: "4", AgainstCase: "2", AtLeast: 0.75}, 0.8, true, 0},
		{"NotMeasured", Target{Work: "gone", Against: "redis", AtLeast: 1}, 0, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Judge(lines, []Target{c.target})[0]
			if got.Ratio != c.ratio || got.Met != c.met || math.Abs(got.MissedBy()-c.missedBy) > 1e-9 {
				t.Errorf("got %v, met %v, missed by %v; want %v, %v, %v",
					got.Ratio, got.Met, got.MissedBy(), c.ratio, c.met, c.missedBy)
			}
			if measured := c.name != "NotMeasured"; got.Measured != measured {
				t.Errorf("got measured %v, want %v", got.Measured, measured)
			}
		})
	}
}
