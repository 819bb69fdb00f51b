package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// mutual is the chance that a follow is returned. It makes 48 % of the follows mutual, as in
// the Twitter graph.
const mutual = 0.316

// Make makes a graph of about so many follows with degrees like those of the Twitter graph:
// 22 follows an account, and a few hundred times as many for the most followed.
func Make(follows int, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 2))
	accounts := max(10, follows/22)
	followed, following := weights(accounts, 1.0, r), weights(accounts, 0.5, r)
	g := &Graph{Name: fmt.Sprintf("made, %d accounts", accounts)}
	for len(g.Edges) < follows {
		from, to := following.draw(r)+1, followed.draw(r)+1
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

// compact sorts the edges and drops repeats.
func (g *Graph) compact() {
	slices.SortFunc(g.Edges, byIDs)
	g.Edges = slices.Compact(g.Edges)
	g.Own = len(g.Edges)
}

// table draws indexes by their weights, of which it has the running sums.
type table []float64

// weights gives accounts weights of a power law, in random order. Ranks begin at n/100, so
// that nobody is followed by all.
func weights(n int, exponent float64, r *rand.Rand) table {
	ranks := r.Perm(n)
	return powers(n, exponent, func(i int) int { return ranks[i] + n/100 })
}

// powers gives the i-th of n the weight (rank(i)+1)^-exponent.
func powers(n int, exponent float64, rank func(i int) int) table {
	t, sum := make(table, n), 0.0
	for i := range t {
		sum += math.Pow(float64(rank(i)+1), -exponent)
		t[i] = sum
	}
	return t
}

func (t table) draw(r *rand.Rand) uint64 {
	x := r.Float64() * t[len(t)-1]
	return uint64(min(sort.SearchFloat64s(t, x), len(t)-1))
}

// Zipf draws ids: the k-th k^-exponent times as often as the first.
type Zipf struct {
	ids  []uint64
	sums table
}

// NewZipf takes ids, the most wanted first.
func NewZipf(ids []uint64, exponent float64) *Zipf {
	return &Zipf{ids, powers(len(ids), exponent, func(i int) int { return i })}
}

// Draw draws one id.
func (z *Zipf) Draw(r *rand.Rand) uint64 { return z.ids[z.sums.draw(r)] }
