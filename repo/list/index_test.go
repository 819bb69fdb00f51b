package list

import (
	"math/rand/v2"
	"testing"
)

// TestIndex compares an index with a map while it grows from nothing.
func TestIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	x, m := newIndex(0), map[uint64]uint32{}
	for i := range uint64(20_000) {
		id, key := 1+rnd.Uint64N(1+i/2), rnd.Uint32()
		_, had := m[id]
		if got := x.add(id, key); got == had {
			t.Fatalf("add %d: got %v, want %v", id, got, !had)
		}
		m[id] = key
		probe := rnd.Uint64N(i + 2)
		want, wantOK := m[probe]
		if got, ok := x.get(probe); ok != wantOK || ok && got != want {
			t.Fatalf("get %d: got %d %v, want %d %v", probe, got, ok, want, wantOK)
		}
		if x.n != len(m) {
			t.Fatalf("got %d ids, want %d", x.n, len(m))
		}
	}
}
