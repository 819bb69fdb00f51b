package audit

import (
	"fmt"
	"slices"

	"kith/repo/list"
	"kith/repo/relation"
)

// look is one account while its row and archive are read.
type look struct {
	// part is handed every list that can be read, salvaged if need be.
	part func(owner uint64, v list.View)
	// rowSeen says that the row was handed to part before.
	rowSeen bool

	row      relation.Stored
	views    []list.View     // for part, once all is read
	held     relation.Counts // kept and archived
	archive  relation.Archive
	ids      []uint64 // friends, followers and following, row and archive
	segments int64
	faults   []Fault
	beside   []uint64 // of whom the list says what does not go together
	lost     bool     // part of it cannot be read
	damaged  bool     // its lists are not as they must be: others know better
	short    bool     // it counts more than there is: entries are lost
	shortOut bool     // of what it does itself too,
	blocking bool     // of blocks or requests among that
	rewrite  bool     // it takes more than an edit to put right
}

// maxIDs bounds the ids of one account that are held against each other; the
// checksums find what is twice in larger ones, unless both sides have it twice.
const maxIDs = 32 << 20

func (l *look) onRow(r relation.Stored) error {
	seen := l.rowSeen
	*l = look{part: l.part, rowSeen: seen, row: r}
	v, ok := l.open(r.List, "list")
	l.held = relation.Kept(v)
	l.addIDs(v)
	l.beside = contradictions(v)
	if ok {
		l.checkColumns(v)
	}
	if !seen {
		l.views = append(l.views, v)
	}
	return nil
}

// open returns the view of a list, and whether it is as it must be. One that can
// be salvaged is the view of what it will be.
func (l *look) open(b []byte, what string) (list.View, bool) {
	v, err := list.Parse(b)
	if err == nil {
		err = v.Check()
	}
	if err == nil {
		return v, true
	}
	id := l.row.AccountID
	saved, lost := relation.Salvage(b)
	l.rewrite, l.damaged = true, true
	if len(lost) > 0 {
		l.lost = true
		l.faults = append(l.faults, fault(Bytes, id, "the %s cannot be read (%v), so these sections are unknown: %s", what, err, names(lost)))
	}
	packed, encodeErr := saved.Encode(nil)
	after, parseErr := list.Parse(packed)
	if encodeErr != nil || parseErr != nil {
		l.lost = true // it never is: a salvaged list is a smaller one
		return list.View{}, false
	}
	if len(lost) == 0 {
		if n := entries(v) - entries(after); n > 0 {
			l.faults = append(l.faults, fault(Double, id, "the %s has %d ids that stand there more than once (%v)", what, n, err))
		} else {
			l.faults = append(l.faults, fault(Bytes, id, "the %s is not in order (%v)", what, err))
		}
	}
	return after, false
}

func entries(v list.View) (n int) {
	for s := list.Friends; s <= list.Options; s++ {
		n += v.Len(s)
	}
	return n
}

func names(sections []list.Section) string {
	if len(sections) > int(list.Options) {
		return "all"
	}
	s := ""
	for i, one := range sections {
		if i > 0 {
			s += ", "
		}
		s += one.String()
	}
	return s
}

func (l *look) addIDs(v list.View) {
	l.ids = v.AppendIDs(l.ids, list.ByFollower)
	_ = v.Each(list.Following, func(id uint64, _, _ uint32) bool { l.ids = append(l.ids, id); return true })
}

func (l *look) checkColumns(v list.View) {
	if want := relation.ColumnsOf(v); l.row.Ver > 0 && l.row.Columns != want {
		l.faults = append(l.faults, fault(Column, l.row.AccountID,
			"kept_followers, kept_following, blocks are %d, %d, %d, those of the list are %d, %d, %d",
			l.row.KeptFollowers, l.row.KeptFollowing, l.row.Blocks, want.KeptFollowers, want.KeptFollowing, want.Blocks))
	}
}

// contradictions returns those about whom a list says what does not go together.
func contradictions(v list.View) (out []uint64) {
	var ids []uint64
	for _, b := range besides {
		_ = v.Each(b.section, func(id uint64, _, _ uint32) bool { ids = append(ids, id); return true })
	}
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	for i, r := range rels {
		if contradictory(r) {
			out = append(out, ids[i])
		}
	}
	return out
}

// contradictory reports whether a row says that one blocks the other and yet
// something else is between them, or that somebody asks who follows already.
func contradictory(r list.Rel) bool {
	const blocks = list.IsBlocking | list.IsBlockedBy
	const follows = list.IsFollowing | list.IsFollower
	const asks = list.IsRequested | list.HasRequest
	return r&blocks != 0 && r&(follows|asks) != 0 ||
		r&list.IsRequested != 0 && r&list.IsFollowing != 0 || r&list.HasRequest != 0 && r&list.IsFollower != 0
}

func (l *look) onSegment(g relation.Segment) error {
	l.segments++
	what := fmt.Sprintf("list of the %s segment %d", g.Section, g.Seq)
	if g.Own {
		what = "list of what the account did itself and is archived"
	}
	before := len(l.faults)
	v, ok := l.open(g.List, what)
	if ok && !relation.Fits(g) {
		l.faults = append(l.faults, fault(Segment, l.row.AccountID, "the header of the %s segment %d (n %d, newest %d/%d, oldest %d/%d) is not that of its list, which has %d entries of that section and %d in all",
			g.Section, g.Seq, g.N, g.NewestAt, g.NewestID, g.OldestAt, g.OldestID, v.Len(g.Section), entries(v)))
	}
	if l.row.Ver > 0 && (g.Ver > l.row.Ver || g.After(l.row.Ver)) {
		l.faults = append(l.faults, fault(Segment, l.row.AccountID, "the %s segment %d with ver %d is newer than the row, whose ver is %d", g.Section, g.Seq, g.Ver, l.row.Ver))
	}
	l.rewrite = l.rewrite || len(l.faults) > before
	for s := list.Friends; s <= list.Options; s++ {
		l.held.Add(s, v.Len(s))
		l.archive.Add(s, v)
	}
	if len(l.ids) < maxIDs {
		l.addIDs(v)
	}
	l.views = append(l.views, v)
	return nil
}

// end hands over what was read and judges what only the whole shows.
func (l *look) end() {
	id := l.row.AccountID
	for _, v := range l.views {
		l.part(id, v)
	}
	l.views = nil
	if l.row.Ver == 0 && l.segments > 0 {
		l.lost, l.rewrite, l.damaged = true, true, true
		l.faults = append(l.faults, fault(Row, id, "there are %d archive segments, but no row", l.segments))
	}
	doubles := l.doubles()
	for _, other := range doubles {
		f := fault(Double, id, "%d stands more than once in friends, followers and following of row and archive", other)
		f.Other = other
		l.faults = append(l.faults, f)
	}
	l.rewrite, l.damaged = l.rewrite || len(doubles) > 0, l.damaged || len(doubles) > 0
	if l.lost || slices.ContainsFunc(l.faults, func(f Fault) bool { return f.Kind == Double }) {
		return // what the counts must be is not known
	}
	otherwise := l.checkArchive()
	if l.row.Ver > 0 && l.row.Counts != l.held {
		l.shortOut = l.shortOut || l.row.Following > l.held.Following || l.row.Friends > l.held.Friends
		l.short = l.short || l.shortOut || l.row.Followers > l.held.Followers
		l.faults = append(l.faults, fault(Count, id, "friends, followers, following are %d, %d, %d, kept and archived are %d, %d, %d",
			l.row.Friends, l.row.Followers, l.row.Following, l.held.Friends, l.held.Followers, l.held.Following))
	} else if otherwise != "" {
		l.faults = append(l.faults, fault(Column, id, "%s", otherwise))
	}
}

// checkArchive holds what the row says of its archive against the archive, and
// returns what is wrong in words.
func (l *look) checkArchive() (wrong string) {
	said, err := l.row.Archive()
	if err != nil {
		l.rewrite = true
		return fmt.Sprintf("what the row says of its archive cannot be read (%v)", err)
	}
	if said.Covers(&l.archive) {
		return ""
	}
	wrong = "what the row says of its archive, in number or how new it is, is not what is there:"
	for s := list.Friends; s <= list.Options; s++ {
		n, is := said.Len(s), l.archive.Len(s)
		if n != is {
			wrong += fmt.Sprintf(" %s %d, there are %d;", s, n, is)
		}
		if n > is && relation.Own(s) {
			l.short, l.shortOut = true, true
			l.blocking = l.blocking || s == list.Blocking || s == list.Requested
		}
	}
	return wrong
}

// doubles returns the ids that stand more than once.
func (l *look) doubles() []uint64 {
	if l.segments == 0 {
		return nil // Check has seen to it
	}
	slices.Sort(l.ids)
	var out []uint64
	for i := 1; i < len(l.ids); i++ {
		if l.ids[i] == l.ids[i-1] && (len(out) == 0 || out[len(out)-1] != l.ids[i]) {
			out = append(out, l.ids[i])
		}
	}
	return out
}
