package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kith/repo"
	"kith/repo/list"
	"kith/repo/relation"
)

// examined is what was read of one account, and the faults that it shows by itself.
type examined struct {
	row           relation.Row
	views         []list.View // of row and archive, salvaged if need be
	segments      int64
	faults        []Fault
	contradictory []uint64 // accounts about which the list contradicts itself
	unreadable    bool     // part of it cannot be read
	damaged       bool     // what its lists say may be wrong: the rows of others count
	short         bool     // it counts more than there is: entries are lost
	shortOwn      bool     // among them entries of what the account did itself

	held    relation.Counts // kept and archived
	archive relation.Archive
	ids     []uint64 // friends, followers and following, row and archive
}

// examine reads one account as of one moment.
func (a *auditor) examine(ctx context.Context, id uint64, locked bool) (*examined, error) {
	x := &examined{}
	err := a.cfg.Rows.Examine(ctx, id, locked, x.onRow, x.onSegment)
	if err == nil {
		x.end()
	}
	return x, err
}

// each gives fn every entry of the account.
func (x *examined) each(fn func(entry)) {
	for _, v := range x.views {
		eachEntry(x.row.ID, v, fn)
	}
}

// named returns those of ids that the account has any entry about.
func (x *examined) named(ids []uint64) (out []uint64) {
	is, rels := make([]list.Rel, len(ids)), make([]list.Rel, len(ids))
	for _, v := range x.views {
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

// wrong adds a fault.
func (x *examined) wrong(k Kind, format string, args ...any) {
	x.faults = append(x.faults, fault(k, x.row.ID, format, args...))
}

// maxIDs bounds the ids of one account that are compared with each other. In larger
// accounts the checksums find an id that stands twice, unless both sides have it twice.
const maxIDs = 32 << 20

func (x *examined) onRow(r relation.Row) error {
	*x = examined{row: r}
	v, ok := x.open(r.List, "list")
	x.held = relation.Kept(v)
	x.addIDs(v)
	x.contradictory = contradictions(v)
	if want := relation.ColumnsOf(v.Len); ok && r.Ver > 0 && r.Columns != want {
		x.wrong(Column, "kept_followers, kept_following, blocks are %d, %d, %d, those of the list are %d, %d, %d",
			r.KeptFollowers, r.KeptFollowing, r.Blocks, want.KeptFollowers, want.KeptFollowing, want.Blocks)
	}
	if r.Ver > repo.MaxVer {
		x.wrong(Row, "its ver is %d, which edits may not be able to raise: set ver to %d with SQL, then type kith cache renew", r.Ver, uint64(repo.MaxVer/2))
	}
	x.views = append(x.views, v)
	return nil
}

func (x *examined) onSegment(g relation.Segment) error {
	x.segments++
	what := fmt.Sprintf("list of the %s segment %d", g.Section, g.Seq)
	if g.Own {
		what = "list of what the account did itself and is archived"
	}
	v, ok := x.open(g.List, what)
	if ok && !relation.Fits(g) {
		x.wrong(Segment, "the header of the %s segment %d (n %d, newest %d/%d, oldest %d/%d) is not that of its list, which has %d entries of that section and %d in all",
			g.Section, g.Seq, g.N, g.NewestAt, g.NewestID, g.OldestAt, g.OldestID, v.Len(g.Section), entries(v))
	}
	if 0 < x.row.Ver && x.row.Ver <= repo.MaxVer && (g.Ver > x.row.Ver || g.After(x.row.Ver)) {
		x.wrong(Segment, "the %s segment %d with ver %d is newer than the row, whose ver is %d", g.Section, g.Seq, g.Ver, x.row.Ver)
	}
	for s := list.Friends; s <= list.Options; s++ {
		x.held.Add(s, v.Len(s))
		x.archive.Add(s, v)
	}
	if len(x.ids) < maxIDs {
		x.addIDs(v)
	}
	x.views = append(x.views, v)
	return nil
}

// open returns the view of a list, and whether the list is valid. Of an invalid list it
// is the view of what can be salvaged.
func (x *examined) open(b []byte, what string) (list.View, bool) {
	v, err := list.Parse(b)
	if err == nil {
		err = v.Check()
	}
	if err == nil {
		return v, true
	}
	x.damaged = true
	saved, lost := relation.Salvage(b)
	packed, _ := saved.Encode(nil) // a salvaged list is a smaller one: it fits
	after, _ := list.Parse(packed)
	switch n := entries(v) - entries(after); {
	case len(lost) > 0:
		x.unreadable = true
		x.wrong(Bytes, "the %s cannot be read (%v), so these sections are unknown: %s", what, err, names(lost))
	case n > 0:
		x.wrong(Double, "the %s has %d ids that stand there more than once (%v)", what, n, err)
	default:
		x.wrong(Bytes, "the %s is not in order (%v)", what, err)
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

func (x *examined) addIDs(v list.View) {
	x.ids = v.AppendIDs(x.ids, list.ByFollower)
	_ = v.Each(list.Following, func(id uint64, _, _ uint32) bool { x.ids = append(x.ids, id); return true })
}

// contradictions returns the accounts about which a list contradicts itself.
func contradictions(v list.View) (out []uint64) {
	var ids []uint64
	for _, b := range counterparts {
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

// contradictory reports whether a row has a block and a follow or request between the
// same two accounts, or a request of somebody who follows already.
func contradictory(r list.Rel) bool {
	const blocks = list.IsBlocking | list.IsBlockedBy
	const follows = list.IsFollowing | list.IsFollower
	const asks = list.IsRequested | list.HasRequest
	return r&blocks != 0 && r&(follows|asks) != 0 ||
		r&list.IsRequested != 0 && r&list.IsFollowing != 0 || r&list.HasRequest != 0 && r&list.IsFollower != 0
}

// end finds the faults that only row and archive together show.
func (x *examined) end() {
	if x.row.Ver == 0 && x.segments > 0 {
		x.unreadable, x.damaged = true, true
		x.wrong(Row, "there are %d archive segments, but no row", x.segments)
	}
	for _, other := range x.doubles() {
		x.damaged = true
		x.wrong(Double, "%d stands more than once in friends, followers and following of row and archive", other)
		x.faults[len(x.faults)-1].Other = other
	}
	if x.unreadable || slices.ContainsFunc(x.faults, func(f Fault) bool { return f.Kind == Double }) {
		return // what the counts must be is not known
	}
	archive := x.compareArchive()
	if r, held := x.row, x.held; r.Ver > 0 && r.Counts != held {
		x.shortOwn = x.shortOwn || r.Following > held.Following || r.Friends > held.Friends
		x.short = x.short || x.shortOwn || r.Followers > held.Followers
		x.wrong(Count, "friends, followers, following are %d, %d, %d, kept and archived are %d, %d, %d",
			r.Friends, r.Followers, r.Following, held.Friends, held.Followers, held.Following)
	} else if archive != "" {
		x.wrong(Column, "%s", archive)
	}
}

// compareArchive compares what the row says of its archive with the archive, and
// returns what is wrong in words.
func (x *examined) compareArchive() string {
	said, err := x.row.Archive()
	if err != nil {
		return fmt.Sprintf("what the row says of its archive cannot be read (%v)", err)
	}
	if said.Covers(&x.archive) {
		return ""
	}
	var numbers []string
	for s := list.Friends; s <= list.Options; s++ {
		n, is := said.Len(s), x.archive.Len(s)
		if n != is {
			numbers = append(numbers, fmt.Sprintf("it says %d %s, there are %d", n, s, is))
		}
		if n > is && relation.Own(s) {
			x.short, x.shortOwn = true, true
		}
	}
	if len(numbers) == 0 {
		return "the row says that its archive is older than it is"
	}
	return "the row does not say what is in its archive: " + strings.Join(numbers, ", ")
}

// doubles returns the ids that stand more than once in row and archive.
func (x *examined) doubles() (out []uint64) {
	if x.segments == 0 {
		return nil // View.Check finds them within one list
	}
	slices.Sort(x.ids)
	for i := 1; i < len(x.ids); i++ {
		if x.ids[i] == x.ids[i-1] && (i < 2 || x.ids[i] != x.ids[i-2]) {
			out = append(out, x.ids[i])
		}
	}
	return out
}
