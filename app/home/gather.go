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
	events  Events
	from    uint64 // the id; 0: the newest
	up      bool   // events above from, the oldest of them; else below
	enough  int
	authors []author
}

type author struct {
	row   *feed.Row
	found []event.Event // nearest to from first
	// reach is the id up to which found has all events between it and from, itself among
	// them; done says that there are none past it.
	reach uint64
	done  bool
	whole bool // all of row was read
}

// gather returns the enough events of authors that are nearest to an id, newest first, or
// some more, and whether there are no others on that side. Reach is the id up to which
// nothing is missed.
func gather(ctx context.Context, rows []feed.Row, events Events, from uint64, up bool, enough int) (found []event.Event, reach uint64, end bool, err error) {
	g := gatherer{events: events, from: from, up: up, enough: enough, authors: make([]author, len(rows))}
	for i := range rows {
		g.authors[i].row = &rows[i]
		if err := g.read(&g.authors[i], rows[i].Head); err != nil {
			return nil, 0, false, err
		}
	}
	for {
		needed := g.needed()
		near := g.tooNear(needed)
		if len(near) == 0 {
			found, reach, end = g.result(needed)
			return found, reach, end, nil
		}
		if err := g.further(ctx, near); err != nil {
			return nil, 0, false, err
		}
	}
}

// past reports whether a lies farther from where the gathering began than b.
func (g *gatherer) past(a, b uint64) bool { return a != b && (a > b) == g.up }

// read takes what a feed has of an author.
func (g *gatherer) read(a *author, events func([]event.Event) ([]event.Event, uint64, error)) error {
	all, floor, err := events(nil)
	if err != nil {
		return err
	}
	a.found = slices.DeleteFunc(all, func(e event.Event) bool {
		return g.from != 0 && (g.up && e.ID <= g.from || !g.up && e.ID >= g.from)
	})
	switch {
	case g.up: // a feed has the newest; it helps only where it reaches down to from
		slices.Reverse(a.found)
		a.done = floor <= g.from+1
		a.reach = g.from
		if !a.done {
			a.found = nil
		}
	default:
		a.reach, a.done = floor, floor == 0
		if g.from != 0 && floor > g.from {
			a.reach = g.from
		}
	}
	return nil
}

// needed returns the id up to which authors must reach: that of the last of enough events
// among those found, or past all where there are fewer.
func (g *gatherer) needed() uint64 {
	var ids []uint64
	for i := range g.authors {
		for _, e := range g.authors[i].found {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) < g.enough {
		if g.up {
			return repo.IDRange{}.Below()
		}
		return 0
	}
	slices.Sort(ids)
	if g.up {
		return ids[g.enough-1]
	}
	return ids[len(ids)-g.enough]
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
			if err := g.read(a, a.row.Events); err != nil {
				return err
			}
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
	found, err := g.events.Parts(ctx, parts)
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

// result returns the events up to needed, newest first.
func (g *gatherer) result(needed uint64) (found []event.Event, reach uint64, end bool) {
	end = true
	for i := range g.authors {
		a := &g.authors[i]
		end = end && a.done
		for _, e := range a.found {
			if !g.past(e.ID, needed) {
				found = append(found, e)
			} else {
				end = false
			}
		}
	}
	slices.SortFunc(found, func(a, b event.Event) int { return cmp.Compare(b.ID, a.ID) })
	return found, needed, end
}
