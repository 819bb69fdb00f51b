package report

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tinyRun has one line of each kind.
func tinyRun() Run {
	rounds := func(ops ...int64) (rs []Round) {
		for _, n := range ops {
			rs = append(rs, Round{Ops: n, Seconds: 1, P50: 420 * time.Microsecond, P99: 12345 * time.Microsecond})
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
		{Work: "space", Case: "disk", Unit: "bytes", Better: Lower, Peer: Kith, Values: []float64{50 << 20}},
		{Work: "space", Case: "disk", Unit: "bytes", Better: Lower, Peer: "twotable", Values: []float64{200 << 20}},
		{Work: "space", Case: "disk", Unit: "bytes", Better: Lower, Peer: "redis", Values: []float64{0}},
	}
	r.Lines[2].Rounds[1].Failed = 1234
	r.Targets = Judge(r.Lines, []Target{
		{Work: "hot", Case: "256 clients", Against: "twotable", AtLeast: 10, Text: "10 × two tables"},
		{Work: "hot", Case: "256 clients", Against: "redis", AtLeast: 1, Text: "as fast as Redis"},
		{Work: "http", Case: "x", Against: "echo", AtLeast: 1, Text: "as fast as echo"},
	})
	return r
}

func TestRun_WriteTable(t *testing.T) {
	var b strings.Builder
	if err := tinyRun().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/tiny.txt", b.String())
}

func TestRun_WriteMarkdown(t *testing.T) {
	var b strings.Builder
	if err := tinyRun().WriteMarkdown(&b); err != nil {
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
		"table": r.WriteTable(full{}), "markdown": r.WriteMarkdown(full{}), "JSON": r.WriteJSON(full{}), "plot": r.WritePlot(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", name, err, errFull)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{number(0), "0"}, {number(0.0421), "0.0421"}, {number(4.204), "4.20"}, {number(42.06), "42.1"},
		{number(1234567.8), "1,234,568"}, {number(99.97), "100.0"}, {amount(1<<30, "bytes"), "1.000 GiB"},
		{times(0.9999), "1.00 ×"}, {times(0.9949), "0.995 ×"}, {times(0.29), "0.290 ×"}, {times(1), "1.00 ×"}, {times(0.004216), "0.00422 ×"},
		{times(0), "0 ×"}, {times(9.996), "10.0 ×"}, {times(99.96), "100 ×"}, {times(1000), "1,000 ×"}, {times(12345), "12,300 ×"},
		{millis(0), none}, {millis(1500 * time.Microsecond), "1.50"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
