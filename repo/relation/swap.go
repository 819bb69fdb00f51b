package relation

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Swap stores rows (as Draft.Pack made them), each only where its ver is still
// one lower, all or none. It reports whether they won.
func (s *Store) Swap(ctx context.Context, rows []Row) (won bool, err error) {
	if !slices.ContainsFunc(rows, func(r Row) bool { return len(r.moves) > 0 }) {
		return s.judge(ctx, rows, s.swapAlone(ctx, rows))
	}
	err = db.WithTx(ctx, s.large, func(tx *sqlx.Tx) error { return s.swapAll(ctx, tx, rows) })
	return s.judge(ctx, rows, err)
}

// swapAll swaps rows and stores their segments, inside a transaction.
func (s *Store) swapAll(ctx context.Context, tx *sqlx.Tx, rows []Row) error {
	if err := s.swap(ctx, tx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if err := storeMoves(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// judge turns what the swap statement answered into won, lost or an error.
func (s *Store) judge(ctx context.Context, rows []Row, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case db.Lost(err):
		return false, nil
	case db.OutcomeUnknown(err):
		return s.readBack(ctx, rows, err)
	default:
		return false, fmt.Errorf("swap %d relations: %w", len(rows), db.Wrap(err))
	}
}

// swapAlone sends the swap as one statement that is its own transaction, through
// a statement that is prepared for good where there is one for so many rows.
func (s *Store) swapAlone(ctx context.Context, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := swapArgs(rows)
	if err != nil {
		return err
	}
	if len(rows) > maxPrepared || slices.ContainsFunc(rows, func(r Row) bool { return len(r.List) > maxKept }) {
		_, err = s.large.ExecContext(ctx, swapSQL(len(rows)), args...)
		return err
	}
	stmt, err := s.swaps.of(ctx, s.large, len(rows))
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	if db.NotPrepared(err) { // then nothing was executed
		_, err = s.small.ExecContext(ctx, swapSQL(len(rows)), args...)
	}
	return err
}

// swap sends the swap inside a transaction.
func (s *Store) swap(ctx context.Context, tx *sqlx.Tx, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := swapArgs(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, swapSQL(len(rows)), args...)
	return err
}

// swapArgs are the arguments of a swap. Rows go in key order, so that two
// processes lock them in the same order.
func swapArgs(rows []Row) ([]any, error) {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return repo.CompareKeys(a.AccountID, b.AccountID) })
	args := make([]any, 0, 12*len(rows))
	for _, r := range rows {
		v, err := r.View()
		if err != nil {
			return nil, err
		}
		args = append(args, Bucket(r.AccountID), r.AccountID, r.Ver, r.List, r.Friends, r.Followers, r.Following,
			keptFollowers(v), keptFollowing(v), blocks(v), r.ArchivedAt, r.UpdatedAt)
	}
	return args, nil
}

// columns of a row in the order of the statements below.
const columns = `bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks, archived_at, updated_at`

// swapSQL is the guarded bulk statement for n rows. Index: PRIMARY (bucket,
// account_id). It lets all rows through only where ver is one behind in each of
// them: elsewhere ver underflows, which is an error and undoes the statement.
func swapSQL(n int) string {
	return `INSERT INTO relation (` + columns + `) VALUES ` + db.Repeat(`(?,?,?,?,?,?,?,?,?,?,?,?)`, n) + ` ON DUPLICATE KEY UPDATE
	ver=IF(ver+1=VALUES(ver),VALUES(ver),ver-ver-1), list=VALUES(list),
	friends=VALUES(friends), followers=VALUES(followers), following=VALUES(following),
	kept_followers=VALUES(kept_followers), kept_following=VALUES(kept_following),
	blocks=VALUES(blocks), archived_at=VALUES(archived_at), updated_at=VALUES(updated_at)`
}

// maxPrepared is the most rows that a swap may have whose statement is kept. The
// server spends some 20 nanoseconds on each byte of a list that stands in the text
// of a statement, which was two thirds of what a swap cost it, and preparing one
// anew is a round trip more. It keeps statements for each connection that they
// were used on, which is mostly as many as commit at once, some 6 KB a row: 7 MB a
// connection for all of these.
const maxPrepared = 48

// maxKept is the longest list that goes through a kept statement. One that is
// longer than the server takes (max_allowed_packet) would leave the statement
// broken, with all that come after it.
const maxKept = 512 << 10

// statements are the swaps that are prepared, by their number of rows.
type statements struct {
	mu  sync.Mutex
	all [maxPrepared + 1]*sqlx.Stmt
}

// of returns the statement for n rows. It lives as long as the pool, which
// prepares it on each connection that it is used on.
func (s *statements) of(ctx context.Context, pool *sqlx.DB, n int) (*sqlx.Stmt, error) {
	s.mu.Lock()
	stmt := s.all[n]
	s.mu.Unlock()
	if stmt != nil {
		return stmt, nil
	}
	stmt, err := pool.PreparexContext(ctx, swapSQL(n))
	if err != nil {
		return nil, fmt.Errorf("prepare a swap of %d rows: %w", n, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[n] == nil {
		s.all[n] = stmt
		return stmt, nil
	}
	stmt.Close() // somebody else was first
	return s.all[n], nil
}
