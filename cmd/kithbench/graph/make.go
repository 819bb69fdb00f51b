package graph

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// mutual is the chance that a follow is answered by one back; it makes 48 per
// cent of the follows mutual, as in the Twitter graph.
const mutual = 0.316

// Make makes a graph of about so many follows whose degrees are spread like
// those of the Twitter graph: 22 follows an account, the most followed have a
// few hundred times that.
func Make(follows int, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 2))
	accounts := max(10, follows/22)
	fame, zeal := weights(accounts, 1.0, r), weights(accounts, 0.5, r)
	g := &Graph{Name: fmt.Sprintf("made, %d accounts", accounts)}
	for len(g.Edges) < follows {
		from, to := zeal.draw(r), fame.draw(r)
		if from == to {
			continue
		}
		g.Edges = append(g.Edges, Edge{From: from, To: to})
		if r.Float64() < mutual {
			g.Edges = append(g.Edges, Edge{From: to, To: from})
		}
	}
	g.compact()
	return g
}

// table draws ids, each with a weight of its own.
type table []float64 // running sums

// weights gives accounts weights of a power law, in no order of ids. Ranks are
// set off by a hundredth, so that nobody is followed by all.
func weights(n int, exponent float64, r *rand.Rand) table {
	t := make(table, n)
	for i, rank := range r.Perm(n) {
		t[i] = math.Pow(float64(rank+1+n/100), -exponent)
	}
	for i := 1; i < n; i++ {
		t[i] += t[i-1]
	}
	return t
}

func (t table) draw(r *rand.Rand) uint64 {
	x := r.Float64() * t[len(t)-1]
	return uint64(min(sort.SearchFloat64s(t, x), len(t)-1)) + 1
}

// compact sorts the edges and drops repeats.
func (g *Graph) compact() {
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	g.Edges = slices.Compact(g.Edges)
	g.Own = len(g.Edges)
}
