package list

import "slices"

// Cut takes the oldest entries out of a section, of options those with the
// smallest ids, until keep are left, and returns them as a list of their own; nil
// if there are not more. It copies what it keeps, so that the list does not hold
// on to the rest.
func (l *List) Cut(s Section, keep int) *List {
	if keep < 0 || l.Len(s) <= keep {
		return nil
	}
	return l.cut(s, l.Len(s)-keep)
}

// CutAt takes the entries at a place and older ones out of a section that has
// times, and returns them as a list of their own; nil if there are none.
func (l *List) CutAt(s Section, c Cursor) *List {
	if s >= Options {
		return nil
	}
	n, at := l.runs[s].place(entry{id: c.ID, mine: c.Time})
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

// Bounds returns the places of the newest and the oldest entry of a section
// that has times, zero if it is empty.
func (l *List) Bounds(s Section) (newest, oldest Cursor) {
	if s >= Options || l.Len(s) == 0 {
		return Cursor{}, Cursor{}
	}
	all := l.runs[s].all()
	return all[len(all)-1].cursor(), all[0].cursor()
}

func (e entry) cursor() Cursor { return Cursor{Time: e.key(), ID: e.id} }

// Join adds the entries of one section of another list, with their times; ids
// that stand in that section of l already, of friends, followers and following in
// any of these, are left out. Options have no times and are not joined.
func (l *List) Join(o *List, s Section) {
	if s >= Options {
		return
	}
	for _, e := range o.runs[s].all() {
		if !l.stands(s, e.id) {
			l.runs[s].insert(e)
		}
	}
}

// stands reports whether id stands in a section, or in one of which it may stand
// in one only.
func (l *List) stands(s Section, id uint64) bool {
	if s.edge() {
		_, _, ok := l.edge(id)
		return ok
	}
	return l.runs[s].has(id)
}

// Take moves what another list says about id into l: entries with their times, and
// the option. What l has already stays as it is. It returns false if there was
// nothing to move.
func (l *List) Take(o *List, id uint64) (took bool) {
	for s := range Options {
		at, ok := o.runs[s].find(id)
		if ok && !l.stands(s, id) {
			l.runs[s].insert(o.runs[s].remove(at))
			took = true
		}
	}
	if o.options.has(id) && !l.options.has(id) {
		at, _ := o.findOption(id)
		mine, _ := l.findOption(id)
		l.options.entries = slices.Insert(l.options.entries, mine, o.options.entries[at])
		o.options.entries = slices.Delete(o.options.entries, at, at+1)
		took = true
	}
	return took
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
