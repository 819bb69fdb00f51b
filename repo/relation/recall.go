package relation

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/list"
)

// ErrRecall is what an edit answers when Settle says that the archive must be
// asked first: it is run again when that has been done.
var ErrRecall = errors.New("entries must be recalled from the archive")

// edges are the bits of friends, followers and following.
const edges = list.IsFollowing | list.IsFollower

// want is an account about which what is archived is wanted in the list.
type want struct {
	id  uint64
	how how
}

// how says what is wanted.
type how uint8

const (
	ownPart    how = iota // what the owner did to it
	bothParts             // and what it did to the owner, as its row tells
	everywhere            // all, without trust in counts, in headers or in its row
)

// Settle makes sure that the lists of two drafts say all there is about the two
// accounts. It reports false, and notes what to look for, where something may stand
// in an archive; the caller then answers ErrRecall.
//
// What the owner of a row did itself is found there by the other's id. What the
// other did to it the other's row knows, and where it knows nothing there is
// nothing to look for: who follows, blocks or asks is the one whose own row is the
// truth. So two accounts cost one look-up each, however long their archives are.
func Settle(a, b *Draft) bool {
	first, second := a.settle(b), b.settle(a)
	return first && second
}

func (d *Draft) settle(o *Draft) bool {
	id := o.AccountID()
	sure := d.knowsOwn(id)
	for _, m := range mirrors {
		if !d.mayReceive(m, id) {
			continue
		}
		if !o.knowsOwn(d.AccountID()) || o.list.Rel(d.AccountID())&m.myBit != 0 {
			sure = false
		}
	}
	if !sure {
		d.wants = append(d.wants, want{id, bothParts})
	}
	return sure
}

// mayReceive reports whether an entry that id made may stand in the archive.
func (d *Draft) mayReceive(m mirror, id uint64) bool {
	return !d.known[id] && d.archive.Len(m.theirs) > 0 && d.list.Rel(id)&m.theirBit == 0
}

// knowsOwn reports whether the list alone says what the owner did to id. An id
// stands once in friends, followers and following, so that one in the list is not
// archived as another of these.
func (d *Draft) knowsOwn(id uint64) bool {
	if d.known[id] || d.knownOwn[id] {
		return true
	}
	if d.archive.any(list.Blocking, list.Muting, list.Requested, list.Options) {
		return false
	}
	return !d.archive.any(list.Friends, list.Following) || d.list.Rel(id)&edges != 0
}

// Own makes sure that the list says what the owner did to id, and chose about it.
// It reports false where that is to be looked for first; the caller then answers
// ErrRecall.
func (d *Draft) Own(id uint64) bool {
	if d.knowsOwn(id) {
		return true
	}
	d.wants = append(d.wants, want{id, ownPart})
	return false
}

// Knows reports whether the draft says all there is about id.
func (d *Draft) Knows(id uint64) bool {
	sure := d.knowsOwn(id)
	for _, m := range mirrors {
		sure = sure && !d.mayReceive(m, id)
	}
	return sure
}

// Search makes sure that the list says all there is about id, without any trust in
// counts, in segment headers or in the other's row: all of the archive is searched.
// It reports false, and the caller answers ErrRecall, where that is still to be
// done.
func (d *Draft) Search(id uint64) bool {
	if d.known[id] {
		return true
	}
	d.wants = append(d.wants, want{id, everywhere})
	return false
}

// Lacks reports whether somebody wanted has not been looked for yet.
func (d *Draft) Lacks() bool {
	for _, w := range d.wants {
		if !d.known[w.id] && (w.how != ownPart || !d.knownOwn[w.id]) {
			return true
		}
	}
	return false
}

// recallAll opens drafts anew, with everybody wanted moved from the archive into
// the list: first what each did itself, by which the others' entries are found.
func recallAll(ctx context.Context, q sqlx.QueryerContext, drafts map[uint64]*Draft) (map[uint64]*Draft, error) {
	next := make(map[uint64]*Draft, len(drafts))
	for id, d := range drafts {
		n, err := Open(d.row)
		if err != nil {
			return nil, err
		}
		n.wants, n.known, n.knownOwn = d.wants, map[uint64]bool{}, map[uint64]bool{}
		if err := n.recallOwn(ctx, q); err != nil {
			return nil, err
		}
		next[id] = n
	}
	for _, d := range next {
		for _, w := range d.wants {
			if w.how == ownPart {
				continue
			}
			if err := d.recallReceived(ctx, q, w, next[w.id]); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range next {
		for _, w := range d.wants {
			d.knownOwn[w.id] = true
			d.known[w.id] = d.known[w.id] || w.how != ownPart
		}
	}
	return next, nil
}

// recallOwn moves into the list what the owner did to those wanted.
func (d *Draft) recallOwn(ctx context.Context, q sqlx.QueryerContext) error {
	var ids []uint64
	for _, w := range d.wants {
		if w.how == everywhere || d.archive.any(ownSections...) {
			ids = append(ids, w.id)
		}
	}
	rows, err := ownOf(ctx, q, keysOf(d.AccountID(), repo.InOrder(ids)))
	if err != nil {
		return err
	}
	for _, o := range rows {
		if err := d.takeOwn(o); err != nil {
			return err
		}
	}
	return nil
}

// takeOwn moves one entry from the table into the list. Where the list has it too,
// the list's stays.
func (d *Draft) takeOwn(o ownRow) error {
	if err := o.put(d.list); err != nil {
		return err
	}
	d.archive.drop(o.Section, 1)
	d.ownGone = append(d.ownGone, o)
	d.touch(true)
	return nil
}

// recallReceived moves into the list what one wanted did to the owner. The row o of
// the other says what there is and where.
func (d *Draft) recallReceived(ctx context.Context, q sqlx.QueryerContext, w want, o *Draft) error {
	for _, m := range mirrors {
		if d.list.Rel(w.id)&m.theirBit != 0 || d.archive.Len(m.theirs) == 0 && w.how != everywhere {
			continue
		}
		if w.how != everywhere {
			at, made := o.made(m, d.AccountID())
			if !made {
				continue
			}
			found, err := d.fetch(ctx, q, m.theirs, list.Cursor{Time: at, ID: w.id})
			if found || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := d.searchAll(ctx, q, m.theirs, w.id); err != nil {
			return err
		}
	}
	return nil
}

// made returns since when the owner of a draft has followed, blocked or asked id.
func (d *Draft) made(m mirror, id uint64) (at uint32, is bool) {
	if d == nil || d.list.Rel(id)&m.myBit == 0 {
		return 0, false
	}
	if m.mine == list.Following {
		at, _ = d.list.Times(id)
		return at, true
	}
	return d.list.Time(m.mine, id)
}

// fetch moves the entry at a position of a section from its segment into the list.
func (d *Draft) fetch(ctx context.Context, q sqlx.QueryerContext, s list.Section, c list.Cursor) (bool, error) {
	g, err := nextSegment(ctx, q, d.AccountID(), s, c, false, true)
	if errors.Is(err, repo.ErrNotFound) {
		return false, nil
	}
	if err != nil || g.Oldest().Compare(c) > 0 {
		return false, err
	}
	opened, err := d.open(g)
	if err != nil {
		return false, err
	}
	return d.take(opened, c.ID), nil
}

// searchAll looks for an id in every segment of a section: the row of the other says
// that it is there, and it is not where it must be, as after an import that was
// broken off.
func (d *Draft) searchAll(ctx context.Context, q sqlx.QueryerContext, s list.Section, id uint64) error {
	all, err := headers(ctx, q, d.AccountID())
	if err != nil {
		return err
	}
	for _, h := range all {
		if h.Section != s {
			continue
		}
		g, err := loadSegment(ctx, q, d.AccountID(), h)
		if err != nil {
			return err
		}
		v, err := g.view(d.AccountID())
		if err != nil {
			return err
		}
		if v.Rel(id) == 0 {
			continue
		}
		opened, err := d.open(g)
		if err != nil {
			return err
		}
		d.take(opened, id)
	}
	return nil
}

// take moves an entry from a segment into the list; where the list has it too, the
// list's stays. It reports false where the segment does not have it.
func (d *Draft) take(g *segment, id uint64) bool {
	if g.Section == list.Followers {
		_, at := g.list.Times(id)
		if !g.list.DropFollower(id) {
			return false
		}
		d.list.AddFollower(id, at)
	} else {
		at, _ := g.list.Time(g.Section, id)
		if !g.list.Drop(g.Section, id) {
			return false
		}
		d.list.Put(g.Section, id, at)
	}
	d.archive.drop(g.Section, 1)
	g.changed = true
	d.touch(true)
	return true
}

// open returns a segment opened for edits, the same one each time.
func (d *Draft) open(g Segment) (*segment, error) {
	for _, have := range d.segments {
		if have.Section == g.Section && have.Seq == g.Seq {
			return have, nil
		}
	}
	opened, err := g.open(d.AccountID())
	if err != nil {
		return nil, err
	}
	d.segments = append(d.segments, opened)
	return opened, nil
}
