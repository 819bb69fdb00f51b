package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/list"
)

// OpenFor opens a row for a merge of edges, and returns the edges that the archive does
// not hold yet. Archived entries that decide the merge are recalled: the other direction
// of an edge, so that the two become friends, a block, and a request that an edge answers.
func (s *Store) OpenFor(ctx context.Context, r Row, edges []list.Edge) (*Draft, []list.Edge, error) {
	return openFor(ctx, s.db, r, edges)
}

func openFor(ctx context.Context, q sqlx.QueryerContext, r Row, merged []list.Edge) (*Draft, []list.Edge, error) {
	d, err := Open(r)
	if err != nil || d.archive.all() == 0 {
		return d, merged, err
	}
	m := meeting{draft: d, comes: map[uint64]list.Rel{}, held: map[list.Edge]bool{}}
	for _, e := range merged {
		m.comes[e.ID] |= bitOf(e)
	}
	m.ids = make([]uint64, 0, len(m.comes))
	for id := range m.comes {
		m.ids = append(m.ids, id)
	}
	slices.Sort(m.ids)
	if err := m.own(ctx, q); err != nil {
		return nil, nil, err
	}
	if err := m.received(ctx, q); err != nil {
		return nil, nil, err
	}
	d.Dirty = false // a recall alone is no reason to write
	return d, slices.DeleteFunc(slices.Clone(merged), func(e list.Edge) bool { return m.held[list.Edge{ID: e.ID, Out: e.Out}] }), nil
}

func bitOf(e list.Edge) list.Rel {
	if e.Out {
		return list.IsFollowing
	}
	return list.IsFollower
}

// meeting compares new edges with what is archived.
type meeting struct {
	draft *Draft
	ids   []uint64
	comes map[uint64]list.Rel // the directions of the new edges
	held  map[list.Edge]bool  // what the archive has, without times
}

// own compares them with what the owner did itself.
func (m *meeting) own(ctx context.Context, q sqlx.QueryerContext) error {
	if !m.draft.archive.any(ownSections...) {
		return nil
	}
	rows, err := ownOf(ctx, q, keysOf(m.draft.AccountID(), m.ids))
	if err != nil {
		return err
	}
	for _, o := range rows {
		recall := false
		switch o.Section {
		case list.Friends:
			m.held[list.Edge{ID: o.OtherID, Out: true}] = true
			m.held[list.Edge{ID: o.OtherID}] = true
		case list.Following:
			recall = m.comes[o.OtherID]&list.IsFollower != 0
			m.held[list.Edge{ID: o.OtherID, Out: true}] = !recall
		case list.Requested:
			recall = m.comes[o.OtherID]&list.IsFollowing != 0
		default:
			recall = o.Section == list.Blocking
		}
		if recall {
			if err := m.draft.takeOwn(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// received compares them with what others did, one segment in memory at a time.
func (m *meeting) received(ctx context.Context, q sqlx.QueryerContext) error {
	if !m.draft.archive.any(receivedSections...) {
		return nil
	}
	rels := make([]list.Rel, len(m.ids))
	return eachStored(ctx, q, m.draft.AccountID(), received, func(g Segment) error {
		v, err := g.view(m.draft.AccountID())
		if err != nil {
			return err
		}
		v.Rels(m.ids, rels)
		for i, id := range m.ids {
			if err := m.meet(g, id, rels[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// meet compares what a segment says about one account with its new edges.
func (m *meeting) meet(g Segment, id uint64, r list.Rel) error {
	switch {
	case r&list.IsFollower != 0 && m.comes[id]&list.IsFollowing == 0:
		m.held[list.Edge{ID: id}] = true
	case r&(list.IsFollower|list.IsBlockedBy) != 0, r&list.HasRequest != 0 && m.comes[id]&list.IsFollower != 0:
		opened, err := m.draft.open(g)
		if err != nil {
			return err
		}
		m.draft.take(opened, id)
	}
	return nil
}

// MergeLocked merges edges into one account's row under the row's lock, for rows whose
// swap would be lost again and again. merge gets the draft and the edges that are not in
// the archive. It returns the row as it then is.
func (s *Store) MergeLocked(ctx context.Context, id uint64, merged []list.Edge, merge func(d *Draft, left []list.Edge)) (Row, error) {
	now := make([]Row, 1) // the row as it then is
	err := s.lockedRow(ctx, id, func(tx *sqlx.Tx, r Row) ([]Row, error) {
		d, left, err := openFor(ctx, tx, r, merged)
		if err != nil {
			return nil, err
		}
		if merge(d, left); !d.Changed() {
			now[0] = r
			return nil, nil
		}
		now[0], err = s.Pack(d)
		return now, err
	})
	if err != nil {
		return Row{}, fmt.Errorf("merge into the row of %d: %w", id, err)
	}
	return now[0], nil
}
