package relation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/list"
)

// Page returns a page of an account's list, newest first, from the row and, where
// the row does not reach, from the archive.
func (s *Store) Page(ctx context.Context, id uint64, o list.Order, r list.Range) ([]list.Entry, error) {
	row, err := s.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.pageOf(ctx, row, o, r)
}

// PageFor is Page and the list of the viewer it is for, read together.
func (s *Store) PageFor(ctx context.Context, viewer, id uint64, o list.Order, r list.Range) (list.View, []list.Entry, error) {
	rows, err := s.Rows(ctx, []uint64{viewer, id})
	if err != nil {
		return list.View{}, nil, err
	}
	v, err := rows[0].View()
	if err != nil {
		return v, nil, err
	}
	page, err := s.pageOf(ctx, rows[1], o, r)
	return v, page, err
}

func (s *Store) pageOf(ctx context.Context, row Row, o list.Order, r list.Range) ([]list.Entry, error) {
	id := row.AccountID
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	page, _, err := v.Page(o, r, make([]list.Entry, 0, r.Limit))
	if err != nil || r.Limit == 0 || !row.archived(v, o) || row.complete(page, r) {
		return page, err
	}
	err = moved(func() (err error) {
		page, err = s.pageOn(ctx, id, o, r, slices.Clone(page))
		return err
	})
	return page, err
}

// complete reports whether a full page of the newest entries needs no look into
// the archive, since everything there is older.
func (r Row) complete(page []list.Entry, want list.Range) bool {
	return len(page) == want.Limit && !want.Oldest && page[len(page)-1].Time > r.ArchivedAt
}

// moved runs read again when a segment is gone that was there a moment ago: a
// trim or a recall has put its entries elsewhere meanwhile.
func moved(read func() error) error {
	err := read()
	for try := 0; try < 4 && errors.Is(err, repo.ErrNotFound); try++ {
		err = read()
	}
	return err
}

// archived reports whether part of an order stands in the archive.
func (r Row) archived(v list.View, o list.Order) bool {
	switch o {
	case list.ByFollower:
		return r.ArchivedFollowers(v) > 0
	case list.ByFollowing:
		return r.ArchivedFollowing(v) > 0
	case list.ByFriend:
		return int(r.Friends) > v.Len(list.Friends)
	default:
		return false
	}
}

// pageOn merges a page of the row with those of the segments that may hold
// entries of it, the most promising first, until no other can.
func (s *Store) pageOn(ctx context.Context, id uint64, o list.Order, r list.Range, page []list.Entry) ([]list.Entry, error) {
	all, err := s.Headers(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, h := range promising(all, o, r) {
		if len(page) == r.Limit && !h.improves(page, r.Oldest) {
			break
		}
		views, err := segments(ctx, s.small, id, []Header{h})
		if err != nil {
			return nil, err
		}
		more, _, err := views[0].Page(o, r, nil)
		if err != nil {
			return nil, fmt.Errorf("page %s segment %d of %d: %w", h.Section, h.Seq, id, err)
		}
		page = merge(page, more, r)
	}
	return page, nil
}

// promising returns the segments that may hold entries of a range, in the
// order in which they are worth reading.
func promising(all []Header, o list.Order, r list.Range) []Header {
	all = slices.DeleteFunc(all, func(h Header) bool { return !h.holds(o) || h.outside(r) })
	slices.SortFunc(all, func(a, b Header) int {
		if r.Oldest {
			return cmp.Compare(a.EarliestAt, b.EarliestAt)
		}
		return cmp.Compare(b.NewestAt, a.NewestAt)
	})
	return all
}

// holds reports whether a segment's section belongs to an order.
func (h Header) holds(o list.Order) bool {
	switch o {
	case list.ByFollower:
		return h.Section == list.Friends || h.Section == list.Followers
	case list.ByFollowing:
		return h.Section == list.Friends || h.Section == list.Following
	default:
		return h.Section == list.Friends
	}
}

// outside reports whether no entry of a segment can lie in a range. In every
// order an entry's time lies between EarliestAt and NewestAt.
func (h Header) outside(r list.Range) bool {
	return r.Before.ID != 0 && h.EarliestAt > r.Before.Time || r.After.ID != 0 && h.NewestAt < r.After.Time
}

// improves reports whether a segment may hold an entry that belongs into a
// full page.
func (h Header) improves(page []list.Entry, oldest bool) bool {
	if oldest {
		return h.EarliestAt <= page[0].Time
	}
	return h.NewestAt >= page[len(page)-1].Time
}

// merge returns the Limit newest, or oldest, of two pages, newest first.
func merge(a, b []list.Entry, r list.Range) []list.Entry {
	all := append(a, b...)
	slices.SortFunc(all, func(x, y list.Entry) int { return y.Cursor().Compare(x.Cursor()) })
	all = slices.Compact(all)
	switch n := len(all); {
	case n <= r.Limit:
		return all
	case r.Oldest:
		return all[n-r.Limit:]
	default:
		return all[:r.Limit]
	}
}

// Rels tells what each of ids is to the account, from its own row; where that
// row has entries in the archive and does not know, from theirs; and only where
// theirs does not know either, from the archive.
func (s *Store) Rels(ctx context.Context, id uint64, ids []uint64) ([]list.Rel, list.View, error) {
	row, err := s.Row(ctx, id)
	if err != nil {
		return nil, list.View{}, err
	}
	v, err := row.View()
	if err != nil {
		return nil, v, err
	}
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	if row.ArchivedFollowers(v) > 0 || row.ArchivedFollowing(v) > 0 {
		err = s.relsElsewhere(ctx, id, ids, rels)
	}
	return rels, v, err
}

// relsElsewhere completes rels whose account may stand in the archive of id.
func (s *Store) relsElsewhere(ctx context.Context, id uint64, ids []uint64, rels []list.Rel) error {
	var ask []uint64
	for i, r := range rels {
		if r&edges == 0 {
			ask = append(ask, ids[i])
		}
	}
	if len(ask) == 0 {
		return nil
	}
	theirs, err := s.Rows(ctx, ask)
	if err != nil {
		return err
	}
	found := map[uint64]list.Rel{}
	var search []uint64
	for i, o := range ask {
		r, sure, err := told(theirs[i], id)
		if err != nil {
			return err
		}
		if !sure {
			search = append(search, o)
		}
		found[o] = r
	}
	if err := s.search(ctx, id, search, found); err != nil {
		return err
	}
	for i, o := range ids {
		rels[i] |= found[o]
	}
	return nil
}

// told returns what the owner of a row is to id as the row tells it; not sure
// where that may stand in the row's archive.
func told(r Row, id uint64) (list.Rel, bool, error) {
	v, err := r.View()
	if err != nil {
		return 0, false, err
	}
	rel := mirrored(v.Rel(id) & edges)
	return rel, rel != 0 || r.ArchivedFollowers(v) <= 0 && r.ArchivedFollowing(v) <= 0, nil
}

// search looks for ids in every segment of an account.
func (s *Store) search(ctx context.Context, id uint64, ids []uint64, found map[uint64]list.Rel) error {
	if len(ids) == 0 {
		return nil
	}
	return moved(func() error {
		all, err := s.Headers(ctx, id)
		if err != nil {
			return err
		}
		return s.searchIn(ctx, id, all, ids, found)
	})
}

func (s *Store) searchIn(ctx context.Context, id uint64, all []Header, ids []uint64, found map[uint64]list.Rel) error {
	rels := make([]list.Rel, len(ids))
	for _, h := range all {
		views, err := segments(ctx, s.small, id, []Header{h})
		if err != nil {
			return err
		}
		views[0].Rels(ids, rels)
		for i, r := range rels {
			found[ids[i]] |= r & edges
		}
	}
	return nil
}

// Followers tells which of ids, however many, follow the account, from its row
// and its archive alone: for questions about more people than rows can be read.
func (s *Store) Followers(ctx context.Context, id uint64, ids []uint64) ([]list.Rel, error) {
	row, err := s.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	if row.ArchivedFollowers(v) <= 0 {
		return rels, nil
	}
	found := make(map[uint64]list.Rel, len(ids))
	err = s.search(ctx, id, ids, found)
	for i, o := range ids {
		rels[i] |= found[o]
	}
	return rels, err
}
