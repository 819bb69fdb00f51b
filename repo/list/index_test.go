package list

import (
	"math/rand/v2"
	"testing"
)

// TestIndex compares an index with a map under adds and removes that keep it
// crowded.
func TestIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	x, m := newIndex(0), map[uint64]uint32{}
	for range 200_000 {
		id, key := 1+rnd.Uint64N(300), rnd.Uint32()
		if _, had := m[id]; rnd.IntN(2) == 0 {
			if got := x.add(id, key); got == had {
				t.Fatalf("add %d: got %v, want %v", id, got, !had)
			}
			m[id] = key
		} else {
			x.remove(id)
			delete(m, id)
		}
		probe := rnd.Uint64N(302)
		want, wantOK := m[probe]
		if got, ok := x.get(probe); ok != wantOK || ok && got != want {
			t.Fatalf("get %d: got %d %v, want %d %v", probe, got, ok, want, wantOK)
		}
		if x.n != len(m) {
			t.Fatalf("got %d ids, want %d", x.n, len(m))
		}
	}
}
