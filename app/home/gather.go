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

// gatherer collects events of many authors, those nearest to an id. It reads the feeds of
// all, in a few multi-gets, and goes to the table of posts only for authors whose feeds end
// before enough events are found.
//
// Of each author it knows all events between the id and a reach. Events past the farthest
// reach of any author may be missed, so an author whose reach is too near is read further:
// first its feed as a whole, then the table, a part at a time.
type gatherer struct {
	posts   Posts
	from    uint64 // the id; 0: the newest
	up      bool   // events above from, the oldest of them; else below
	enough  int
	authors []author
	heap    []*author // of those who have more, the one with the nearest first
}

// source is the feed of an author, of which the head is read.
type source struct {
	feed.Row
	head  []event.Event
	floor uint64 // of the head
}

// sources reads the heads of feeds.
func sources(rows []feed.Row) ([]source, error) {
	all, room := make([]source, len(rows)), make([]event.Event, 0, len(rows)*feed.HeadEvents)
	for i, row := range rows {
		from := len(room)
		var floor uint64
		var err error
		if room, floor, err = row.Head(room); err != nil {
			return nil, err
		}
		all[i] = source{row, room[from:len(room):len(room)], floor}
	}
	return all, nil
}

type author struct {
	row   *feed.Row
	found []event.Event // nearest to from first
	next  int           // of found
	// reach is the id up to which found has all events between it and from, itself among
	// them; done says that there are none past it.
	reach uint64
	done  bool
	whole bool // all of row was read
}

// gather returns the enough events of authors that are nearest to an id, newest first, and
// whether there are no others on that side. Reach is the id up to which nothing is missed.
func gather(ctx context.Context, feeds []source, posts Posts, from uint64, up bool, enough int) (found []event.Event, reach uint64, end bool, err error) {
	g := gatherer{posts: posts, from: from, up: up, enough: enough, authors: make([]author, len(feeds)), heap: make([]*author, 0, len(feeds))}
	for i := range feeds {
		g.authors[i].row = &feeds[i].Row
		g.take(&g.authors[i], feeds[i].head, feeds[i].floor)
	}
	for {
		found = g.nearest()
		reach = 0
		switch {
		case len(found) == enough:
			reach = found[enough-1].ID
		case up:
			reach = repo.IDRange{}.Below()
		}
		near := g.tooNear(reach)
		if len(near) == 0 {
			if up {
				slices.Reverse(found)
			}
			return found, reach, g.end(), nil
		}
		if err := g.further(ctx, near); err != nil {
			return nil, 0, false, err
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

// nearest returns the enough events nearest to from, of those found, nearest first.
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
		out = append(out, a.found[a.next])
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

// end reports whether there is nothing but the nearest events.
func (g *gatherer) end() bool {
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
