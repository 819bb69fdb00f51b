package relation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
	"kith/repo/row"
)

// Options is what an account chose about those whom it was asked about.
type Options struct {
	view     list.View
	archived map[uint64]list.Option
}

// Of returns what was chosen about id.
func (o Options) Of(id uint64) (list.Option, error) {
	if a, ok := o.archived[id]; ok {
		return a, nil
	}
	opt, _, err := o.view.Option(id)
	return opt, err
}

// EveryRel asks Rels for all that there is.
const EveryRel = ^list.Rel(0)

// Rels returns what each of ids is to the account of a row, and what it chose about them,
// as far as the bits of; other bits may be missing. What is not in the row is archived:
// what the account did itself is found by the ids, in one statement; what others did is in
// their rows or, by one more statement, in their own archives.
func (s *Store) Rels(ctx context.Context, row Row, ids []uint64, of list.Rel) (rels []list.Rel, options Options, err error) {
	for range steadyTries {
		if rels, options, err = RelsOf(row, ids); err != nil || len(row.Archived) == 0 {
			return rels, options, err
		}
		var looked []Row
		if looked, err = s.archivedRels(ctx, row, ids, of, rels, &options); err != nil || len(looked) == 0 {
			return rels, options, err
		}
		same, err := s.archiveStood(ctx, looked)
		if err != nil || same {
			return rels, options, err
		}
		s.Drop(ctx, looked)
		if row, err = s.Row(ctx, row.ID); err != nil {
			return rels, options, err
		}
	}
	return rels, options, fmt.Errorf("read row and archive of %d: %w", row.ID, repo.ErrConflict)
}

// RelsOf is Rels of a row that has nothing archived.
func RelsOf(row Row, ids []uint64) ([]list.Rel, Options, error) {
	v, err := row.View()
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	return rels, Options{view: v}, err
}

// archivedRels adds what is archived to rels and options. looked are the rows whose
// archives it read: the answer is true of one moment if these did not change meanwhile.
func (s *Store) archivedRels(ctx context.Context, row Row, ids []uint64, of list.Rel, rels []list.Rel, options *Options) (looked []Row, err error) {
	a, err := row.Archive()
	if err != nil {
		return nil, err
	}
	at := make(map[uint64]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	if a.any(saying(of)...) {
		looked = append(looked, row)
		rows, err := ownOf(ctx, s.db, keysOf(row.ID, ids))
		if err != nil {
			return nil, err
		}
		l := list.New()
		options.archived = map[uint64]list.Option{}
		for i := range rows {
			if err := rows[i].put(l); err != nil {
				return nil, fmt.Errorf("archive of %d: %w", row.ID, err)
			}
			if rows[i].Section == list.Options {
				options.archived[rows[i].OtherID] = l.Option(rows[i].OtherID)
			}
		}
		for i, id := range ids {
			rels[i] |= l.Rel(id)
		}
	}
	more, err := s.received(ctx, row.ID, a, ids, of, rels, at)
	return append(looked, more...), err
}

// received adds what those of ids did to an account whose part of it may be archived. It
// returns the rows whose archives it read.
func (s *Store) received(ctx context.Context, id uint64, a Archive, ids []uint64, of list.Rel, rels []list.Rel, at map[uint64]int) (looked []Row, err error) {
	var ask []uint64
	for i, r := range rels {
		if slices.ContainsFunc(mirrors, func(m mirror) bool { return of&m.theirBit != 0 && a.Len(m.theirs) > 0 && r&m.theirBit == 0 }) {
			ask = append(ask, ids[i])
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	rows, err := s.Rows(ctx, ask)
	if err != nil {
		return nil, err
	}
	const shared = list.IsFollower | list.IsBlockedBy | list.HasRequest
	var keys []ownKey
	for i, o := range ask {
		v, err := rows[i].View()
		if err != nil {
			return nil, err
		}
		rels[at[o]] |= mirrored(v.Rel(id)) & shared
		theirs, err := rows[i].Archive()
		if err != nil {
			return nil, err
		}
		if theirs.any(ownSections...) {
			keys = append(keys, ownKey{o, id})
			looked = append(looked, rows[i])
		}
	}
	own, err := ownOf(ctx, s.db, keys)
	for _, o := range own {
		l := list.New()
		if err := o.put(l); err != nil {
			return nil, fmt.Errorf("archive of %d: %w", o.AccountID, err)
		}
		rels[at[o.AccountID]] |= mirrored(l.Rel(id)) & shared
	}
	return looked, err
}

// Page returns a page of an account's list, newest first, from the row and, where
// the row does not reach, from the archive. It reads two segments more than the
// page's entries fill, at most.
func (s *Store) Page(ctx context.Context, row Row, o list.Order, r list.Range) (page []list.Entry, err error) {
	err = s.steady(ctx, row, func(row Row) error {
		page, err = s.page(ctx, row, o, r)
		return err
	})
	return page, err
}

// steadyTries is how often a read is tried whose archive changes meanwhile.
const steadyTries = 10

// steady reads from a row and its archive until the archive did not change meanwhile. A
// trim or a recall between the two would hide what it moves.
func (s *Store) steady(ctx context.Context, row Row, read func(Row) error) error {
	for range steadyTries {
		err := read(row)
		if err == nil && len(row.Archived) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, repo.ErrNotFound) && !errors.Is(err, list.ErrFormat) { // a segment that was there a moment ago
			return err
		}
		same, nowErr := s.archiveStood(ctx, []Row{row})
		if nowErr != nil || same {
			return errors.Join(err, nowErr)
		}
		rows, err := s.Fresh(ctx, []uint64{row.ID})
		if err != nil {
			return err
		}
		row = rows[row.ID]
	}
	return fmt.Errorf("read row and archive of %d: %w", row.ID, repo.ErrConflict)
}

// archiveStood reports whether the archives of rows are still as the rows say. Index:
// PRIMARY (bucket, account_id), one range a row.
func (s *Store) archiveStood(ctx context.Context, rows []Row) (bool, error) {
	ids, now := make([]uint64, len(rows)), make(map[uint64][]byte, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	for part := range slices.Chunk(repo.InOrder(ids), row.MaxRows) {
		where, args := db.Keys(part)
		var some []struct {
			AccountID uint64 `db:"account_id"`
			Archived  []byte `db:"archived"`
		}
		err := s.db.SelectContext(ctx, &some, `SELECT account_id, archived FROM relation WHERE (bucket, account_id) IN (`+where+`)`, args...)
		if err != nil {
			return false, fmt.Errorf("load what is archived of %d accounts: %w", len(part), db.Wrap(err))
		}
		for _, r := range some {
			now[r.AccountID] = r.Archived
		}
	}
	return !slices.ContainsFunc(rows, func(r Row) bool { return !bytes.Equal(now[r.ID], r.Archived) }), nil
}

func (s *Store) page(ctx context.Context, row Row, o list.Order, r list.Range) ([]list.Entry, error) {
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	page, _, err := v.Page(o, r, make([]list.Entry, 0, r.Limit))
	if err != nil || r.Limit == 0 || len(row.Archived) == 0 {
		return page, err
	}
	a, err := row.Archive()
	if err != nil {
		return nil, err
	}
	for _, p := range partsOf[o] {
		newerThanAll := len(page) == r.Limit && !r.Oldest && page[len(page)-1].Cursor().Compare(a.newest(p.section)) > 0
		if a.Len(p.section) == 0 || newerThanAll {
			continue
		}
		var more []list.Entry
		if received(p.section) {
			more, err = s.segmentPage(ctx, row.ID, p.section, o, r)
		} else {
			more, err = ownPage(ctx, s.db, row.ID, p.section, p.column, r)
		}
		if err != nil {
			return nil, err
		}
		page = merge(slices.Clip(page), more, r)
	}
	return page, nil
}

// partsOf says which archived sections an order is made of, own ones by which column.
var partsOf = map[list.Order][]struct {
	section list.Section
	column  string
}{
	list.ByFollower:  {{list.Friends, `theirs`}, {list.Followers, ``}},
	list.ByFollowing: {{list.Friends, `mine`}, {list.Following, `latest`}},
	list.ByFriend:    {{list.Friends, `latest`}},
	list.ByBlocking:  {{list.Blocking, `latest`}},
	list.ByMuting:    {{list.Muting, `latest`}},
	list.ByRequest:   {{list.Requests, ``}},
	list.ByRequested: {{list.Requested, `latest`}},
}

// segmentPage returns a page of a received section: from the segment on that can hold the
// first entry, one after the other.
func (s *Store) segmentPage(ctx context.Context, id uint64, section list.Section, o list.Order, r list.Range) (page []list.Entry, err error) {
	at, older, covering := r.Before, true, false
	switch {
	case r.Oldest:
		at, older = r.After, false
	case r.Before.ID == 0:
		at = list.Cursor{Time: ^uint32(0), ID: list.MaxID}
	default: // the segment that holds the position has its newest entry on the other side
		older, covering = false, true
	}
	for len(page) < r.Limit {
		g, err := nextSegment(ctx, s.db, id, section, at, older, covering)
		if errors.Is(err, repo.ErrNotFound) && covering {
			covering, older = false, true
			continue
		}
		if errors.Is(err, repo.ErrNotFound) || err == nil && g.past(r) {
			break
		}
		if err != nil {
			return nil, err
		}
		v, err := g.view(id)
		if err != nil {
			return nil, err
		}
		more, _, err := v.Page(o, r, nil)
		if err != nil {
			return nil, fmt.Errorf("page %s segment %d of %d: %w", section, g.Seq, id, err)
		}
		page = merge(page, more, r)
		at = g.Newest()
		if covering {
			covering, older = false, true
		}
	}
	return page, nil
}

// past reports whether a segment, and with it all that come after it in the
// direction of the page, lies beyond the end of the range.
func (g Segment) past(r list.Range) bool {
	if r.Oldest {
		return r.Before.ID != 0 && g.Oldest().Compare(r.Before) >= 0
	}
	return r.After.ID != 0 && g.Newest().Compare(r.After) <= 0
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

// Following returns the ids of all accounts that the account of a row follows, archived
// ones included, in no particular order.
func (s *Store) Following(ctx context.Context, row Row) ([]uint64, error) {
	all, archived, err := row.Totals(list.Friends, list.Following)
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, 0, all)
	if archived == 0 {
		v, err := row.View()
		return v.AppendIDs(ids, list.ByFollowing), err
	}
	page, err := s.Page(ctx, row, list.ByFollowing, list.Range{Limit: all})
	for _, e := range page {
		ids = append(ids, e.ID)
	}
	return ids, err
}

// EachFollowers hands the ids of all followers of the account of a row to fn, many at a
// time: those in the row, then those of each segment of its archive. A follow that is made
// or ended meanwhile may count or not.
func (s *Store) EachFollowers(ctx context.Context, row Row, fn func(ids []uint64) error) error {
	v, err := row.View()
	if err != nil {
		return err
	}
	if err := fn(v.AppendIDs(nil, list.ByFollower)); err != nil || len(row.Archived) == 0 {
		return err
	}
	// Friends are archived as what the account did itself, see relation_own.
	err = eachOwn(ctx, s.db, row.ID, func(l *list.List) error { return fn(l.AppendIDs(nil, list.Friends)) })
	if err != nil {
		return err
	}
	received := func(of list.Section) bool { return of == list.Followers }
	return eachStored(ctx, s.db, row.ID, received, func(g Segment) error {
		v, err := g.view(row.ID)
		if err != nil {
			return err
		}
		return fn(v.AppendIDs(nil, list.ByFollower))
	})
}
