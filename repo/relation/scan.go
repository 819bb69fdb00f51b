package relation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/db"
	"kith/repo/list"
)

// Archived returns up to limit accounts that have anything in the archive and come
// after the given account in key order, up to last. Index: PRIMARY (bucket,
// account_id, …) of both tables, a range in each bucket.
func (s *Store) Archived(ctx context.Context, after, last uint64, limit int) (all []uint64, err error) {
	for _, table := range []string{`relation_archive`, `relation_own`} {
		some, err := db.WalkRows[uint64](ctx, s.db, table, after, last, limit,
			`SELECT account_id FROM `+table+` WHERE bucket = ? AND account_id > ? AND account_id <= ? GROUP BY account_id ORDER BY account_id LIMIT ?`)
		if err != nil {
			return nil, fmt.Errorf("find archives after %d: %w", after, err)
		}
		all = append(all, some...)
	}
	all = repo.InOrder(all)
	return all[:min(len(all), limit)], nil
}

// sampled is how many of the 1,024 buckets About counts.
const sampled = 16

// About estimates the number of rows from the first 16 of the 1,024 buckets.
// Index: PRIMARY (bucket, account_id), or by_blocks, which holds the bucket too.
func (s *Store) About(ctx context.Context) (int64, error) {
	var n int64
	buckets := make([]any, sampled)
	for i := range buckets {
		buckets[i] = i
	}
	err := s.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM relation WHERE bucket IN (`+db.Repeat("?", sampled)+`)`, buckets...)
	if err != nil {
		return 0, fmt.Errorf("count a part of the relations: %w", db.Wrap(err))
	}
	return n * (repo.Buckets / sampled), nil
}

// Examine hands an account's row and then its segments, one at a time, to row
// and segment, all as of one moment. Where it finds that the archive was changed
// meanwhile it calls them anew from the beginning, row first. If locked is set, or
// that happens over and over, it holds the row's lock, without which nothing of
// the account changes. An account without a row has Ver 0.
func (s *Store) Examine(ctx context.Context, id uint64, locked bool, row func(Row) error, segment func(Segment) error) error {
	for try := 0; try < looseTries && !locked; try++ {
		steady, err := s.examineLoose(ctx, id, row, segment)
		if steady && err == nil {
			return nil
		}
		if err != nil && !errors.Is(err, repo.ErrNotFound) { // a segment that was there a moment ago
			return fmt.Errorf("examine account %d: %w", id, err)
		}
	}
	for range lockTries {
		won, err := s.Store.Locked(ctx, []uint64{id}, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
			err := row(rows[id])
			if err == nil {
				err = eachSegment(ctx, tx, id, segment)
			}
			return nil, err
		})
		if err != nil {
			return fmt.Errorf("examine account %d: %w", id, err)
		}
		if won {
			return nil
		}
	}
	return fmt.Errorf("examine account %d: %w", id, repo.ErrConflict)
}

const (
	// looseTries is how often an account is read without its lock.
	looseTries = 5
	// lockTries is how often a transaction that ends in a deadlock is run.
	lockTries = 10
)

// examineLoose reads an account without a lock, and reports whether its archive
// stood still meanwhile: then the row, at whatever moment it was read, goes with
// it. Followers who come to an account that everybody follows change the row only.
func (s *Store) examineLoose(ctx context.Context, id uint64, row func(Row) error, segment func(Segment) error) (steady bool, err error) {
	rows, err := s.Fresh(ctx, []uint64{id})
	if err != nil {
		return false, err
	}
	if err := row(rows[id]); err != nil {
		return false, err
	}
	if err := eachSegment(ctx, s.db, id, segment); err != nil {
		return false, err
	}
	return s.archiveStood(ctx, []Row{rows[id]})
}

// Whole returns an account's row and the lists of its whole archive as of one
// moment. It wraps repo.ErrConflict where the archive changes faster than it can be
// read.
func (s *Store) Whole(ctx context.Context, id uint64) (row Row, archive []list.View, err error) {
	err = s.Examine(ctx, id, false, func(r Row) error {
		row, archive = r, nil
		return nil
	}, func(g Segment) error {
		v, err := g.view(id)
		archive = append(archive, v)
		return err
	})
	if err != nil {
		return Row{}, nil, fmt.Errorf("read row and archive of %d: %w", id, err)
	}
	return row, archive, nil
}

// Orphans returns the accounts that have a relation row which says something but do
// not exist, and come after the given account in key order, up to last. Index: PRIMARY
// (bucket, account_id) of relation, a range in each bucket, and of account, one row
// each; lists are read of few.
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
