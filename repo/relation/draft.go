package relation

import (
	"fmt"

	"kith/repo/list"
)

// Draft is a row opened for edits. Its methods keep the list and the counts in
// step, and each reports whether it changed anything. A draft belongs to one
// goroutine.
type Draft struct {
	row      Row // as it was read; edits leave it alone, since a recall opens it anew
	counts   Counts
	list     *list.List
	changed  bool
	archived bool            // some entries stand in the archive
	wants    []want          // what to look for there
	known    map[uint64]bool // who has been looked for there, or cannot be there
	segments []*segment      // what was opened of it
	recount  bool            // the counts are to be made anew
	counted  bool            // and have been
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
	archived := r.ArchivedFollowers(v) > 0 || r.ArchivedFollowing(v) > 0
	return &Draft{row: r, counts: r.Counts, list: l, archived: archived}, nil
}

// AccountID returns whose row this is.
func (d *Draft) AccountID() uint64 { return d.row.AccountID }

// Counts returns the true counts as edited so far.
func (d *Draft) Counts() Counts { return d.counts }

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
	d.counts.Following++
	if wasFollower {
		d.counts.Friends++
	}
	return d.touch(true)
}

// DropFollowing notes that the owner no longer follows id.
func (d *Draft) DropFollowing(id uint64) bool {
	if !d.list.DropFollowing(id) {
		return false
	}
	d.counts.Following--
	if d.list.Rel(id)&list.IsFollower != 0 {
		d.counts.Friends--
	}
	return d.touch(true)
}

// AddFollower notes that id follows the owner since at.
func (d *Draft) AddFollower(id uint64, at uint32) bool {
	wasFollowing := d.list.Rel(id)&list.IsFollowing != 0
	if !d.list.AddFollower(id, at) {
		return false
	}
	d.counts.Followers++
	if wasFollowing {
		d.counts.Friends++
	}
	return d.touch(true)
}

// DropFollower notes that id no longer follows the owner.
func (d *Draft) DropFollower(id uint64) bool {
	if !d.list.DropFollower(id) {
		return false
	}
	d.counts.Followers--
	if d.list.Rel(id)&list.IsFollowing != 0 {
		d.counts.Friends--
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
	d.counts.Following += uint32(n.Following)
	d.counts.Followers += uint32(n.Followers)
	d.counts.Friends += uint32(n.Friends)
	d.touch(n.Following+n.Followers > 0)
	return n
}

func (d *Draft) touch(changed bool) bool {
	d.changed = d.changed || changed
	return changed
}

// Pack returns the row of a draft as it would be stored next, dated now (unix
// seconds) and cut where a section has grown to twice the store's cap.
func (s *Store) Pack(d *Draft, now uint32) (Row, error) { return d.Pack(now, s.cap) }

// Pack returns the row as it would be stored next. Its Ver is still the one that
// was read, until Swap gives it the next. A section
// that has grown to twice the cap is cut to the cap, and what was cut goes to the
// archive with the row. It wraps repo.ErrTooLarge when the list has outgrown a
// row all the same.
func (d *Draft) Pack(now uint32, limit int) (Row, error) {
	next := Row{AccountID: d.row.AccountID, Ver: d.row.Ver, past: d.row.past, Counts: d.counts, UpdatedAt: max(now, 1), ArchivedAt: d.row.ArchivedAt, token: d.row.token}
	for s := list.Friends; s <= list.Following; s++ {
		if limit > 0 && d.list.Len(s) > 2*limit {
			d.segments = append(d.segments, splitCut(s, d.list.Cut(s, limit))...)
		}
	}
	b, err := d.list.Encode(make([]byte, 0, len(d.row.List)+64))
	if err != nil {
		return Row{}, fmt.Errorf("pack list of account %d: %w", d.row.AccountID, err)
	}
	next.List = b
	next.moves, err = d.moves()
	for _, m := range next.moves {
		next.ArchivedAt = max(next.ArchivedAt, m.NewestAt)
	}
	return next, err
}

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
