package list

// Cut takes the oldest entries out of friends, followers or following until
// keep are left, and returns them as a list of their own; nil if there are not
// more. It copies what it keeps, so that the list does not hold on to the rest.
func (l *List) Cut(s Section, keep int) *List {
	if s > Following || keep < 0 || l.Len(s) <= keep {
		return nil
	}
	all := l.runs[s].entries
	n := len(all) - keep
	cut := New()
	cut.runs[s].replace(all[:n:n])
	l.runs[s].replace(append(make([]entry, 0, keep+keep/16+8), all[n:]...))
	return cut
}

// Bounds returns the places of the newest and the oldest entry of a section,
// zero if it is empty, and the earliest time that stands in it, which of
// friends may lie before that of the oldest.
func (l *List) Bounds(s Section) (newest, oldest Cursor, earliest uint32) {
	if s >= Options || l.Len(s) == 0 {
		return Cursor{}, Cursor{}, 0
	}
	all := l.runs[s].entries
	newest, oldest = all[len(all)-1].cursor(), all[0].cursor()
	earliest = oldest.Time
	if s == Friends {
		for _, e := range all {
			earliest = min(earliest, e.mine, e.theirs)
		}
	}
	return newest, oldest, earliest
}

func (e entry) cursor() Cursor { return Cursor{Time: e.key(), ID: e.id} }

// Join adds the entries of another list's friends, followers and following,
// with their times; ids that stand in l already are left out.
func (l *List) Join(o *List) {
	for s := Friends; s <= Following; s++ {
		for _, e := range o.runs[s].entries {
			if _, _, there := l.edge(e.id); !there {
				l.runs[s].insert(e)
			}
		}
	}
}

// Take moves id with its times out of the friends, followers and following of
// another list into l. It returns false if it does not stand there, or stands in
// l already.
func (l *List) Take(o *List, id uint64) bool {
	if _, _, there := l.edge(id); there {
		return false
	}
	s, at, ok := o.edge(id)
	if ok {
		l.runs[s].insert(o.runs[s].remove(at))
	}
	return ok
}
