package graph

// The accounts that works need beside the graph. Their ids are above those of
// most graphs, Read refuses the others, and below wide, which is where kith's
// narrow ids end.
const (
	wide    = 1 << 32
	fans    = 1_000_000_000 // those who follow the accounts below
	Fresh   = 2_000_000_000 // nobody yet: works make followers from here on
	stars   = 4_000_000_000
	viewers = 4_100_000_000
	long    = 4_200_000_000
)

// FreshEach is how many ids from Fresh on the followers of one star may take.
const FreshEach = 1_000_000

// FullList is how many followers a star has: kith's cap of a list.
const FullList = 10_000

// LongList is how many followers Long has: page 200 of 40 is well inside.
const LongList = 12_000

// Star returns one of the accounts with a full list of followers.
func Star(n int) uint64 { return stars + uint64(n) }

// Viewer returns the account that has so many edges: half of them are follows of
// its own, and half of those are mutual.
func Viewer(edges int) uint64 { return viewers + uint64(edges) }

// Long returns the account with the long list.
func Long() uint64 { return long }

// AddStars adds so many stars.
func (g *Graph) AddStars(n int) {
	for star := range n {
		g.addFollowers(Star(star), FullList)
	}
}

// AddLong adds the account with the long list.
func (g *Graph) AddLong() { g.addFollowers(Long(), LongList) }

func (g *Graph) addFollowers(id uint64, n int) {
	for i := range n {
		g.Edges = append(g.Edges, Edge{From: fans + uint64(i), To: id})
	}
}

// AddViewers adds a viewer for each number of edges.
func (g *Graph) AddViewers(edges ...int) {
	for _, n := range edges {
		for i := range n / 2 {
			g.Edges = append(g.Edges,
				Edge{From: Viewer(n), To: ViewerKnows(i)},
				Edge{From: ViewerKnows(i + n/4), To: Viewer(n)})
		}
	}
}

// ViewerKnows returns the i-th of those whom viewers know: a viewer of n edges
// follows the first n/2 and is followed by as many from n/4 on.
func ViewerKnows(i int) uint64 { return fans + 100_000 + uint64(i)*7 }
