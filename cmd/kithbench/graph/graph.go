// Package graph makes the graph that every peer is loaded with: a real one from
// a file, or one made here whose degrees are spread alike, and beside it the
// accounts that the works need: full lists, viewers of a known size.
package graph

import (
	"fmt"
	"math/rand/v2"
)

// Edge is one follow.
type Edge struct {
	From, To uint64
	At       uint32 // unix seconds
}

// Graph is a list of follows, no two of them alike, nobody following himself.
type Graph struct {
	Name  string
	Edges []Edge
	// Own is how many of Edges, the first, are the graph's own: the others are
	// those of accounts that only works need.
	Own int
}

// Accounts returns every account of the graph's own, each once, in no order.
func (g *Graph) Accounts() []uint64 {
	seen := make(map[uint64]bool, len(g.Edges)/16)
	var ids []uint64
	for _, e := range g.Edges[:g.Own] {
		for _, id := range [2]uint64{e.From, e.To} {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// What a graph must have at least for the works to draw from.
const (
	LeastAccounts = 100
	LeastFollows  = 500
)

// Check returns an error where the graph is too small for the works.
func (g *Graph) Check() error {
	if accounts := len(g.Accounts()); accounts < LeastAccounts || g.Own < LeastFollows {
		return fmt.Errorf("%s has %d accounts and %d follows: works need %d and %d", g.Name, accounts, g.Own, LeastAccounts, LeastFollows)
	}
	return nil
}

// Cut leaves the graph so many of its follows, the first.
func (g *Graph) Cut(follows int) {
	if g.Own > follows {
		g.Name = fmt.Sprintf("the first %d follows of %s", follows, g.Name)
		g.Edges, g.Own = g.Edges[:follows], follows
	}
}

// Pair draws somebody to follow and somebody who does, each as often as the
// graph has edges of his: those with many followers get more.
func (g *Graph) Pair(r *rand.Rand) (from, to uint64) {
	for {
		from, to = g.Edges[r.IntN(g.Own)].From, g.Edges[r.IntN(g.Own)].To
		if from != to {
			return from, to
		}
	}
}

// first is the moment of the oldest follow, and span how much later the newest
// is: three years.
const (
	first = 1_600_000_000
	span  = 3 * 365 * 24 * 3600
)

// Date gives every edge a time of its own, spread evenly over three years
// without any order in the file's order.
func (g *Graph) Date(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	step := float64(span) / float64(len(g.Edges)+1)
	for i, at := range r.Perm(len(g.Edges)) {
		g.Edges[i].At = first + uint32(float64(at)*step)
	}
}
