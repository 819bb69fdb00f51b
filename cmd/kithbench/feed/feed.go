// Package feed has what peers of the work home are loaded with: authors, their posts, and
// readers who follow them.
//
// Authors follow nobody, and readers post nothing, so a home has posts of others only. All
// posts are public, none is a reply or a repost: the peers of the starting documents know
// neither.
package feed

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"kith/cmd/kithbench/graph"
	"kith/repo/event"
)

// Post is one post, or one entry of a home.
type Post struct {
	ID, Author uint64
	Name, Text string // the author's name
}

// Size says how large a world is.
type Size struct {
	Authors, Posts int // so many authors with so many posts each
	Readers        int // for each of Follows
	Fans, Others   int // so many follow Star, and so many other authors each
}

// Full is what is measured, Small what shows that all works.
//
// In the full world a reader who follows 10 authors has 1,000 posts, twice as many as a home
// keeps, and one who follows 1,000 follows a fifth of all.
var (
	Full  = Size{Authors: 5_000, Posts: 100, Readers: 100, Fans: 10_000, Others: 20}
	Small = Size{Authors: 1_000, Posts: 5, Readers: 3, Fans: 200, Others: 20}
)

// Follows are how many authors readers follow.
var Follows = []int{10, 100, 1_000}

// Ids are below 2^32, from which kith stores them in 8 bytes.
const (
	Star    = 1_000_000
	readers = 2_000_000
	fans    = 3_000_000
)

// Author returns the i-th author.
func Author(i int) uint64 { return 1 + uint64(i) }

// Reader returns the i-th of those who follow so many authors.
func Reader(follows, i int) uint64 { return readers + uint64(follows)*100 + uint64(i) }

// Fan returns the i-th follower of Star.
func Fan(i int) uint64 { return fans + uint64(i) }

// Name returns the name of an account, as kith's import names it.
func Name(id uint64) string { return "u" + strconv.FormatUint(id, 10) }

// World is what all peers are loaded with.
type World struct {
	Size
	Graph *graph.Graph // the follows
	Posts []Post       // oldest first
}

// span is the time of the posts, which ends when the world is made.
const span = 60 * 24 * time.Hour

// Make makes a world.
func Make(size Size, now time.Time) *World {
	r := rand.New(rand.NewPCG(11, 11))
	w := &World{Size: size, Graph: &graph.Graph{Name: "made"}}
	for _, n := range Follows {
		for i := range size.Readers {
			w.follow(Reader(n, i), r.Perm(size.Authors)[:n])
		}
	}
	for i := range size.Fans {
		w.follow(Fan(i), r.Perm(size.Authors)[:size.Others])
		w.Graph.Edges = append(w.Graph.Edges, graph.Edge{From: Fan(i), To: Star})
	}
	w.Graph.Own = len(w.Graph.Edges)
	w.Graph.Date(2)
	var authors []uint64
	for a := range size.Authors {
		authors = append(authors, slices.Repeat([]uint64{Author(a)}, size.Posts)...)
	}
	authors = append(authors, slices.Repeat([]uint64{Star}, size.Posts)...)
	step := span / time.Duration(len(authors))
	for i, at := range r.Perm(len(authors)) {
		id := event.Next(authors[at], 0, now.Add(-span+time.Duration(i)*step), 0)
		w.Posts = append(w.Posts, Post{ID: id, Author: authors[at], Name: Name(authors[at]), Text: Text(i)})
	}
	return w
}

func (w *World) follow(reader uint64, authors []int) {
	for _, a := range authors {
		w.Graph.Edges = append(w.Graph.Edges, graph.Edge{From: reader, To: Author(a)})
	}
}

// Homes returns the ids of the newest posts of each home, the newest first, at most so many.
func (w *World) Homes(most int) map[uint64][]uint64 {
	by := map[uint64][]uint64{}
	for _, p := range slices.Backward(w.Posts) {
		by[p.Author] = append(by[p.Author], p.ID)
	}
	following, _ := w.Graph.Sides()
	homes := map[uint64][]uint64{}
	for len(following) > 0 {
		var all []uint64
		reader := following[0].From
		for ; len(following) > 0 && following[0].From == reader; following = following[1:] {
			all = append(all, by[following[0].To]...)
		}
		slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(b, a) })
		homes[reader] = slices.Clone(all[:min(most, len(all))])
	}
	return homes
}

// Text returns the text of the n-th post, of some 140 bytes.
func Text(n int) string {
	return fmt.Sprintf("Post %d: we walked along the river until the rain began, found a dry place under the old bridge, and talked about the way home.", n)
}
