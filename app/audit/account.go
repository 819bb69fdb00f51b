package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kith/repo/list"
	"kith/repo/relation"
)

// look is what was read of one account, and what is wrong with it by itself.
type look struct {
	row           relation.Row
	views         []list.View // of row and archive, salvaged if need be
	segments      int64
	faults        []Fault
	contradictory []uint64 // of whom the list says what does not go together
	lost          bool     // part of it cannot be read
	damaged       bool     // what its lists say may be wrong: others know better
	short         bool     // it counts more than there is: entries are lost,
	shortOwn      bool     // of what it does itself too

	held    relation.Counts // kept and archived
	archive relation.Archive
	ids     []uint64 // friends, followers and following, row and archive
}

// look reads one account as of one moment.
func (a *auditor) look(ctx context.Context, id uint64, locked bool) (*look, error) {
	l := &look{}
	err := a.cfg.Rows.Examine(ctx, id, locked, l.onRow, l.onSegment)
	if err == nil {
		l.end()
	}
	return l, err
}

// each hands what the account says about others to fn.
func (l *look) each(fn func(entry)) {
	for _, v := range l.views {
		eachEntry(l.row.AccountID, v, fn)
	}
}

// named returns those of ids that the account says anything about.
func (l *look) named(ids []uint64) (out []uint64) {
	is, rels := make([]list.Rel, len(ids)), make([]list.Rel, len(ids))
	for _, v := range l.views {
		v.Rels(ids, rels)
		for i, r := range rels {
			is[i] |= r
		}
	}
	for i, id := range ids {
		if is[i] != 0 {
			out = append(out, id)
		}
	}
	return out
}

// wrong notes a fault.
func (l *look) wrong(k Kind, format string, args ...any) {
	l.faults = append(l.faults, fault(k, l.row.AccountID, format, args...))
}

// maxIDs bounds the ids of one account that are compared with each other; the
// checksums find what is twice in larger ones, unless both sides have it twice.
const maxIDs = 32 << 20

func (l *look) onRow(r relation.Row) error {
	*l = look{row: r}
	v, ok := l.open(r.List, "list")
	l.held = relation.Kept(v)
	l.addIDs(v)
	l.contradictory = contradictions(v)
	if want := relation.ColumnsOf(v); ok && r.Ver > 0 && r.Columns != want {
		l.wrong(Column, "kept_followers, kept_following, blocks are %d, %d, %d, those of the list are %d, %d, %d",
			r.KeptFollowers, r.KeptFollowing, r.Blocks, want.KeptFollowers, want.KeptFollowing, want.Blocks)
	}
	l.views = append(l.views, v)
	return nil
}

func (l *look) onSegment(g relation.Segment) error {
	l.segments++
	what := fmt.Sprintf("list of the %s segment %d", g.Section, g.Seq)
	if g.Own {
		what = "list of what the account did itself and is archived"
	}
	v, ok := l.open(g.List, what)
	if ok && !relation.Fits(g) {
		l.wrong(Segment, "the header of the %s segment %d (n %d, newest %d/%d, oldest %d/%d) is not that of its list, which has %d entries of that section and %d in all",
			g.Section, g.Seq, g.N, g.NewestAt, g.NewestID, g.OldestAt, g.OldestID, v.Len(g.Section), entries(v))
	}
	if l.row.Ver > 0 && (g.Ver > l.row.Ver || g.After(l.row.Ver)) {
		l.wrong(Segment, "the %s segment %d with ver %d is newer than the row, whose ver is %d", g.Section, g.Seq, g.Ver, l.row.Ver)
	}
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
	l.damaged = true
	saved, lost := relation.Salvage(b)
	packed, _ := saved.Encode(nil) // a salvaged list is a smaller one: it fits
	after, _ := list.Parse(packed)
	switch n := entries(v) - entries(after); {
	case len(lost) > 0:
		l.lost = true
		l.wrong(Bytes, "the %s cannot be read (%v), so these sections are unknown: %s", what, err, names(lost))
	case n > 0:
		l.wrong(Double, "the %s has %d ids that stand there more than once (%v)", what, n, err)
	default:
		l.wrong(Bytes, "the %s is not in order (%v)", what, err)
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
	text := fmt.Sprint(sections) // in brackets
	return strings.ReplaceAll(text[1:len(text)-1], " ", ", ")
}

func (l *look) addIDs(v list.View) {
	l.ids = v.AppendIDs(l.ids, list.ByFollower)
	_ = v.Each(list.Following, func(id uint64, _, _ uint32) bool { l.ids = append(l.ids, id); return true })
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

// end looks for what only the whole shows.
func (l *look) end() {
	if l.row.Ver == 0 && l.segments > 0 {
		l.lost, l.damaged = true, true
		l.wrong(Row, "there are %d archive segments, but no row", l.segments)
	}
	for _, other := range l.doubles() {
		l.damaged = true
		l.wrong(Double, "%d stands more than once in friends, followers and following of row and archive", other)
		l.faults[len(l.faults)-1].Other = other
	}
	if l.lost || slices.ContainsFunc(l.faults, func(f Fault) bool { return f.Kind == Double }) {
		return // what the counts must be is not known
	}
	archive := l.compareArchive()
	if r, held := l.row, l.held; r.Ver > 0 && r.Counts != held {
		l.shortOwn = l.shortOwn || r.Following > held.Following || r.Friends > held.Friends
		l.short = l.short || l.shortOwn || r.Followers > held.Followers
		l.wrong(Count, "friends, followers, following are %d, %d, %d, kept and archived are %d, %d, %d",
			r.Friends, r.Followers, r.Following, held.Friends, held.Followers, held.Following)
	} else if archive != "" {
		l.wrong(Column, "%s", archive)
	}
}

// compareArchive compares what the row says of its archive with the archive, and
// returns what is wrong in words.
func (l *look) compareArchive() (wrong string) {
	said, err := l.row.Archive()
	if err != nil {
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
			l.short, l.shortOwn = true, true
		}
	}
	return wrong
}

// doubles returns the ids that stand more than once.
func (l *look) doubles() (out []uint64) {
	if l.segments == 0 {
		return nil // Check has seen to it
	}
	slices.Sort(l.ids)
	for i := 1; i < len(l.ids); i++ {
		if l.ids[i] == l.ids[i-1] && (i < 2 || l.ids[i] != l.ids[i-2]) {
			out = append(out, l.ids[i])
		}
	}
	return out
}
