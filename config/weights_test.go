package config

import (
	"maps"
	"strings"
	"testing"
)

func TestWeights(t *testing.T) {
	var w Weights
	if err := w.UnmarshalText([]byte("message=4, visit=0.5,tag_2=1e2")); err != nil {
		t.Fatal(err)
	}
	if want := (Weights{"message": 4, "visit": 0.5, "tag_2": 100}); !maps.Equal(w, want) {
		t.Errorf("got %v, want %v", w, want)
	}
	for text, want := range map[string]string{
		"": "kind=weight", "visit": "weight of visit", "Visit=1": "kind=weight", "visit=0": "above 0", "visit=-1": "above 0",
		"visit=NaN": "above 0", "visit=1001": "at most 1000", "visit=Inf": "at most 1000", "visit=1,visit=2": "two weights",
		"visit=1,": "kind=weight", "=1": "kind=weight", strings.Repeat("a", 33) + "=1": "kind=weight",
	} {
		if err := w.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// The defaults weigh what the service records by itself.
func TestWeights_Default(t *testing.T) {
	good(t)
	s, err := start(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"follow", "visit", "message", "comment", "reply", "repost", "favourite", "mention"} {
		if s.Affinity.Weights[kind] <= 0 {
			t.Errorf("%s weighs %v", kind, s.Affinity.Weights[kind])
		}
	}
}
