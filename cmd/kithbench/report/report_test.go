package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestRun_JSON(t *testing.T) {
	want := madeRun()
	want.Lines[0].Rounds[0].P50 = 1234.567
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"p50_us": 1234.567`) {
		t.Error("got no p50 in microseconds")
	}
	var got Run
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReadMachine(t *testing.T) {
	m := ReadMachine(t.TempDir())
	if m.Cores < 1 || m.MemoryBytes < 1<<20 || m.Kernel == "" || m.OS == "" || m.Filesystem == "" {
		t.Errorf("got %+v, want every field but the CPU set", m)
	}
}

func TestRun_Compare(t *testing.T) {
	lines := []Line{
		{Work: "hot", Case: "2", Peer: Kith, Values: []float64{100}},
		{Work: "hot", Case: "4", Peer: Kith, Values: []float64{80}},
		{Work: "hot", Case: "2", Peer: "redis", Values: []float64{20}},
		{Work: "disk", Better: Lower, Peer: Kith, Values: []float64{10}},
		{Work: "disk", Better: Lower, Peer: "redis", Values: []float64{15}},
	}
	for _, c := range []struct {
		name    string
		target  Target
		ratio   float64
		met     bool
		outcome string
	}{
		{"Met", Target{Work: "hot", Case: "2", Against: "redis", AtLeast: 5}, 5, true, "met"},
		{"Missed", Target{Work: "hot", Case: "2", Against: "redis", AtLeast: 20}, 5, false, "**missed** by 75.0 %"},
		{"Lower", Target{Work: "disk", Against: "redis", AtLeast: 2}, 1.5, false, "**missed** by 25.0 %"},
		{"OtherPeer", Target{Work: "hot", Case: "2", Peer: "redis", Against: Kith, AtLeast: 0.1}, 0.2, true, "met"},
		{"OtherCase", Target{Work: "hot", Case: "4", AgainstCase: "2", AtLeast: 0.75}, 0.8, true, "met"},
		{"NotMeasured", Target{Work: "hot", Case: "8", Against: "redis", AtLeast: 1}, 0, false, "not measured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Lines: lines}
			r.Compare([]Target{{Work: "not run"}, c.target})
			if len(r.Targets) != 1 {
				t.Fatalf("got %d targets, want only that whose work was run", len(r.Targets))
			}
			got := r.Targets[0]
			if row := got.row(); got.Ratio != c.ratio || got.Met != c.met || row[5] != c.outcome {
				t.Errorf("got %v, met %v, %s; want %v, %v, %s", got.Ratio, got.Met, row[5], c.ratio, c.met, c.outcome)
			}
			if measured := c.name != "NotMeasured"; got.Measured != measured {
				t.Errorf("got measured %v, want %v", got.Measured, measured)
			}
		})
	}
}
