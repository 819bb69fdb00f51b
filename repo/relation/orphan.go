package relation

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/db"
	"kith/repo/list"
)

// Orphans returns the accounts that have a relation row which says something
// but do not exist, and come after the given account in key order, up to last.
// Index: PRIMARY (bucket, account_id) of relation, a range in each bucket, and of
// account, one row each; lists are read of few.
func (s *Store) Orphans(ctx context.Context, after, last uint64) (out []uint64, err error) {
	for {
		var full []uint64
		page, err := db.WalkRows[uint64](ctx, s.db, `relation`, after, last, MaxRows,
			`SELECT r.account_id FROM relation r LEFT JOIN account a ON a.bucket = r.bucket AND a.account_id = r.account_id WHERE r.bucket = ? AND r.account_id > ? AND r.account_id <= ? AND a.account_id IS NULL ORDER BY r.account_id LIMIT ?`)
		if err == nil && len(page) > 0 {
			where, args := db.Keys(page)
			err = s.db.SelectContext(ctx, &full, `SELECT account_id FROM relation WHERE (bucket, account_id) IN (`+where+`) AND (followers > 0 OR following > 0 OR friends > 0 OR list <> ?) ORDER BY bucket, account_id`,
				append(args, emptyList)...)
		}
		if err != nil {
			return nil, fmt.Errorf("find rows without an account after %d: %w", after, db.Wrap(err))
		}
		out = append(out, full...)
		if len(page) < MaxRows {
			return out, nil
		}
		after = page[len(page)-1]
	}
}

// Missing returns those of ids that are no accounts, from the database.
func (s *Store) Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error) {
	return account.Missing(ctx, s.db, ids)
}

// Forget takes all that an account's row and archive say about those of ids
// that are no accounts out of them, and returns those about whom there was
// something. Where the account itself does not exist it takes out everything,
// and returns the account. A dry one changes nothing.
//
// Who exists is asked while the row is locked. An account is there before any
// row names it, so one that came to be meanwhile is not forgotten. Errors are
// those of Swap, ErrFormat for a list that cannot be read, and repo.ErrConflict
// where the swap is lost.
func (s *Store) Forget(ctx context.Context, id uint64, ids []uint64, dry bool) (gone []uint64, err error) {
	won := false
	for try := 0; try < lockTries && !won && err == nil; try++ {
		won, err = s.Store.Locked(ctx, []uint64{id}, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
			d, names, err := forget(ctx, tx, rows[id], ids)
			if gone = names; err != nil || dry || !d.Changed() {
				return nil, err
			}
			r, err := s.Pack(d)
			return []Row{r}, err
		})
	}
	if err == nil && !won {
		err = repo.ErrConflict
	}
	if err != nil {
		return nil, fmt.Errorf("forget who does not exist in the row of %d: %w", id, err)
	}
	return gone, nil
}

// forget returns a locked row as it will be. The row was read before anything else:
// what is read later is no older.
func forget(ctx context.Context, tx *sqlx.Tx, row Row, ids []uint64) (*Draft, []uint64, error) {
	id := row.AccountID
	missing, err := account.Missing(ctx, tx, append(slices.Clone(ids), id))
	if err != nil {
		return nil, nil, err
	}
	if missing[id] {
		d, err := clearAll(ctx, tx, row)
		if err != nil || !d.Changed() {
			return d, nil, err
		}
		return d, []uint64{id}, nil
	}
	d, err := Open(row)
	if err != nil {
		return nil, nil, err
	}
	for other := range missing {
		d.Search(other)
	}
	d.Recount()
	opened, err := recallAll(ctx, tx, map[uint64]*Draft{id: d})
	if err != nil {
		return nil, nil, err
	}
	d = opened[id]
	d.changed = false // a count made anew or a recall alone is no reason to write
	var gone []uint64
	for _, other := range ids {
		if missing[other] && d.forget(other) {
			gone = append(gone, other)
		}
	}
	return d, gone, nil
}

// clearAll returns the row without any entry, and its segments to be deleted.
// What is empty already is left as it is.
func clearAll(ctx context.Context, tx *sqlx.Tx, row Row) (*Draft, error) {
	w := &rewrite{q: tx, row: row, absent: row.Ver == 0, list: list.New(), out: map[uint64]bool{}, past: map[Beside]bool{}}
	err := eachSegment(ctx, tx, row.AccountID, func(g Segment) error {
		if err := w.inspect(g); err != nil || !g.Own {
			w.moved = append(w.moved, &segment{Header: g.Header, list: list.New(), changed: true})
			return err
		}
		l, _ := Salvage(g.List)
		for _, s := range ownSections {
			w.ownGone = append(w.ownGone, ownRows(s, l)...)
		}
		return nil
	})
	d := w.draft()
	d.noteless = true
	d.changed = len(w.moved)+len(w.ownGone) > 0 || row.Counts != Counts{} || string(row.List) != string(emptyList)
	return d, err
}

// forget takes out whatever a draft says about id, and reports whether it did.
func (d *Draft) forget(id uint64) bool {
	was := d.list.Rel(id) != 0
	d.forgetNote(id)
	drop(d.list, id)
	d.touch(was)
	return was
}
