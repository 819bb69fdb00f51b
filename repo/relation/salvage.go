package relation

import (
	"slices"

	"kith/repo/list"
)

// everySection has the sections of a list.
var everySection = []list.Section{list.Friends, list.Followers, list.Following, list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested, list.Options}

// timed are the sections that stand beside the edges.
var timed = []list.Section{list.Blocking, list.BlockedBy, list.Muting, list.Requests, list.Requested}

// Salvage opens bytes that list.Check refuses, as far as they can be read. What
// is out of order is sorted. An id that stands more than once is laid together: who
// stands as a follower here and as followed there is a friend, and of two times
// for one thing the earlier counts. lost are the sections that cannot be read or
// have ids that are none: none of their entries is in the list. Where not even
// the lengths add up, that is all of them.
func Salvage(b []byte) (l *list.List, lost []list.Section) {
	l = list.New()
	v, err := list.Parse(b)
	if err != nil {
		return l, everySection
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
	for _, s := range timed {
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
	options := map[uint64]list.Option{}
	if err := v.Options(ids, options); err != nil || len(options) != len(ids) {
		return false
	}
	for id, o := range options {
		if _, err := l.SetOption(id, o); err != nil {
			return false
		}
	}
	return true
}
