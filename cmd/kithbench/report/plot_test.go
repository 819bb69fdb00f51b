package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRun_WritePlot also leaves the plot in KITHBENCH_PLOT, to be looked at.
func TestRun_WritePlot(t *testing.T) {
	var b bytes.Buffer
	if err := madeRun().WritePlot(&b); err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("KITHBENCH_PLOT"); path != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	words := svgTexts(t, &b)
	for _, want := range slices.Concat(madePeers[2:], []string{"1 ×", "0.200 × redis", "800 × naive", "hot, 256 clients"}) {
		if !slices.Contains(words, want) {
			t.Errorf("got no text %q in the plot, want one", want)
		}
	}
	if slices.Contains(words, "kith-alone") {
		t.Error("kith has a bar beside itself")
	}
}

// svgTexts returns the texts of an SVG, which must be well-formed.
func svgTexts(t *testing.T, r io.Reader) []string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("the SVG is not well-formed: %v", err)
		}
		if c, ok := token.(xml.CharData); ok {
			words = append(words, strings.TrimSpace(string(c)))
		}
	}
}

func TestRun_WritePlot_Nothing(t *testing.T) {
	alone := Run{Lines: []Line{{Work: "hot", Case: "1", Peer: Kith, Values: []float64{1}}}}
	var b bytes.Buffer
	if err := alone.WritePlot(&b); err != nil || b.Len() > 0 {
		t.Errorf("got %v and %s, want nothing", err, b.String())
	}
}

// A ratio of 0 has no position on a log scale, nor have bars all alike a span.
func TestRun_WritePlot_Edges(t *testing.T) {
	for _, rate := range []float64{0, 1} {
		r := Run{Lines: []Line{
			{Work: "hot", Case: "1", Peer: Kith, Values: []float64{rate}},
			{Work: "hot", Case: "1", Peer: "redis", Values: []float64{1}},
		}}
		var b bytes.Buffer
		if err := r.WritePlot(&b); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
			t.Errorf("rate %v: got a plot with NaN or Inf", rate)
		}
	}
}
