package relation

import (
	"fmt"

	"kith/repo/list"
)

// Draft is a row opened for edits. Its methods keep the list and the counts in
// step, and each reports whether it changed anything. A draft belongs to one
// goroutine.
type Draft struct {
	row     Row
	list    *list.List
	changed bool
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
	return &Draft{row: r, list: l}, nil
}

// AccountID returns whose row this is.
func (d *Draft) AccountID() uint64 { return d.row.AccountID }

// Counts returns the true counts as edited so far.
func (d *Draft) Counts() Counts { return d.row.Counts }

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
	wasFollower := d.list.Rel(id)&list.IsFollower != 0
	if !d.list.AddFollowing(id, at) {
		return false
	}
	d.row.Following++
	if wasFollower {
		d.row.Friends++
	}
	return d.touch(true)
}

// DropFollowing notes that the owner no longer follows id.
func (d *Draft) DropFollowing(id uint64) bool {
	if !d.list.DropFollowing(id) {
		return false
	}
	d.row.Following--
	if d.list.Rel(id)&list.IsFollower != 0 {
		d.row.Friends--
	}
	return d.touch(true)
}

// AddFollower notes that id follows the owner since at.
func (d *Draft) AddFollower(id uint64, at uint32) bool {
	wasFollowing := d.list.Rel(id)&list.IsFollowing != 0
	if !d.list.AddFollower(id, at) {
		return false
	}
	d.row.Followers++
	if wasFollowing {
		d.row.Friends++
	}
	return d.touch(true)
}

// DropFollower notes that id no longer follows the owner.
func (d *Draft) DropFollower(id uint64) bool {
	if !d.list.DropFollower(id) {
		return false
	}
	d.row.Followers--
	if d.list.Rel(id)&list.IsFollowing != 0 {
		d.row.Friends--
	}
	return d.touch(true)
}

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
	d.row.Following += uint32(n.Following)
	d.row.Followers += uint32(n.Followers)
	d.row.Friends += uint32(n.Friends)
	d.touch(n.Following+n.Followers > 0)
	return n
}

func (d *Draft) touch(changed bool) bool {
	d.changed = d.changed || changed
	return changed
}

// Pack returns the row as it would be stored next, one ver higher. It wraps
// repo.ErrTooLarge when the list has outgrown a row.
func (d *Draft) Pack(now uint32) (Row, error) {
	b, err := d.list.Encode(make([]byte, 0, len(d.row.List)+64))
	if err != nil {
		return Row{}, fmt.Errorf("pack list of account %d: %w", d.row.AccountID, err)
	}
	next := d.row
	next.List, next.Ver, next.UpdatedAt = b, d.row.Ver+1, now
	return next, nil
}
