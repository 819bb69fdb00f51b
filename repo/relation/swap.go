package relation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Swap stores rows (as Draft.Pack made them), each only where its ver is still the
// one that was read, all or none, and then in the cache. It gives them their next
// ver and reports whether they won.
func (s *Store) Swap(ctx context.Context, rows []Row) (won bool, err error) {
	raise(rows)
	if len(rows) <= swapRows && !slices.ContainsFunc(rows, func(r Row) bool { return !r.alone() }) {
		err = s.swapAlone(ctx, rows)
	} else {
		err = db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error { return s.swapAll(ctx, tx, rows) })
	}
	if won, err = s.resolve(ctx, rows, err); won && len(rows) > 0 {
		s.Put(ctx, rows)
	}
	return won, err
}

// swapAll swaps rows and stores what they bring beside the list, inside a transaction.
func (s *Store) swapAll(ctx context.Context, tx *sqlx.Tx, rows []Row) error {
	raise(rows)
	if err := s.swap(ctx, tx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if err := storeArchive(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// raise gives rows that were packed their next ver, by a step that is the same for
// all, and the same date. Rows that have theirs already keep it.
func raise(rows []Row) {
	step, now := repo.Step(), uint32(0)
	for _, r := range rows {
		if r.step > 0 {
			return
		}
		step = max(step, r.past+step)
		now = max(now, r.UpdatedAt)
	}
	for i := range rows {
		rows[i].Ver += step
		rows[i].step, rows[i].UpdatedAt = step, now
	}
}

// errNoBase says that a row which was read, or was in the cache, is not there.
var errNoBase = fmt.Errorf("a row that is to be changed is not there: %w", repo.ErrConflict)

// neverUpdated dates a row that a swap made which was to change one. See hollow.
const neverUpdated = 0

// hollow empties a row that is in the database and should not be: a swap was to
// change a row that another history of the database had, and this one has not. The
// row was inserted, before anybody could know; its date says that what stands in
// it is not to be believed.
func (r *Row) hollow() {
	if r.Ver > 0 && r.UpdatedAt == neverUpdated {
		*r = Row{AccountID: r.AccountID, Ver: r.Ver, List: emptyList}
	}
}

// based returns errNoBase where a statement inserted more than the rows that are
// new: it counts an inserted row once and an updated one twice.
func based(done sql.Result, rows []Row) error {
	want := int64(0)
	for _, r := range rows {
		if want++; r.Ver > r.step {
			want++
		}
	}
	n, err := done.RowsAffected()
	if err == nil && n < want {
		err = errNoBase
	}
	return err
}

// resolve turns what the swap statement answered into won, lost or an error.
func (s *Store) resolve(ctx context.Context, rows []Row, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errNoBase):
		s.forget(ctx, rows)
		return false, nil
	case db.Lost(err):
		return false, nil
	case db.OutcomeUnknown(err):
		return s.readBack(ctx, rows, err)
	case len(rows) == 0: // of an edit
		return false, db.Wrap(err)
	default:
		s.forget(ctx, rows) // an engine that shards may have stored some
		return false, fmt.Errorf("swap %d relations: %w", len(rows), db.Wrap(err))
	}
}

// swapAlone sends the swap of few rows as one statement that is its own
// transaction.
func (s *Store) swapAlone(ctx context.Context, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := swapArgs(inKeyOrder(rows))
	if err != nil {
		return err
	}
	done, err := s.db.ExecContext(ctx, swapSQL(len(rows)), args...)
	if err != nil {
		return err
	}
	return based(done, rows)
}

// swap sends the swap inside a transaction.
func (s *Store) swap(ctx context.Context, tx *sqlx.Tx, rows []Row) error {
	for part := range slices.Chunk(inKeyOrder(rows), swapRows) {
		args, err := swapArgs(part)
		if err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, swapSQL(len(part)), args...)
		if err == nil {
			err = based(done, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inKeyOrder sorts rows so that two processes lock them in the same order.
func inKeyOrder(rows []Row) []Row {
	return slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return repo.CompareKeys(a.AccountID, b.AccountID) })
}

// swapArgs are the arguments of a swap.
func swapArgs(rows []Row) ([]any, error) {
	args := make([]any, 0, 12*len(rows)+2)
	for _, r := range rows {
		v, err := r.View()
		if err != nil {
			return nil, err
		}
		inserted := uint32(neverUpdated)
		if r.Ver == r.step { // there is no row yet
			inserted = r.UpdatedAt
		}
		args = append(args, Bucket(r.AccountID), r.AccountID, r.Ver, r.List, r.Friends, r.Followers, r.Following,
			keptFollowers(v), keptFollowing(v), blocks(v), r.Archived, inserted)
	}
	return append(args, rows[0].step, rows[0].UpdatedAt), nil
}

// columns of a row in the order of the statements below.
const columns = `bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks, archived, updated_at`

// swapSQL is the guarded bulk statement for n rows. Index: PRIMARY (bucket,
// account_id). It lets all rows through only where ver is one step behind in each of
// them: elsewhere ver underflows, which is an error and undoes the statement.
func swapSQL(n int) string {
	return `INSERT INTO relation (` + columns + `) VALUES ` + db.Repeat(`(?,?,?,?,?,?,?,?,?,?,?,?)`, n) + ` ON DUPLICATE KEY UPDATE
	ver=IF(ver+?=VALUES(ver),VALUES(ver),ver-ver-1), list=VALUES(list),
	friends=VALUES(friends), followers=VALUES(followers), following=VALUES(following),
	kept_followers=VALUES(kept_followers), kept_following=VALUES(kept_following),
	blocks=VALUES(blocks), archived=VALUES(archived), updated_at=?`
}

// swapRows is the most rows of one statement; a swap of more is a transaction of
// several. A connection keeps its statements (see package db), each number of rows
// being one, in 9 MB of the server's memory for all of these. For 96 it would be
// some four times as much, and large commits cost the server about a tenth less;
// with 24 they cost more (BenchmarkSwap).
const swapRows = 48
