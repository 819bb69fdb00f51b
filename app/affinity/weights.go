package affinity

import (
	"math"
	"time"

	"kith/repo/affinity"
	"kith/repo/interaction"
)

// Config says what interactions are worth.
type Config struct {
	// Weights are those of the kinds that count; all above 0.
	Weights map[string]float64
	// HalfLife is the time in which what happened loses half of its weight.
	HalfLife time.Duration
	// Kept is how many others a row keeps.
	Kept int
}

// Weighs reports whether a kind counts.
func (c Config) Weighs(kind string) bool { return c.Weights[kind] > 0 }

// faded returns what is left of 1 after so many seconds.
func (c Config) faded(seconds float64) float64 {
	return math.Exp2(-seconds / c.HalfLife.Seconds())
}

// least is the score below which an account is dropped from a row: a visit fades to it
// in twenty half-lives.
const least = 1e-6

// add folds events into the row of one actor. All scores are faded to the newest time
// among them, so the order of events and folds does not matter.
func (c Config) add(r affinity.Row, events []interaction.Event) affinity.Row {
	at := r.At
	for _, e := range events {
		at = max(at, e.At)
	}
	scores := make(map[uint64]float64, len(r.Entries)+len(events))
	old := c.faded(float64(at) - float64(r.At))
	for _, e := range r.Entries {
		scores[e.ID] = float64(e.Score) * old
	}
	for _, e := range events {
		if e.Target != e.Actor {
			scores[e.Target] += c.Weights[e.Kind] * c.faded(float64(at)-float64(e.At))
		}
	}
	entries := make([]affinity.Entry, 0, len(scores))
	for id, s := range scores {
		if s >= least {
			entries = append(entries, affinity.Entry{ID: id, Score: float32(min(s, math.MaxFloat32))})
		}
	}
	affinity.Sort(entries)
	return affinity.Row{Meta: r.Meta, At: at, Entries: entries[:min(len(entries), c.Kept)]}
}
