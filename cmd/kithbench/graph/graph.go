// Package graph has the follows that every peer is loaded with: a graph from a file, or a
// made one of similar degrees, and with [Graph.Complete] the accounts that works need.
package graph

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Edge is one follow.
type Edge struct {
	From, To uint64
	At       uint32 // unix seconds
}

// Graph is a list of follows, no two of them alike, no account following itself.
type Graph struct {
	Name  string
	Edges []Edge
	Own   int // how many of Edges, the first ones, are the graph's own; the others are for works
}

// The least that a graph must have for the works to draw from.
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

// Cut keeps only the first follows, so many of them.
func (g *Graph) Cut(follows int) {
	if g.Own > follows {
		g.Name = fmt.Sprintf("the first %d follows of %s", follows, g.Name)
		g.Edges, g.Own = g.Edges[:follows], follows
	}
}

// Accounts returns every account of the graph's own, the most followed first.
func (g *Graph) Accounts() []uint64 {
	followers := make(map[uint64]int, g.Own/16)
	for _, e := range g.Edges[:g.Own] {
		followers[e.From] += 0
		followers[e.To]++
	}
	ids := make([]uint64, 0, len(followers))
	for id := range followers {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uint64) int { return cmp.Or(followers[b]-followers[a], cmp.Compare(a, b)) })
	return ids
}

// Pair draws a follower and a different account to follow, each as often as the graph has
// edges of it.
func (g *Graph) Pair(r *rand.Rand) (from, to uint64) {
	for from == to {
		from, to = g.Edges[r.IntN(g.Own)].From, g.Edges[r.IntN(g.Own)].To
	}
	return from, to
}

// The ids of the accounts that works need. Most graphs have only smaller ids, and Read
// refuses the others. They end below wide, from which kith stores ids in 8 bytes.
const (
	wide    = 1 << 32
	fans    = 1_000_000_000 // those who follow the accounts below
	Fresh   = 2_000_000_000 // the first id of the followers that works make
	stars   = 4_000_000_000
	viewers = 4_100_000_000
	Long    = 4_200_000_000 // the account with LongList followers
)

const (
	// FreshEach is how many of the ids from Fresh on are for the followers of one star.
	FreshEach = 1_000_000
	// FullList is how many followers a star has: the default of KITH_LIST_CAP.
	FullList = 10_000
	// LongList is how many followers Long has, more than 200 pages of 40.
	LongList = 12_000
)

// ViewerSizes are how many edges the viewers have.
var ViewerSizes = []int{200, 2_000, 20_000}

// Star returns one of the accounts with a full list of followers.
func Star(n int) uint64 { return stars + uint64(n) }

// Viewer returns the account that has so many edges: half of them are its own follows, half
// of which are mutual.
func Viewer(edges int) uint64 { return viewers + uint64(edges) }

// ViewerKnows returns the i-th account that viewers know: a viewer of n edges follows the
// first n/2, and n/2 from n/4 on follow it.
func ViewerKnows(i int) uint64 { return fans + 100_000 + uint64(i)*7 }

// Complete returns the graph with so many stars, with Long and the viewers, and with a time
// for each follow.
func (g *Graph) Complete(stars int) *Graph {
	full := &Graph{Name: g.Name, Edges: slices.Clone(g.Edges), Own: g.Own}
	for star := range stars {
		full.addFollowers(Star(star), FullList)
	}
	full.addFollowers(Long, LongList)
	for _, n := range ViewerSizes {
		for i := range n / 2 {
			full.Edges = append(full.Edges, Edge{From: Viewer(n), To: ViewerKnows(i)}, Edge{From: ViewerKnows(i + n/4), To: Viewer(n)})
		}
	}
	full.Date(1)
	return full
}

func (g *Graph) addFollowers(id uint64, n int) {
	for i := range n {
		g.Edges = append(g.Edges, Edge{From: fans + uint64(i), To: id})
	}
}

// first is the time of the oldest follow; the newest is span, three years, later.
const (
	first = 1_600_000_000
	span  = 3 * 365 * 24 * 3600
)

// Date gives every edge a different time, spread evenly over three years, in random order.
func (g *Graph) Date(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	step := float64(span) / float64(len(g.Edges)+1)
	for i, at := range r.Perm(len(g.Edges)) {
		g.Edges[i].At = first + uint32(float64(at)*step)
	}
}

// Sides returns the edges as each side has them, sorted by the account, From, which in
// followers is the one who is followed, and then by the other one.
func (g *Graph) Sides() (following, followers []Edge) {
	following, followers = slices.Clone(g.Edges), make([]Edge, len(g.Edges))
	for i, e := range g.Edges {
		followers[i] = Edge{From: e.To, To: e.From, At: e.At}
	}
	slices.SortFunc(following, byIDs)
	slices.SortFunc(followers, byIDs)
	return following, followers
}

func byIDs(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// Text has a line for each edge: its ids and its time, separated by spaces. Package fmt would
// show in the time of a load.
func Text(edges []Edge) []byte {
	b := make([]byte, 0, 32*len(edges))
	for _, e := range edges {
		b = append(strconv.AppendUint(b, e.From, 10), ' ')
		b = append(strconv.AppendUint(b, e.To, 10), ' ')
		b = append(strconv.AppendUint(b, uint64(e.At), 10), '\n')
	}
	return b
}
