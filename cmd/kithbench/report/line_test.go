package report

import "testing"

func rate(ops int64, p50, p99 float64) Round {
	return Round{Ops: ops, Seconds: 2, P50: p50, P99: p99, Failed: 1}
}

func TestLine_Median(t *testing.T) {
	for _, c := range []struct {
		name string
		line Line
		want float64
	}{
		{"Nothing", Line{}, 0},
		{"OneRound", Line{Rounds: []Round{rate(8, 0, 0)}}, 4},
		{"OddRounds", Line{Rounds: []Round{rate(100, 0, 0), rate(2, 0, 0), rate(8, 0, 0)}}, 4},
		{"EvenRounds", Line{Rounds: []Round{rate(8, 0, 0), rate(2, 0, 0)}}, 2.5},
		{"NoTime", Line{Rounds: []Round{{Ops: 8}}}, 0},
		{"Values", Line{Values: []float64{9, 1, 2}}, 2},
		{"Latency", Line{Better: Lower, Rounds: []Round{rate(8, 2e3, 0), rate(2, 9e3, 0), rate(2, 3e3, 0)}}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.line.Median(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestLine_Rounds(t *testing.T) {
	l := Line{Rounds: []Round{rate(6, 3000, 90_000), rate(2, 1000, 70_000), rate(4, 2000, 80_000)}}
	if p50, p99 := l.Quantiles(); p50 != 2 || p99 != 80 {
		t.Errorf("got p50 %v and p99 %v, want 2 and 80", p50, p99)
	}
	if l.Failed() != 3 {
		t.Errorf("got %d failed, want 3", l.Failed())
	}
	if l.Rounds[0].Ops != 6 {
		t.Error("the rounds' order was changed")
	}
}

func value(better string, v ...float64) Line { return Line{Better: better, Values: v} }

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		name         string
		ours, theirs Line
		want         float64
		ok           bool
	}{
		{"Higher", value(Higher, 20), value(Higher, 5), 4, true},
		{"HigherLoses", value(Higher, 5), value(Higher, 20), 0.25, true},
		{"Lower", value(Lower, 5), value(Lower, 20), 4, true},
		{"LowerLoses", value(Lower, 20), value(Lower, 5), 0.25, true},
		{"OursFailed", value(Higher, 0), value(Higher, 5), 0, true},
		{"TheirsFailed", value(Higher, 5), value(Higher, 0), 0, false},
		{"TheyHaveNone", value(Lower, 5), value(Lower, 0), 0, false},
		{"WeHaveNone", value(Lower, 0), value(Lower, 5), 0, false},
		{"OursNotMeasured", value(Higher), value(Higher, 5), 0, false},
		{"TheirsNotMeasured", value(Higher, 5), value(Higher), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := Ratio(c.ours, c.theirs); got != c.want || ok != c.ok {
				t.Errorf("got %v, %v, want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	gs := Run{Lines: []Line{
		{Work: "hot", Case: "1", Peer: "redis"}, {Work: "page", Case: "1", Peer: Kith},
		{Work: "hot", Case: "2", Peer: Kith}, {Work: "hot", Case: "1", Peer: Kith},
	}}.groups()
	var got string
	for _, g := range gs {
		got += g[0].Work + " " + g[0].Case + " " + g[0].Peer + "; "
	}
	if want := "hot 1 kith; hot 2 kith; page 1 kith; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
