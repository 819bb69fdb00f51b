package home

import (
	"cmp"
	"context"
	"slices"

	"kith/repo"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/post"
)

// gatherer collects events of many authors, those nearest to an id. It is handed their feeds
// some at a time, and goes to the table of posts only for authors whose feeds end before
// enough events are found.
//
// Of each author it knows all events between the id and a reach. Events past the farthest
// reach of any author may be missed, so an author whose reach is too near is read further:
// first its feed as a whole, then the table, a part at a time.
type gatherer struct {
	posts  Posts
	from   uint64 // the id; 0: the newest
	up     bool   // events above from, the oldest of them; else below
	enough int

	found   []event.Event // of the feeds so far, nearest to from first
	reach   uint64        // the id up to which nothing of these feeds is missing in found
	authors []author      // the first stands for found, the others are of the feeds that are being added
	heap    []*author     // of those who have more, the one with the nearest first
	room    []event.Event // of the heads of feeds
}

// below gathers the newest events below an id; 0: of all.
func below(posts Posts, from uint64, enough int) *gatherer {
	return &gatherer{posts: posts, from: from, enough: enough}
}

// above gathers the oldest events above an id.
func above(posts Posts, from uint64, enough int) *gatherer {
	g := &gatherer{posts: posts, from: from, up: true, enough: enough}
	g.reach = g.limit()
	return g
}

// limit is the reach past which there is nothing.
func (g *gatherer) limit() uint64 {
	if g.up {
		return repo.IDRange{}.Below()
	}
	return 0
}

type author struct {
	row   *feed.Row
	found []event.Event // nearest to from first
	next  int           // of found
	// reach is the id up to which found has all events between it and from, itself among
	// them; done says that there are none past it, or that they do not matter.
	reach uint64
	done  bool
	whole bool // all of row was read
}

// add adds the feeds of other authors.
func (g *gatherer) add(ctx context.Context, rows []feed.Row) error {
	g.authors = append(slices.Grow(g.authors[:0], len(rows)+1), author{found: g.found, done: true})
	g.room = slices.Grow(g.room[:0], len(rows)*feed.HeadEvents)
	for i := range rows {
		row := &rows[i]
		if last := row.LastID; last == 0 || !g.up && last < g.reach || g.up && last <= g.from {
			continue
		}
		at := len(g.room)
		all, floor, err := row.Head(g.room)
		if err != nil {
			return err
		}
		g.room = all
		g.authors = append(g.authors, author{row: row})
		g.take(&g.authors[len(g.authors)-1], all[at:len(all):len(all)], floor)
	}
	for before := g.reach; ; {
		found := g.nearest()
		g.reach = g.limit()
		if len(found) == g.enough && !g.all() {
			g.reach = found[g.enough-1].ID
		}
		if g.past(g.reach, before) {
			g.reach = before
			n := slices.IndexFunc(found, func(e event.Event) bool { return g.past(e.ID, before) })
			if n >= 0 {
				found = found[:n]
			}
		}
		near := g.tooNear(g.reach)
		if len(near) == 0 {
			g.found = found
			return nil
		}
		if err := g.further(ctx, near); err != nil {
			return err
		}
	}
}

// past reports whether a lies farther from where the gathering began than b.
func (g *gatherer) past(a, b uint64) bool { return a != b && (a > b) == g.up }

// take takes the newest events of an author, all from floor on.
func (g *gatherer) take(a *author, all []event.Event, floor uint64) {
	at := len(all) // of the first that is not above from
	if g.from != 0 {
		at, _ = slices.BinarySearchFunc(all, g.from, func(e event.Event, id uint64) int { return cmp.Compare(id, e.ID) })
	}
	switch {
	case g.up: // it helps only where it reaches down to from
		a.reach, a.done, a.found = g.from, floor <= g.from+1, nil
		if a.done {
			a.found = slices.Clone(all[:at])
			slices.Reverse(a.found)
		}
	case g.from == 0:
		a.found, a.reach, a.done = all, floor, floor == 0
	default:
		if at < len(all) && all[at].ID == g.from {
			at++
		}
		a.found, a.reach, a.done = all[at:], min(floor, g.from), floor == 0
	}
}

// nearest returns the enough events nearest to from, of those found, nearest first, each once.
func (g *gatherer) nearest() (out []event.Event) {
	g.heap = g.heap[:0]
	for i := range g.authors {
		if a := &g.authors[i]; len(a.found) > 0 {
			a.next = 0
			g.heap = append(g.heap, a)
		}
	}
	for i := len(g.heap) / 2; i >= 0; i-- {
		g.sink(i)
	}
	for len(g.heap) > 0 && len(out) < g.enough {
		a := g.heap[0]
		if e := a.found[a.next]; len(out) == 0 || out[len(out)-1].ID != e.ID {
			out = append(out, e)
		}
		if a.next++; a.next == len(a.found) {
			last := len(g.heap) - 1
			g.heap[0], g.heap = g.heap[last], g.heap[:last]
		}
		g.sink(0)
	}
	return out
}

// sink puts an author of the heap in its place among those below.
func (g *gatherer) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(g.heap); child++ {
			if g.past(g.heap[least].first(), g.heap[child].first()) {
				least = child
			}
		}
		if least == i {
			return
		}
		g.heap[i], g.heap[least] = g.heap[least], g.heap[i]
		i = least
	}
}

// first is the id of the next event of an author in the heap.
func (a *author) first() uint64 { return a.found[a.next].ID }

// all reports whether the authors have nothing but the nearest events.
func (g *gatherer) all() bool {
	return len(g.heap) == 0 && !slices.ContainsFunc(g.authors, func(a author) bool { return !a.done })
}

// tooNear returns the authors whose reach is not that far.
func (g *gatherer) tooNear(needed uint64) (near []*author) {
	for i := range g.authors {
		if a := &g.authors[i]; !a.done && g.past(needed, a.reach) {
			near = append(near, a)
		}
	}
	return near
}

// further reads more of authors.
func (g *gatherer) further(ctx context.Context, near []*author) error {
	var parts []post.Part
	ask := map[uint64]*author{}
	n := max(g.enough/max(len(g.authors), 1)*2, leastPart)
	for _, a := range near {
		if !a.whole {
			a.whole = true
			all, floor, err := a.row.Events(nil)
			if err != nil {
				return err
			}
			g.take(a, all, floor)
			continue
		}
		p := post.Part{Author: a.row.ID, IDRange: repo.IDRange{Before: a.reach, Limit: n}}
		if g.up {
			p.IDRange = repo.IDRange{After: a.reach, Limit: n, Oldest: true}
		}
		parts = append(parts, p)
		ask[a.row.ID] = a
	}
	if len(parts) == 0 {
		return nil
	}
	found, err := g.posts.Parts(ctx, parts)
	if err != nil {
		return err
	}
	got := map[uint64]int{}
	for _, e := range found {
		a := ask[e.Author]
		a.found = append(a.found, e)
		got[e.Author]++
		if g.past(e.ID, a.reach) {
			a.reach = e.ID
		}
	}
	for id, a := range ask {
		a.done = got[id] < n
	}
	return nil
}

// leastPart is how many events of an author are read at least from the table of posts.
const leastPart = 20
