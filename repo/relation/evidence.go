package relation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/list"
)

// Evidence is what the rows of others say about an account: the entries that its own
// row and archive must hold.
type Evidence struct {
	Edges  []list.Edge
	Others []OtherEntry
	// Ver is that of the account's row before the others were read. Where the row has
	// moved on since, those whose entries would change it are read again.
	Ver uint64
	// KeepOwn says that the row has lost entries, but that those it has are true: what
	// others know is added, and only unknown accounts are removed.
	KeepOwn bool
	// Doubtful are those of the others whose rows have lost entries. What they say
	// counts; what they do not say is not removed.
	Doubtful map[uint64]bool
	// Unknown are removed, those of them that are no accounts.
	Unknown []uint64
}

// OtherEntry is an entry of blocking, blocked by, requests or requested.
type OtherEntry struct {
	Section list.Section
	list.Entry
}

// maxReadAgain bounds how many others are read again while a row is locked.
const maxReadAgain = 1000

// readAgain reads again those whose entries would change something, where the row was
// written to meanwhile.
func (r *rebuild) readAgain(ctx context.Context) error {
	if r.ev.Ver == r.row.Ver {
		return nil
	}
	doubt := maps.Clone(r.moving)
	for _, e := range r.ev.Edges {
		if !r.holds(e.ID) {
			doubt[e.ID] = true
		}
	}
	for _, b := range r.ev.Others {
		if r.lacks(b) {
			doubt[b.ID] = true
		}
	}
	for _, k := range r.unsaid() {
		doubt[k.id] = true
	}
	maps.DeleteFunc(doubt, func(id uint64, _ bool) bool { return r.unknown[id] })
	if len(doubt) > maxReadAgain {
		return fmt.Errorf("written to since %d others were read whose rows say otherwise: %w", len(doubt), repo.ErrConflict)
	}
	r.ev.Edges = slices.DeleteFunc(r.ev.Edges, func(e list.Edge) bool { return doubt[e.ID] })
	r.ev.Others = slices.DeleteFunc(r.ev.Others, func(b OtherEntry) bool { return doubt[b.ID] })
	r.ev.Doubtful = maps.Clone(r.ev.Doubtful)
	for _, id := range slices.Sorted(maps.Keys(doubt)) {
		if err := r.ev.read(ctx, r.store, r.q, id, r.row.ID); err != nil {
			return err
		}
	}
	r.ev.sort()
	return nil
}

// read adds what the row and archive of id say about an account.
func (ev *Evidence) read(ctx context.Context, s *Store, q sqlx.QueryerContext, id, about uint64) error {
	rows, err := s.Store.Load(ctx, q, []uint64{id})
	if err != nil {
		return err
	}
	var all []list.View
	bad := false
	add := func(b []byte) {
		v, err := list.Parse(b)
		bad = bad || err != nil || v.Check() != nil
		all = append(all, v)
	}
	add(rows[id].List)
	if len(rows[id].Archived) > 0 {
		err = eachSegment(ctx, q, id, func(g Segment) error { add(g.List); return nil })
	}
	if bad || err != nil { // who cannot be read says nothing, which proves nothing
		if ev.Doubtful == nil {
			ev.Doubtful = map[uint64]bool{}
		}
		ev.Doubtful[id] = true
		return err
	}
	for _, v := range all {
		l, err := v.Open()
		if err != nil {
			return err
		}
		for _, e := range edgeIn(l, about).edges(id) {
			e.Out = !e.Out
			ev.Edges = append(ev.Edges, e)
		}
		for _, m := range mirrors[1:] {
			if at, is := l.Time(m.mine, about); is {
				ev.Others = append(ev.Others, OtherEntry{m.theirs, list.Entry{ID: id, Time: at}})
			}
			if at, is := l.Time(m.theirs, about); is {
				ev.Others = append(ev.Others, OtherEntry{m.mine, list.Entry{ID: id, Time: at}})
			}
		}
	}
	return nil
}

// keeps reports whether what the row itself says about id stays.
func (ev *Evidence) keeps(id uint64) bool { return ev.KeepOwn || ev.Doubtful[id] }

func (ev *Evidence) sort() *Evidence {
	slices.SortFunc(ev.Edges, func(a, b list.Edge) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(ev.Others, OtherEntry.compare)
	return ev
}

func (b OtherEntry) compare(c OtherEntry) int {
	return cmp.Or(cmp.Compare(b.ID, c.ID), cmp.Compare(b.Section, c.Section))
}

// edge returns what the row of id says of the two.
func (ev *Evidence) edge(id uint64) (e edge) {
	at, _ := slices.BinarySearchFunc(ev.Edges, id, func(e list.Edge, id uint64) int { return cmp.Compare(e.ID, id) })
	for ; at < len(ev.Edges) && ev.Edges[at].ID == id; at++ {
		if ev.Edges[at].Out {
			e.rel, e.mine = e.rel|list.IsFollowing, ev.Edges[at].Time
		} else {
			e.rel, e.theirs = e.rel|list.IsFollower, ev.Edges[at].Time
		}
	}
	return e
}

// has reports whether the row of id has the counterpart of an entry.
func (ev *Evidence) has(s list.Section, id uint64) bool {
	_, ok := slices.BinarySearchFunc(ev.Others, OtherEntry{Section: s, Entry: list.Entry{ID: id}}, OtherEntry.compare)
	return ok
}

// edge is what two accounts are to each other, seen from one of them.
type edge struct {
	rel          list.Rel
	mine, theirs uint32
}

// edgeIn returns what a list says about id.
func edgeIn(l *list.List, id uint64) edge {
	mine, theirs := l.Times(id)
	return edge{l.Rel(id) & edges, mine, theirs}
}

func (e edge) edges(id uint64) (out []list.Edge) {
	if e.rel&list.IsFollowing != 0 {
		out = append(out, list.Edge{ID: id, Time: e.mine, Out: true})
	}
	if e.rel&list.IsFollower != 0 {
		out = append(out, list.Edge{ID: id, Time: e.theirs})
	}
	return out
}

// allSections are those of a list.
var allSections = []list.Section{list.Friends, list.Followers, list.Following, list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested, list.Options}

// otherSections are those with times that hold no edges.
var otherSections = []list.Section{list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested}

// Salvage opens bytes that list.Check refuses, as far as they can be read. Entries are
// sorted, and those of one id merged: a follower who is also followed is a friend, and of
// two times for one thing the earlier counts. lost are the sections that cannot be read or
// have invalid ids; nothing of them is in the list. Where the lengths do not add up, that
// is all of them.
func Salvage(b []byte) (l *list.List, lost []list.Section) {
	l = list.New()
	v, err := list.Parse(b)
	if err != nil {
		return l, allSections
	}
	var edges []list.Edge
	for s := list.Friends; s <= list.Following; s++ {
		some, ok := edgesOf(v, s)
		if !ok {
			lost = append(lost, s)
			continue
		}
		edges = append(edges, some...)
	}
	l.Merge(edges) // before there are blocks, which it heeds
	for _, s := range otherSections {
		if !putAll(l, v, s) {
			lost = append(lost, s)
		}
	}
	if !chooseAll(l, v) {
		lost = append(lost, list.Options)
	}
	return l, lost
}

// edgesOf returns the edges of a section; not ok if it cannot be read.
func edgesOf(v list.View, s list.Section) (edges []list.Edge, ok bool) {
	ok = true
	err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
		ok = ok && id != 0 && id <= list.MaxID
		if s != list.Followers {
			edges = append(edges, list.Edge{ID: id, Time: mine, Out: true})
		}
		if s != list.Following {
			edges = append(edges, list.Edge{ID: id, Time: theirs})
		}
		return ok
	})
	return edges, ok && err == nil
}

func putAll(l *list.List, v list.View, s list.Section) bool {
	var entries []list.Entry
	err := v.Each(s, func(id uint64, at, _ uint32) bool {
		entries = append(entries, list.Entry{ID: id, Time: at})
		return true
	})
	bad := func(e list.Entry) bool { return e.ID == 0 || e.ID > list.MaxID }
	if err != nil || slices.ContainsFunc(entries, bad) {
		return false
	}
	for _, e := range slices.Backward(entries) { // the earliest first: Put keeps what is there
		l.Put(s, e.ID, e.Time)
	}
	return true
}

// chooseAll takes over all options or none.
func chooseAll(l *list.List, v list.View) bool {
	var ids []uint64
	_ = v.Each(list.Options, func(id uint64, _, _ uint32) bool { ids = append(ids, id); return true })
	if !slices.IsSorted(ids) {
		return false
	}
	options, err := v.Options()
	if err != nil || len(options) != len(ids) {
		return false
	}
	for id, o := range options {
		if _, err := l.SetOption(id, o); err != nil {
			return false
		}
	}
	return true
}
