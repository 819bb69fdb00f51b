package list

import (
	"cmp"
	"slices"
)

// Edge is one follow that an import adds: the owner follows ID (Out), or ID
// follows the owner.
type Edge struct {
	ID   uint64
	Time uint32 // unix seconds, 0 is unknown
	Out  bool
}

// MergeCount says what Merge added.
type MergeCount struct {
	Following int // edges that the owner follows somebody
	Followers int // edges that somebody follows the owner
	Friends   int // accounts that became friends
}

// Merge adds many edges at once. The outcome is that of AddFollowing and
// AddFollower one by one, the oldest first: existing edges keep their times,
// and an edge that is given twice takes the smaller. Accounts that block the
// owner or that the owner blocks are left out; a request that an edge answers
// (Requested for one out, Requests for one in) is dropped. Edges may come in
// any order and are not changed.
func (l *List) Merge(edges []Edge) (added MergeCount) {
	edges = slices.DeleteFunc(slices.Clone(edges), func(e Edge) bool { return !validID(e.ID) })
	slices.SortFunc(edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Time, b.Time)) })
	m := merge{list: l}
	for len(edges) > 0 {
		n := 1
		for n < len(edges) && edges[n].ID == edges[0].ID {
			n++
		}
		m.account(edges[:n])
		edges = edges[n:]
	}
	m.settle()
	return m.added
}

// merge gathers what changes in friends, followers and following, and changes
// each of them once. Until then indexes of their entries stay what they are.
type merge struct {
	list  *List
	dead  [Following + 1][]int   // indexes of entries that become friends
	fresh [Following + 1][]entry // entries to come
	added MergeCount
}

// account takes the edges with one account, the oldest first.
func (m *merge) account(edges []Edge) {
	l, id := m.list, edges[0].ID
	if l.runs[Blocking].has(id) || l.runs[BlockedBy].has(id) {
		return
	}
	e, was := entry{id: id}, Rel(0)
	from, at, ok := l.edge(id)
	if ok {
		e, was = l.runs[from].entries[at], relOf[from]
	}
	is := was
	for _, edge := range edges {
		is = m.add(&e, is, edge)
	}
	if is == was {
		return
	}
	if ok {
		m.dead[from] = append(m.dead[from], at)
	}
	m.keep(e, is)
}

// add adds one edge to the entry of its account and returns what it is then.
func (m *merge) add(e *entry, is Rel, edge Edge) Rel {
	bit, half, answers, count := IsFollower, Followers, Requests, &m.added.Followers
	if edge.Out {
		bit, half, answers, count = IsFollowing, Following, Requested, &m.added.Following
	}
	m.list.Drop(answers, edge.ID)
	if is&bit == 0 {
		*e = e.with(edge.Time, half)
		*count++
	}
	return is | bit
}

// keep notes a new entry in the section where it belongs.
func (m *merge) keep(e entry, is Rel) {
	s := Friends
	switch is {
	case IsFollower:
		s = Followers
	case IsFollowing:
		s = Following
	default:
		m.added.Friends++
	}
	m.fresh[s] = append(m.fresh[s], e)
}

// settle brings the sections up to date.
func (m *merge) settle() {
	for s := range m.fresh {
		if len(m.dead[s])+len(m.fresh[s]) == 0 {
			continue
		}
		slices.Sort(m.dead[s])
		slices.SortFunc(m.fresh[s], entry.compare)
		m.list.Dirty = true
		r := &m.list.runs[s]
		r.replace(weave(r.all(), m.dead[s], m.fresh[s]))
	}
}

// weave returns old without the entries at the indexes dead, and with fresh in
// between, where their times belong. All are sorted.
func weave(old []entry, dead []int, fresh []entry) []entry {
	all := make([]entry, 0, len(old)-len(dead)+len(fresh))
	for i, e := range old {
		if len(dead) > 0 && dead[0] == i {
			dead = dead[1:]
			continue
		}
		for len(fresh) > 0 && fresh[0].compare(e) < 0 {
			all = append(all, fresh[0])
			fresh = fresh[1:]
		}
		all = append(all, e)
	}
	return append(all, fresh...)
}
