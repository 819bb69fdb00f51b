package relation

import (
	"fmt"
	"math/rand/v2"

	"kith/repo/list"
)

// Draft is a row opened for edits. Each of its edits reports whether it changed
// anything. A draft belongs to one goroutine.
type Draft struct {
	row      Row // as it was read; edits leave it alone, since a recall opens it anew
	list     *list.List
	archive  Archive
	changed  bool
	wants    []want          // what to look for in the archive
	known    map[uint64]bool // who has been looked for there,
	knownOwn map[uint64]bool // or as far as the owner did something to them
	segments []*segment      // what was opened of it
	ownGone  []ownRow        // what left it for the list
	notes    []Note
	noteless bool
	recount  bool // what is archived is to be counted
	counted  bool // and has been
}

// Open decodes a row for editing.
func Open(r Row) (*Draft, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	l, err := v.Open()
	if err != nil {
		return nil, fmt.Errorf("open list of account %d, ver %d: %w", r.AccountID, r.Ver, err)
	}
	a, err := r.Archive()
	if err != nil {
		return nil, err
	}
	return &Draft{row: r, list: l, archive: a}, nil
}

// AccountID returns whose row this is.
func (d *Draft) AccountID() uint64 { return d.row.AccountID }

// Counts returns the true counts as edited so far.
func (d *Draft) Counts() Counts {
	friends := d.Total(list.Friends)
	return Counts{Friends: uint32(friends), Followers: uint32(friends + d.Total(list.Followers)), Following: uint32(friends + d.Total(list.Following))}
}

// Total returns how many entries a section has, those in the archive included.
func (d *Draft) Total(s list.Section) int { return d.list.Len(s) + d.archive.Len(s) }

// Changed reports whether an edit changed the draft.
func (d *Draft) Changed() bool { return d.changed }

// Size is the length in bytes of the list as it was read.
func (d *Draft) Size() int { return len(d.row.List) }

// Len returns how many entries a section of the list has.
func (d *Draft) Len(s list.Section) int { return d.list.Len(s) }

// Rel returns what id is to the owner of the row.
func (d *Draft) Rel(id uint64) list.Rel { return d.list.Rel(id) }

// Times returns when the owner followed id and when id followed the owner.
func (d *Draft) Times(id uint64) (mine, theirs uint32) { return d.list.Times(id) }

// AddFollowing notes that the owner follows id since at.
func (d *Draft) AddFollowing(id uint64, at uint32) bool {
	return d.touch(d.list.AddFollowing(id, at))
}

// DropFollowing notes that the owner no longer follows id.
func (d *Draft) DropFollowing(id uint64) bool { return d.touch(d.list.DropFollowing(id)) }

// AddFollower notes that id follows the owner since at.
func (d *Draft) AddFollower(id uint64, at uint32) bool { return d.touch(d.list.AddFollower(id, at)) }

// DropFollower notes that id no longer follows the owner.
func (d *Draft) DropFollower(id uint64) bool { return d.touch(d.list.DropFollower(id)) }

// Put notes id in one of the sections that stand beside the edges: blocking,
// blocked by, muting, requests, requested.
func (d *Draft) Put(s list.Section, id uint64, at uint32) bool {
	return d.touch(d.list.Put(s, id, at))
}

// Drop removes id from one of the sections that stand beside the edges.
func (d *Draft) Drop(s list.Section, id uint64) bool {
	return d.touch(d.list.Drop(s, id))
}

// Option returns what the owner chose about id.
func (d *Draft) Option(id uint64) list.Option { return d.list.Option(id) }

// SetOption replaces what the owner chose about id.
func (d *Draft) SetOption(id uint64, o list.Option) (bool, error) {
	changed, err := d.list.SetOption(id, o)
	return d.touch(changed), err
}

// Merge adds many edges at once and tells how many were new.
func (d *Draft) Merge(edges []list.Edge) list.MergeCount {
	n := d.list.Merge(edges)
	d.touch(n.Following+n.Followers > 0)
	return n
}

// Touch has the row swapped even if no edit changes it. An edit of two rows
// that changes one and rests on what it read in the other touches the other, so
// that the swap proves pool.
func (d *Draft) Touch() { d.touch(true) }

func (d *Draft) touch(changed bool) bool {
	d.changed = d.changed || changed
	return changed
}

// The bounds of a list that a store cuts. Sections beside friends, followers and
// following are no lists of people to show, and need no 10,000 entries.
const (
	// MaxBeside is how many entries such a section is cut to when it has twice as
	// many, or as many as friends, followers and following if that is less.
	MaxBeside = 1000
	// maxOptions is how many bytes the options are cut below when they have twice as many.
	maxOptions = 32 << 10
	// MaxList is the longest list of a row as long as at most 10,000 entries a
	// section are kept: half of what memcached takes.
	MaxList = 512 << 10
)

// Pack returns the row of a draft as it would be stored next, dated now and cut
// where a section has grown to twice its bound.
func (s *Store) Pack(d *Draft) (Row, error) { return d.Pack(s.unix(), s.cap) }

func (s *Store) unix() uint32 { return uint32(s.now().Unix()) }

// Pack returns the row as it would be stored next. Its Ver is still the one that
// was read, until Swap gives it the next. A section that has grown to twice its bound, limit for friends, followers and following, is cut
// to it, and what was cut goes to the archive with the row; a list longer than
// MaxList has all of them cut. With a limit of 0 nothing is cut, and a list that
// has outgrown a row gives repo.ErrTooLarge.
func (d *Draft) Pack(now uint32, limit int) (Row, error) {
	if limit == 0 {
		limit = -1
	}
	return d.pack(now, limit, 2)
}

// pack is Pack that cuts what has grown to more than so many times its bound, and
// nothing where limit is negative.
func (d *Draft) pack(now uint32, limit, times int) (next Row, err error) {
	next = Row{AccountID: d.row.AccountID, Ver: d.row.Ver, past: d.row.past, UpdatedAt: max(now, 1), token: d.row.token, notes: d.notes, noteless: d.noteless, ownGone: d.ownGone}
	if next.moves, err = d.moves(); err != nil {
		return Row{}, err
	}
	for ; ; times = 1 {
		if limit >= 0 {
			d.cutAll(&next, limit, times)
		}
		if next.List, err = d.list.Encode(nil); err != nil {
			return Row{}, fmt.Errorf("pack list of account %d: %w", d.row.AccountID, err)
		}
		if limit < 0 || times == 1 || len(next.List) <= max(MaxList, MaxList/10_000*limit) {
			break
		}
	}
	if len(next.moves)+len(next.ownGone)+len(next.ownAdded)+len(next.cuts) > 0 {
		d.archive.stamp = rand.Uint32()
	}
	next.Archived = d.archive.bytes()
	next.Counts = d.Counts()
	return next, nil
}

// cutAll cuts the sections that have grown to so many times their bound.
func (d *Draft) cutAll(next *Row, limit, times int) {
	for s := list.Friends; s <= list.Options; s++ {
		most := limit
		if s > list.Following {
			most = min(limit, MaxBeside)
		}
		if n := d.list.Len(s); n > times*most {
			d.cut(next, s, most)
		}
	}
	if d.list.OptionBytes() > times*maxOptions {
		for d.list.OptionBytes() > maxOptions {
			d.cut(next, list.Options, d.list.Len(list.Options)/2)
		}
	}
}

// cut moves the oldest entries of a section to the archive until keep are left, and
// returns how many.
func (d *Draft) cut(next *Row, s list.Section, keep int) int {
	cut := d.list.Cut(s, keep)
	if cut == nil {
		return 0
	}
	newest, _ := cut.Bounds(s)
	d.archive.add(s, cut.Len(s), newest)
	if received(s) {
		next.cuts = append(next.cuts, sectionCut{s, cut})
	} else {
		next.ownAdded = append(next.ownAdded, ownRows(s, cut)...)
	}
	return cut.Len(s)
}

// moves packs the segments from which entries were taken.
func (d *Draft) moves() (out []move, err error) {
	for _, g := range d.segments {
		if !g.changed {
			continue
		}
		m, err := g.pack()
		if err != nil {
			return nil, fmt.Errorf("pack archive of account %d: %w", d.row.AccountID, err)
		}
		out = append(out, m)
	}
	return out, nil
}
