package relation

import (
	"fmt"

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

// Time returns since when id has stood in a section.
func (d *Draft) Time(s list.Section, id uint64) (uint32, bool) { return d.list.Time(s, id) }

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

// Put notes id in one of the other sections: blocking, blocked by, muting, requests,
// requested.
func (d *Draft) Put(s list.Section, id uint64, at uint32) bool {
	return d.touch(d.list.Put(s, id, at))
}

// Drop removes id from one of those sections.
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
