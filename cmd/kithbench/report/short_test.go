package report

import (
	"strings"
	"testing"
	"time"
)

func TestRun_WriteShort(t *testing.T) {
	r := Run{Lines: []Line{
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: Kith, Values: []float64{12000}},
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: "kith-alone", Values: []float64{13000}},
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: "quick", Values: []float64{48000}},
		{Work: "one", Case: "few", Unit: "ms", Better: Lower, Peer: Kith, Rounds: []Round{{Ops: 1, Seconds: 1, P50: time.Millisecond / 2}}},
		{Work: "one", Case: "few", Unit: "ms", Better: Lower, Peer: "quick", Rounds: []Round{{Ops: 1, Seconds: 1, P50: time.Millisecond}}},
	}}
	var got strings.Builder
	err := r.WriteShort(&got, []Column{{"kith", Kith}, {"alone", "kith-alone"}, {"the quick", "quick"}},
		[]Shown{{"many follow", "hot", "many"}, {"one follows", "one", "few"}, {"nobody", "hot", "none"}})
	want := `| | kith | alone | the quick |
| --- | ---: | ---: | ---: |
| many follow | 12,000 | 13,000 | 48,000 (**0.250 ×**) |
| one follows | 0.500 ms | – | 1.00 ms (2.00 ×) |
| nobody | – | – | – |
`
	if err != nil || got.String() != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got.String(), want)
	}
}
