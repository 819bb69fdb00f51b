package relation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/list"
)

// ErrRecall is what an edit answers when Settle says that the archive must be
// asked first: it is run again when that has been done.
var ErrRecall = errors.New("entries must be recalled from the archive")

// edges are the bits of the sections that have an archive.
const edges = list.IsFollowing | list.IsFollower

// want is an account to be looked for in the archive, with what the other row
// tells about it: the section in which it must lie and its times.
type want struct {
	id           uint64
	told         bool
	mine, theirs uint32
	rel          list.Rel
}

// section returns where the entry lies if it was told, and its place there.
func (w want) section() (list.Section, list.Cursor) {
	at := list.Cursor{Time: max(w.mine, w.theirs), ID: w.id}
	switch w.rel {
	case edges:
		return list.Friends, at
	case list.IsFollower:
		return list.Followers, at
	default:
		return list.Following, at
	}
}

// Settle makes sure that the lists of two drafts say all there is about the two
// accounts. It reports false, and notes what to look for, where one of them
// may stand in the other's archive; the caller then answers ErrRecall.
//
// A row that has nothing archived, or has the other in its list, knows. One
// that does not know asks the other row; only where neither knows are the
// segments searched.
func Settle(a, b *Draft) bool {
	first, second := a.settle(b), b.settle(a)
	return first && second
}

func (d *Draft) settle(o *Draft) bool {
	id := o.AccountID()
	if d.knows(id) {
		return true
	}
	w := want{id: id}
	if o.knows(d.AccountID()) {
		rel := o.list.Rel(d.AccountID()) & edges
		if rel == 0 {
			return true
		}
		w.told, w.rel = true, mirrored(rel)
		w.theirs, w.mine = o.list.Times(d.AccountID())
	}
	d.wants = append(d.wants, w)
	return false
}

// knows reports whether the list alone says what id is to the owner. An id
// stands once, so one that is in the list is not in the archive.
func (d *Draft) knows(id uint64) bool {
	return !d.archived || d.known[id] || d.list.Rel(id)&edges != 0
}

// Knows reports whether the draft says all there is about id.
func (d *Draft) Knows(id uint64) bool { return d.knows(id) }

// Lacks reports whether somebody wanted has not been looked for yet, or the
// archive not been counted.
func (d *Draft) Lacks() bool {
	for _, w := range d.wants {
		if !d.known[w.id] {
			return true
		}
	}
	return d.recount && !d.counted
}

// mirrored turns what A is to B into what B is to A.
func mirrored(r list.Rel) (m list.Rel) {
	if r&list.IsFollowing != 0 {
		m |= list.IsFollower
	}
	if r&list.IsFollower != 0 {
		m |= list.IsFollowing
	}
	return m
}

// recall opens the draft's row anew with everybody wanted moved from the
// archive into the list.
func (d *Draft) recall(ctx context.Context, q sqlx.QueryerContext) (*Draft, error) {
	next, err := Open(d.row)
	if err != nil {
		return nil, err
	}
	next.wants, next.known, next.recount = d.wants, map[uint64]bool{}, d.recount
	if len(d.wants) == 0 && !d.recount {
		return next, nil
	}
	headers, err := headers(ctx, q, d.row.AccountID)
	if err != nil {
		return nil, err
	}
	if d.recount {
		next.countAnew(headers)
	}
	for _, w := range d.wants {
		if err := next.fetch(ctx, q, headers, w); err != nil {
			return nil, err
		}
		next.known[w.id] = true
	}
	return next, nil
}

// fetch looks for one account in the segments where it may lie and moves it
// into the list.
func (d *Draft) fetch(ctx context.Context, q sqlx.QueryerContext, all []Header, w want) error {
	s, at := w.section()
	for _, h := range all {
		if w.told && (h.Section != s || !h.covers(at)) {
			continue
		}
		g, err := d.open(ctx, q, h)
		if err != nil {
			return err
		}
		if d.list.Take(g.list, w.id) {
			g.changed = true
			d.touch(true)
			return nil
		}
	}
	return nil
}

// open returns a segment opened for edits, the same one each time.
func (d *Draft) open(ctx context.Context, q sqlx.QueryerContext, h Header) (*segment, error) {
	for _, g := range d.segments {
		if g.Section == h.Section && g.Seq == h.Seq {
			return g, nil
		}
	}
	views, err := segments(ctx, q, d.row.AccountID, []Header{h})
	if err != nil {
		return nil, err
	}
	l, err := views[0].Open()
	if err != nil {
		return nil, err
	}
	g := &segment{Header: h, list: l}
	d.segments = append(d.segments, g)
	return g, nil
}

// OpenFor opens a row for a merge of edges, and returns those of the edges that
// the archive does not hold yet. Who stands in the archive with the other
// direction only is recalled, so that the merge makes friends of them.
func (s *Store) OpenFor(ctx context.Context, r Row, edges []list.Edge) (*Draft, []list.Edge, error) {
	return openFor(ctx, s.small, r, edges)
}

func openFor(ctx context.Context, q sqlx.QueryerContext, r Row, merged []list.Edge) (*Draft, []list.Edge, error) {
	d, err := Open(r)
	if err != nil || !d.archived {
		return d, merged, err
	}
	all, err := headers(ctx, q, r.AccountID)
	if err != nil {
		return nil, nil, err
	}
	held := map[list.Edge]bool{}
	for _, h := range all {
		if err := d.meet(ctx, q, h, merged, held); err != nil {
			return nil, nil, err
		}
	}
	var left []list.Edge
	for _, e := range merged {
		if !held[list.Edge{ID: e.ID, Out: e.Out}] {
			left = append(left, e)
		}
	}
	return d, left, nil
}

// meet holds edges against one segment: it notes those it has and recalls
// whom it has with the other direction only.
func (d *Draft) meet(ctx context.Context, q sqlx.QueryerContext, h Header, merged []list.Edge, held map[list.Edge]bool) error {
	views, err := segments(ctx, q, d.row.AccountID, []Header{h})
	if err != nil {
		return err
	}
	ids := make([]uint64, len(merged))
	for i, e := range merged {
		ids[i] = e.ID
	}
	rels := make([]list.Rel, len(ids))
	views[0].Rels(ids, rels)
	for i, e := range merged {
		switch {
		case rels[i]&edges == 0:
		case e.Out && rels[i]&list.IsFollowing != 0, !e.Out && rels[i]&list.IsFollower != 0:
			held[list.Edge{ID: e.ID, Out: e.Out}] = true
		default:
			g, err := d.open(ctx, q, h)
			if err != nil {
				return err
			}
			g.changed = d.list.Take(g.list, e.ID) || g.changed
			d.touch(g.changed)
		}
	}
	return nil
}

// MergeLocked merges edges into one account's row while it holds the row's lock,
// for rows that other writers would win again and again. merge gets the
// draft and those of the edges that are not in the archive. It returns the row as
// it then is.
func (s *Store) MergeLocked(ctx context.Context, id uint64, merged []list.Edge, now uint32, merge func(d *Draft, left []list.Edge)) (Row, error) {
	var row Row
	var sent []Row
	err := s.inTx(ctx, func(tx *sqlx.Tx) error {
		sent = nil
		rows, err := s.selectRows(ctx, tx, []uint64{id}, ` FOR UPDATE`)
		if err != nil {
			return err
		}
		d, left, err := openFor(ctx, tx, rows[id], merged)
		if err != nil {
			return err
		}
		row = rows[id]
		if merge(d, left); !d.Changed() {
			return nil
		}
		if row, err = s.Pack(d, now); err != nil {
			return err
		}
		sent = []Row{row}
		err = s.swapAll(ctx, tx, sent)
		row = sent[0]
		return err
	})
	won, err := s.judge(ctx, sent, err)
	if err != nil {
		return Row{}, err
	}
	if !won {
		return Row{}, fmt.Errorf("merge into the row of %d: %w", id, repo.ErrConflict)
	}
	s.Tell(ctx, sent)
	return row, nil
}
