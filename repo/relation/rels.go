package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/list"
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

// Rels tells what each of ids is to the account of a row, and what it chose about
// them, as far as the bits of; others may be missing. All that is in the row is known
// from it. What lies in the archive of what the account did itself is found by the
// ids, in one statement. What others did and is archived is known from the rows of these
// others, and where their own archives may hold it, by one more statement.
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
		if row, err = s.Row(ctx, row.AccountID); err != nil {
			return rels, options, err
		}
	}
	return rels, options, fmt.Errorf("read row and archive of %d: %w", row.AccountID, repo.ErrConflict)
}

// RelsOf is Rels of a row that has nothing archived.
func RelsOf(row Row, ids []uint64) ([]list.Rel, Options, error) {
	v, err := row.View()
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	return rels, Options{view: v}, err
}

// archivedRels adds what is archived to rels and options. looked are the rows whose
// archives it looked into: what it says is true of one moment if these have stood
// still.
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
		rows, err := ownOf(ctx, s.db, keysOf(row.AccountID, ids))
		if err != nil {
			return nil, err
		}
		l := list.New()
		options.archived = map[uint64]list.Option{}
		for i := range rows {
			if err := rows[i].put(l); err != nil {
				return nil, fmt.Errorf("archive of %d: %w", row.AccountID, err)
			}
			if rows[i].Section == list.Options {
				options.archived[rows[i].OtherID] = l.Option(rows[i].OtherID)
			}
		}
		for i, id := range ids {
			rels[i] |= l.Rel(id)
		}
	}
	more, err := s.received(ctx, row.AccountID, a, ids, of, rels, at)
	return append(looked, more...), err
}

// received adds what those of ids did to an account of which that may be archived.
// It returns the rows whose archives it looked into.
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
