package report

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tinyRun has one line of each kind.
func tinyRun() Run {
	rounds := func(ops ...int64) (rs []Round) {
		for _, n := range ops {
			rs = append(rs, Round{Ops: n, Seconds: 1, P50: 420, P99: 12345})
		}
		return rs
	}
	r := madeRun()
	r.Short = true
	r.Lines = []Line{
		{Work: "hot", Case: "256 clients", Unit: "follows/s", Better: Higher, Peer: "twotable", Rounds: rounds(1000, 1010, 990)},
		{Work: "hot", Case: "256 clients", Unit: "follows/s", Better: Higher, Peer: Kith, Rounds: rounds(12345, 12000, 13000)},
		{Work: "hot", Case: "256 clients", Unit: "follows/s", Better: Higher, Peer: "redis", Rounds: rounds(24690, 24000, 25000)},
		{Work: "hot", Case: "1 client", Unit: "follows/s", Better: Higher, Peer: Kith, Rounds: rounds(400)},
		{Work: "space", Case: "disk", Unit: "bytes an edge", Better: Lower, Peer: Kith, Values: []float64{11.907}},
		{Work: "space", Case: "disk", Unit: "bytes an edge", Better: Lower, Peer: "twotable", Values: []float64{137.59}},
	}
	r.Lines[2].Rounds[1].Failed = 1234
	r.Targets = nil
	r.Compare([]Target{
		{Work: "hot", Case: "256 clients", Against: "twotable", AtLeast: 10, Text: "10 × two tables"},
		{Work: "hot", Case: "256 clients", Against: "redis", AtLeast: 1, Text: "as fast as Redis"},
		{Work: "hot", Case: "x", Against: "echo", AtLeast: 1, Text: "as fast as echo"},
	})
	return r
}

func TestRun_WriteTable(t *testing.T) {
	var b strings.Builder
	if err := tinyRun().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/tiny.md", b.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestRun_Write_Full(t *testing.T) {
	r := madeRun()
	for name, err := range map[string]error{
		"table": r.WriteTable(full{}), "JSON": r.WriteJSON(full{}), "plot": r.WritePlot(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", name, err, errFull)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(0), "0"}, {number(0.0421), "0.0421"}, {number(4.204), "4.20"}, {number(42.06), "42.1"},
		{number(1234567.8), "1,234,568"}, {number(99.97), "100.0"},
		{times(0.9999), "1.00 ×"}, {times(0.9949), "0.995 ×"}, {times(0.29), "0.290 ×"}, {times(1), "1.00 ×"}, {times(0.004216), "0.00422 ×"},
		{times(0), "0 ×"}, {times(9.996), "10.0 ×"}, {times(99.96), "100 ×"}, {times(1000), "1,000 ×"}, {times(12345), "12,300 ×"},
		{orNone(0), none}, {orNone(1.5), "1.50"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRun_Summary(t *testing.T) {
	r := Run{Lines: []Line{
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: Kith, Values: []float64{12000}},
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: "kith-alone", Values: []float64{13000}},
		{Work: "hot", Case: "many", Unit: "follows/s", Better: Higher, Peer: "quick", Values: []float64{48000}},
		{Work: "one", Case: "few", Unit: "ms", Better: Lower, Peer: Kith, Rounds: []Round{{Ops: 1, Seconds: 1, P50: 500}}},
		{Work: "one", Case: "few", Unit: "ms", Better: Lower, Peer: "quick", Rounds: []Round{{Ops: 1, Seconds: 1, P50: 1000}}},
	}}
	got := r.Summary([]Column{{"kith", Kith}, {"alone", "kith-alone"}, {"the quick", "quick"}},
		[]Row{{"many follow", "hot", "many"}, {"one follows", "one", "few"}, {"none", "hot", "none"}})
	want := `| | kith | alone | the quick |
| --- | ---: | ---: | ---: |
| many follow | 12,000 | 13,000 | 48,000 (**0.250 ×**) |
| one follows | 0.500 ms | – | 1.00 ms (2.00 ×) |
| none | – | – | – |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
