package list

import "slices"

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
	if !s.timed() {
		return 0, false
	}
	at, ok := l.runs[s].find(id)
	if ok {
		t = l.runs[s].entries[at].mine
	}
	return t, ok
}

// AddFollowing notes that the owner follows id since at. A follower becomes a
// friend. It returns false, and keeps the time, if the owner did already.
func (l *List) AddFollowing(id uint64, at uint32) bool { return l.follow(id, at, Following) }

// AddFollower notes that id follows the owner since at. An account that the
// owner follows becomes a friend. It returns false, and keeps the time, if id did already.
func (l *List) AddFollower(id uint64, at uint32) bool { return l.follow(id, at, Followers) }

// DropFollowing notes that the owner does not follow id. A friend stays as a
// follower. It returns false if the owner did not anyway.
func (l *List) DropFollowing(id uint64) bool { return l.unfollow(id, Following) }

// DropFollower notes that id does not follow the owner. A friend stays as
// one that the owner follows. It returns false if id did not anyway.
func (l *List) DropFollower(id uint64) bool { return l.unfollow(id, Followers) }

// follow adds the half of an edge that the section to, Followers or Following,
// stands for.
func (l *List) follow(id uint64, at uint32, to Section) bool {
	from, i, ok := l.edge(id)
	switch {
	case !validID(id), from == Friends, from == to:
		return false
	case ok:
		l.runs[Friends].insert(l.runs[from].remove(i).with(at, to))
	default:
		l.runs[to].insert(entry{id: id}.with(at, to))
	}
	l.Dirty = true
	return true
}

// unfollow takes away the half of an edge that the section from stands for.
func (l *List) unfollow(id uint64, from Section) bool {
	if at, ok := l.runs[from].find(id); ok {
		l.runs[from].remove(at)
	} else if at, ok := l.runs[Friends].find(id); ok {
		e := l.runs[Friends].remove(at).with(0, from)
		l.runs[Followers+Following-from].insert(e)
	} else {
		return false
	}
	l.Dirty = true
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
	if !s.timed() || !validID(id) || l.runs[s].has(id) {
		return false
	}
	l.runs[s].insert(entry{id: id, mine: at})
	l.Dirty = true
	return true
}

// Drop takes id out of Blocking, BlockedBy, Muting, Requests or Requested. It
// returns false if id does not stand there, and for any other section.
func (l *List) Drop(s Section, id uint64) bool {
	if !s.timed() {
		return false
	}
	at, ok := l.runs[s].find(id)
	if ok {
		l.runs[s].remove(at)
		l.Dirty = true
	}
	return ok
}

// Cut removes the oldest entries of a section, of options those with the smallest ids,
// until keep are left, and returns them as a list of their own; nil if there are not more.
// It copies what it keeps, so that the list does not hold on to the rest.
func (l *List) Cut(s Section, keep int) *List {
	if keep < 0 || l.Len(s) <= keep {
		return nil
	}
	return l.cut(s, l.Len(s)-keep)
}

// CutAt takes the entries at a position and older ones out of a section that has
// times, and returns them as a list of their own; nil if there are none.
func (l *List) CutAt(s Section, c Cursor) *List {
	if s >= Options {
		return nil
	}
	n, at := l.runs[s].position(entry{id: c.ID, mine: c.Time})
	if at {
		n++
	}
	if n == 0 {
		return nil
	}
	return l.cut(s, n)
}

// cut takes the first n entries of a section.
func (l *List) cut(s Section, n int) *List {
	cut := New()
	l.Dirty = true
	if s == Options {
		all := l.options.all()
		cut.options.entries = slices.Clone(all[:n])
		l.options.entries = slices.Clone(all[n:])
		return cut
	}
	all := l.runs[s].all()
	keep := len(all) - n
	cut.runs[s].replace(all[:n:n])
	l.runs[s].replace(append(make([]entry, 0, keep+keep/16+8), all[n:]...))
	return cut
}

// Bounds returns the positions of the newest and the oldest entry of a section
// that has times, zero if it is empty.
func (l *List) Bounds(s Section) (newest, oldest Cursor) {
	if s >= Options || l.Len(s) == 0 {
		return Cursor{}, Cursor{}
	}
	all := l.runs[s].all()
	return all[len(all)-1].cursor(), all[0].cursor()
}

func (e entry) cursor() Cursor { return Cursor{Time: e.key(), ID: e.id} }

// Join adds the entries of one section of another list, with their times, unless l has the
// ids there, or of friends, followers and following in any of these. Options are not
// joined.
func (l *List) Join(o *List, s Section) {
	if s >= Options {
		return
	}
	for _, e := range o.runs[s].all() {
		if !l.stands(s, e.id) {
			l.runs[s].insert(e)
			l.Dirty = true
		}
	}
}

// stands reports whether id stands in a section or, of friends, followers and following, in
// any of these.
func (l *List) stands(s Section, id uint64) bool {
	if s.edge() {
		_, _, ok := l.edge(id)
		return ok
	}
	return l.runs[s].has(id)
}

// Each calls fn for each entry of a section, oldest first, as [View.Each] does.
func (l *List) Each(s Section, fn func(id uint64, mine, theirs uint32)) {
	if s == Options {
		for _, o := range l.options.all() {
			fn(o.id, 0, 0)
		}
		return
	}
	for _, e := range l.runs[s].all() {
		fn(e.id, e.mine, e.theirs)
	}
}

// OptionBytes is how long the column of the section options is.
func (l *List) OptionBytes() (n int) {
	if v := l.options.packed; v != nil {
		return len(v.column(Options))
	}
	for _, o := range l.options.entries {
		n += len(o.packed)
	}
	return n
}

// AppendIDs appends the ids of a section but options to dst, oldest first.
func (l *List) AppendIDs(dst []uint64, s Section) []uint64 {
	if s >= Options {
		return dst
	}
	for _, e := range l.runs[s].all() {
		dst = append(dst, e.id)
	}
	return dst
}
