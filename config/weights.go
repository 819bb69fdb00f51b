package config

import (
	"encoding"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Weights are the kinds of interaction and what one of each is worth, written
// as message=4,visit=1.
type Weights map[string]float64

var _ encoding.TextUnmarshaler = (*Weights)(nil)

// Bounds of Weights.
const (
	maxWeight = 1000
	maxKinds  = 64
)

var kindRE = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// UnmarshalText reads weights.
func (w *Weights) UnmarshalText(text []byte) error {
	read := Weights{}
	for pair := range strings.SplitSeq(string(text), ",") {
		kind, number, _ := strings.Cut(strings.TrimSpace(pair), "=")
		weight, err := strconv.ParseFloat(number, 64)
		_, twice := read[kind]
		switch {
		case !kindRE.MatchString(kind):
			return fmt.Errorf("%q is not kind=weight, such as message=4", pair)
		case err != nil || !(weight > 0 && weight <= maxWeight):
			return fmt.Errorf("the weight of %s is not a number above 0, at most %d", kind, maxWeight)
		case twice:
			return fmt.Errorf("%s has two weights", kind)
		case len(read) == maxKinds:
			return fmt.Errorf("there are more than %d kinds", maxKinds)
		}
		read[kind] = weight
	}
	*w = read
	return nil
}

// String writes weights as they are read, in the order of the kinds.
func (w Weights) String() string {
	pairs := make([]string, 0, len(w))
	for _, kind := range slices.Sorted(maps.Keys(w)) {
		pairs = append(pairs, kind+"="+strconv.FormatFloat(w[kind], 'g', -1, 64))
	}
	return strings.Join(pairs, ",")
}
