package list

import "slices"

// List is the opened form of a list, for edits. It reads the bytes it came from as
// long as it lives, which must not change meanwhile, and never writes to them. It is
// not safe for use by several goroutines.
type List struct {
	runs    [Options]run
	options openOptions
}

// New returns an empty list.
func New() *List { return &List{} }

// Clone returns a copy that shares nothing that an edit changes.
func (l *List) Clone() *List {
	c := &List{options: openOptions{packed: l.options.packed, entries: slices.Clone(l.options.entries)}}
	for s := range l.runs {
		c.runs[s] = run{packed: l.runs[s].packed, section: l.runs[s].section, entries: slices.Clone(l.runs[s].entries)}
	}
	return c
}

// Len returns the number of entries in a section.
func (l *List) Len(s Section) int {
	switch {
	case s < Options:
		return l.runs[s].len()
	case s == Options:
		return l.options.len()
	}
	return 0
}

// Rel returns what id is to the owner of the list.
func (l *List) Rel(id uint64) (r Rel) {
	for s := range Options {
		if l.runs[s].has(id) {
			r |= relOf[s]
		}
	}
	if l.options.has(id) {
		r |= HasOption
	}
	return r
}

// edge returns the section of friends, followers and following in which id
// stands, and where.
func (l *List) edge(id uint64) (s Section, at int, ok bool) {
	for s := Friends; s <= Following; s++ {
		if at, ok := l.runs[s].find(id); ok {
			return s, at, true
		}
	}
	return numSections, 0, false
}

// Times returns when the owner followed id (mine) and when id followed the
// owner (theirs); 0 if unknown or not so.
func (l *List) Times(id uint64) (mine, theirs uint32) {
	s, at, ok := l.edge(id)
	if !ok {
		return 0, 0
	}
	e := l.runs[s].entries[at]
	return e.mine, e.theirs
}

// Time returns since when id stands in Blocking, BlockedBy, Muting, Requests
// or Requested. ok is false if it does not, and for every other section.
func (l *List) Time(s Section, id uint64) (t uint32, ok bool) {
	if !s.beside() {
		return 0, false
	}
	at, ok := l.runs[s].find(id)
	if !ok {
		return 0, false
	}
	return l.runs[s].entries[at].mine, true
}

// AddFollowing notes that the owner follows id since at. A follower becomes a
// friend. It returns false, and keeps the time, if the owner did already.
func (l *List) AddFollowing(id uint64, at uint32) bool {
	return l.follow(id, at, Following)
}

// AddFollower notes that id follows the owner since at. Somebody followed
// becomes a friend. It returns false, and keeps the time, if id did already.
func (l *List) AddFollower(id uint64, at uint32) bool {
	return l.follow(id, at, Followers)
}

// DropFollowing notes that the owner does not follow id. A friend stays as a
// follower. It returns false if the owner did not anyway.
func (l *List) DropFollowing(id uint64) bool {
	return l.unfollow(id, Following)
}

// DropFollower notes that id does not follow the owner. A friend stays as
// somebody followed. It returns false if id did not anyway.
func (l *List) DropFollower(id uint64) bool {
	return l.unfollow(id, Followers)
}

// follow adds the half of an edge that the section to, Followers or Following,
// stands for.
func (l *List) follow(id uint64, at uint32, to Section) bool {
	if !validID(id) {
		return false
	}
	e := entry{id: id}
	from, place, ok := l.edge(id)
	if ok {
		if from == Friends || from == to {
			return false
		}
		e = l.runs[from].remove(place)
		l.runs[Friends].insert(e.with(at, to))
		return true
	}
	l.runs[to].insert(e.with(at, to))
	return true
}

// unfollow takes away the half of an edge that the section from stands for.
func (l *List) unfollow(id uint64, from Section) bool {
	if at, ok := l.runs[from].find(id); ok {
		l.runs[from].remove(at)
		return true
	}
	at, ok := l.runs[Friends].find(id)
	if !ok {
		return false
	}
	e := l.runs[Friends].remove(at).with(0, from)
	l.runs[Followers+Following-from].insert(e)
	return true
}

// with returns the entry with the time of one half, Followers or Following, set.
func (e entry) with(at uint32, half Section) entry {
	if half == Following {
		e.mine = at
	} else {
		e.theirs = at
	}
	return e
}

// Put adds id to Blocking, BlockedBy, Muting, Requests or Requested. It
// returns false, and keeps the time, if id stands there already; and changes
// nothing in any other section.
func (l *List) Put(s Section, id uint64, at uint32) bool {
	if !s.beside() || !validID(id) {
		return false
	}
	if l.runs[s].has(id) {
		return false
	}
	l.runs[s].insert(entry{id: id, mine: at})
	return true
}

// Drop takes id out of Blocking, BlockedBy, Muting, Requests or Requested. It
// returns false if id does not stand there, and for any other section.
func (l *List) Drop(s Section, id uint64) bool {
	if !s.beside() {
		return false
	}
	at, ok := l.runs[s].find(id)
	if ok {
		l.runs[s].remove(at)
	}
	return ok
}
