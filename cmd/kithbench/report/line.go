package report

import (
	"cmp"
	"slices"
	"time"
)

// Samples returns one figure for each round: the value, the rate or, where less
// is better, the milliseconds that half of the calls took at most.
func (l Line) Samples() []float64 {
	s := slices.Clone(l.Values)
	for _, r := range l.Rounds {
		if l.Better == Lower {
			s = append(s, float64(r.P50)/float64(time.Millisecond))
		} else {
			s = append(s, r.Rate())
		}
	}
	return s
}

// Rate is what was done in a second; 0 if the round took no time.
func (r Round) Rate() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Ops) / r.Seconds
}

// Median is the median of the samples; 0 if there are none.
func (l Line) Median() float64 { return median(l.Samples()) }

// P50 is the median of the rounds' medians; 0 if there are none.
func (l Line) P50() time.Duration {
	return l.medianTime(func(r Round) time.Duration { return r.P50 })
}

// P99 is the median of the rounds' 99th percentiles; 0 if there are none.
func (l Line) P99() time.Duration {
	return l.medianTime(func(r Round) time.Duration { return r.P99 })
}

func (l Line) medianTime(of func(Round) time.Duration) time.Duration {
	var times []time.Duration
	for _, r := range l.Rounds {
		times = append(times, of(r))
	}
	return median(times)
}

// Spread is the lowest and the highest sample; 0, 0 if there are none.
func (l Line) Spread() (low, high float64) {
	s := l.Samples()
	if len(s) == 0 {
		return 0, 0
	}
	return slices.Min(s), slices.Max(s)
}

// Failed is the number of failed calls of all rounds.
func (l Line) Failed() int64 {
	var n int64
	for _, r := range l.Rounds {
		n += r.Failed
	}
	return n
}

// median of an even number of samples is halfway between the two in the middle.
// It leaves the samples' order alone.
func median[T ~int64 | ~float64](samples []T) T {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Clone(samples)
	slices.SortFunc(s, cmp.Compare[T])
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return s[mid-1] + (s[mid]-s[mid-1])/2
}

// Ratio is how many times better ours is than theirs; below 1 it is worse. It
// is not ok if there is nothing to compare: theirs is 0 or was not measured, or
// ours is where lower is better, as with bytes of a disk that a peer does not
// have. A rate of ours that is 0 gives 0.
func Ratio(ours, theirs Line) (ratio float64, ok bool) {
	a, b := ours.Median(), theirs.Median()
	switch {
	case len(ours.Samples()) == 0 || b <= 0:
		return 0, false
	case ours.Better != Lower:
		return a / b, true
	case a <= 0:
		return 0, false
	}
	return b / a, true
}

// find returns the line of a peer in a case; ok is false if there is none.
func find(lines []Line, work, kase, peer string) (line Line, ok bool) {
	i := slices.IndexFunc(lines, func(l Line) bool {
		return l.Work == work && l.Case == kase && l.Peer == peer
	})
	if i < 0 {
		return Line{}, false
	}
	return lines[i], true
}

// group is the lines of one case, kith's first.
type group struct {
	work, kase string
	lines      []Line
}

// groups sorts lines by work and case, each where it came first.
func groups(lines []Line) []group {
	var gs []group
	for _, l := range lines {
		i := slices.IndexFunc(gs, func(g group) bool { return g.work == l.Work && g.kase == l.Case })
		if i < 0 {
			i = len(gs)
			gs = append(gs, group{work: l.Work, kase: l.Case})
		}
		gs[i].lines = append(gs[i].lines, l)
	}
	for _, g := range gs {
		slices.SortStableFunc(g.lines, func(a, b Line) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return together(gs)
}

func rank(l Line) int {
	if l.Peer == Kith {
		return 0
	}
	return 1
}

// together moves the cases of a work to its first one.
func together(gs []group) []group {
	first := map[string]int{}
	for i, g := range gs {
		if _, seen := first[g.work]; !seen {
			first[g.work] = i
		}
	}
	slices.SortStableFunc(gs, func(a, b group) int { return cmp.Compare(first[a.work], first[b.work]) })
	return gs
}

// ratio is kith's against one line of the group; not ok for kith's own.
func (g group) ratio(l Line) (float64, bool) {
	if l.Peer == Kith || g.lines[0].Peer != Kith {
		return 0, false
	}
	return Ratio(g.lines[0], l)
}
