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
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	g.Edges = slices.Compact(g.Edges)
	g.Own = len(g.Edges)
}

// table draws indexes, each with a weight of its own. It has the running sums.
type table []float64

// weights gives accounts weights of a power law, in no order of ids. Ranks are
// set off by a hundredth, so that no account is followed by all.
func weights(n int, exponent float64, r *rand.Rand) table {
	t, sum := make(table, n), 0.0
	for i, rank := range r.Perm(n) {
		sum += math.Pow(float64(rank+1+n/100), -exponent)
		t[i] = sum
	}
	return t
}

func (t table) draw(r *rand.Rand) uint64 {
	x := r.Float64() * t[len(t)-1]
	return uint64(min(sort.SearchFloat64s(t, x), len(t)-1))
}

// Zipf draws ids so that the k-th most wanted is wanted k^-exponent times as
// often as the first.
type Zipf struct {
	ids  []uint64
	sums table
}

// NewZipf takes ids in the order of how much they are wanted.
func NewZipf(ids []uint64, exponent float64) *Zipf {
	z, sum := &Zipf{ids: ids, sums: make(table, len(ids))}, 0.0
	for i := range ids {
		sum += math.Pow(float64(i+1), -exponent)
		z.sums[i] = sum
	}
	return z
}

// Draw draws one id.
func (z *Zipf) Draw(r *rand.Rand) uint64 { return z.ids[z.sums.draw(r)] }
