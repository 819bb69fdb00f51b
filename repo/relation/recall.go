package relation

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/list"
)

// recallAll opens drafts anew and moves all wanted entries from the archive into the
// list: first what each account did itself, by which the others' entries are found.
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

// recallOwn moves into the list what the owner did to the wanted accounts.
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

// takeOwn moves one entry from the table into the list; if the list has it, that stays.
func (d *Draft) takeOwn(o ownRow) error {
	if err := o.put(d.List); err != nil {
		return err
	}
	d.archive.drop(o.Section, 1)
	d.ownGone = append(d.ownGone, o)
	d.Dirty = true
	return nil
}

// recallReceived moves into the list what one wanted account did to the owner. That
// account's row, o, says what there is and where.
func (d *Draft) recallReceived(ctx context.Context, q sqlx.QueryerContext, w want, o *Draft) error {
	for _, m := range mirrors {
		if d.Rel(w.id)&m.theirBit != 0 || d.archive.Len(m.theirs) == 0 && w.how != everywhere {
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
	if d == nil || d.Rel(id)&m.myBit == 0 {
		return 0, false
	}
	if m.mine == list.Following {
		at, _ = d.Times(id)
		return at, true
	}
	return d.Time(m.mine, id)
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

// searchAll searches every segment of a section for an id that, by the other's row, must
// be there but is not at its position, as after an import that was broken off.
func (d *Draft) searchAll(ctx context.Context, q sqlx.QueryerContext, s list.Section, id uint64) error {
	return eachStored(ctx, q, d.AccountID(), func(of list.Section) bool { return of == s }, func(g Segment) error {
		v, err := g.view(d.AccountID())
		if err != nil || v.Rel(id) == 0 {
			return err
		}
		opened, err := d.open(g)
		if err == nil {
			d.take(opened, id)
		}
		return err
	})
}

// take moves an entry from a segment into the list; if the list has it, that stays. It
// reports false where the segment does not have it.
func (d *Draft) take(g *segment, id uint64) bool {
	if g.Section == list.Followers {
		_, at := g.list.Times(id)
		if !g.list.DropFollower(id) {
			return false
		}
		d.AddFollower(id, at)
	} else {
		at, _ := g.list.Time(g.Section, id)
		if !g.list.Drop(g.Section, id) {
			return false
		}
		d.Put(g.Section, id, at)
	}
	d.archive.drop(g.Section, 1)
	g.changed = true
	d.Dirty = true
	return true
}

// open opens a segment for edits; the same segment again is the one opened before.
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
