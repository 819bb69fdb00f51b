package affinity

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/repo/affinity"
	"kith/repo/interaction"
	"kith/repo/row"
)

var worth = Config{Weights: map[string]float64{"visit": 1, "message": 4}, HalfLife: 720 * time.Hour, Kept: 500}

// plain is the formula of the package doc, without rows and folds.
func plain(c Config, events []interaction.Event, at uint32) map[uint64]float64 {
	out := map[uint64]float64{}
	for _, e := range events {
		if e.Actor != e.Target {
			out[e.Target] += c.Weights[e.Kind] * math.Exp2(-(float64(at)-float64(e.At))/c.HalfLife.Seconds())
		}
	}
	return out
}

// In whatever pieces and order events are folded, the scores are those of the
// formula.
func TestConfig_Add_IsTheFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var events []interaction.Event
		for range 1 + r.IntN(200) {
			kind := "visit"
			if r.IntN(3) == 0 {
				kind = "message"
			}
			events = append(events, interaction.Event{Actor: 1, Target: 2 + r.Uint64N(30), Kind: kind, At: 1_700_000_000 + r.Uint32N(90*86400)})
		}
		row := affinity.Row{Meta: row.Meta{ID: 1}}
		for rest := events; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			row = worth.add(row, rest[:n])
			rest = rest[n:]
		}
		want := plain(worth, events, row.At)
		if len(row.Entries) != len(want) {
			t.Fatalf("%d scores, want %d", len(row.Entries), len(want))
		}
		for _, e := range row.Entries {
			if w := want[e.ID]; math.Abs(float64(e.Score)-w) > 1e-5*w {
				t.Fatalf("score of %d is %g, want %g", e.ID, e.Score, w)
			}
		}
		if !slices.IsSortedFunc(row.Entries, func(a, b affinity.Entry) int {
			if a.Score != b.Score {
				return int(math.Copysign(1, float64(b.Score-a.Score)))
			}
			return int(int64(a.ID) - int64(b.ID))
		}) {
			t.Fatal("entries are out of order")
		}
	}
}

func TestConfig_Add_HalfLife(t *testing.T) {
	const day = 86400
	row := worth.add(affinity.Row{Meta: row.Meta{ID: 1}}, []interaction.Event{{Actor: 1, Target: 2, Kind: "message", At: 1_700_000_000}})
	row = worth.add(row, []interaction.Event{{Actor: 1, Target: 3, Kind: "visit", At: 1_700_000_000 + 30*day}})
	if got := row.Entries; len(got) != 2 || got[0] != (affinity.Entry{ID: 2, Score: 2}) || got[1] != (affinity.Entry{ID: 3, Score: 1}) {
		t.Fatalf("got %+v", row)
	}
	row = worth.add(row, []interaction.Event{{Actor: 1, Target: 3, Kind: "visit", At: 1_700_000_000}}) // late
	if got := row.Entries[1]; got != (affinity.Entry{ID: 3, Score: 1.5}) || row.At != 1_700_000_000+30*day {
		t.Fatalf("got %+v", row)
	}
	row = worth.add(row, []interaction.Event{{Actor: 1, Target: 4, Kind: "visit", At: 1_700_000_000 + 3000*day}})
	if len(row.Entries) != 1 || row.Entries[0].ID != 4 {
		t.Fatalf("got %+v, want what is old forgotten", row)
	}
}

func TestConfig_Add_Bounds(t *testing.T) {
	c := worth
	c.Kept = 3
	var events []interaction.Event
	for target := range uint64(10) {
		for range target {
			events = append(events, interaction.Event{Actor: 99, Target: target + 1, Kind: "visit", At: 5})
		}
	}
	events = append(events, interaction.Event{Actor: 99, Target: 50, Kind: "unknown", At: 5}, interaction.Event{Actor: 99, Target: 99, Kind: "message", At: 5})
	got := c.add(affinity.Row{Meta: row.Meta{ID: 99}}, events).Entries
	if want := []affinity.Entry{{ID: 10, Score: 9}, {ID: 9, Score: 8}, {ID: 8, Score: 7}}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestParseCursor(t *testing.T) {
	for _, c := range []Cursor{{ranked, 12345, 7, 99}, {unscored, 0, math.MaxUint32, 1<<63 - 1}} {
		if got, ok := ParseCursor(c.String()); !ok || got != c {
			t.Errorf("got %v, %v, want %v", got, ok, c)
		}
	}
	for _, text := range []string{"", "s", "s1-2", "s1-2-0", "x1-2-3", "s01-2-3", "s1-02-3", "sA-2-3", "s1-2-3-4", "s1-4294967296-3", "s1-2-9223372036854775808", "5-7", " s1-2-3"} {
		if got, ok := ParseCursor(text); ok {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
