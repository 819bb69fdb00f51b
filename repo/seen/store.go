// Package seen keeps when each account was last seen: for jobs that work ahead
// for accounts, and skip those that do not come back.
//
// Times only grow, so marks may be written late, twice and in any order. Losing
// one does no harm: the account is seen again.
package seen

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// MaxRows is how many rows one statement reads or writes at most.
const MaxRows = db.MaxKeys

// Mark is an account and when it was seen last.
type Mark struct {
	AccountID uint64 `db:"account_id"`
	At        uint32 `db:"at"` // unix seconds
}

// Store writes and walks marks. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{db: pool} }

// Put notes marks; a later time stays. Index: PRIMARY (bucket, account_id).
func (s *Store) Put(ctx context.Context, marks []Mark) error {
	marks = slices.SortedFunc(slices.Values(marks), func(a, b Mark) int { return repo.CompareKeys(a.AccountID, b.AccountID) })
	for part := range slices.Chunk(marks, MaxRows) {
		args := make([]any, 0, 3*len(part))
		for _, m := range part {
			args = append(args, repo.Bucket(m.AccountID), m.AccountID, m.At)
		}
		_, err := s.db.ExecContext(ctx, `INSERT INTO seen (bucket, account_id, at) VALUES `+db.Repeat("(?,?,?)", len(part))+` ON DUPLICATE KEY UPDATE at = GREATEST(at, VALUES(at))`, args...)
		if err != nil {
			return fmt.Errorf("note %d accounts as seen: %w", len(part), db.Wrap(err))
		}
	}
	return nil
}

// Walk returns up to limit marks, MaxRows at most, that come after the given
// account in key order (0 for the first). Index: PRIMARY (bucket, account_id), a range in
// each bucket.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]Mark, error) {
	out, err := db.WalkRows[Mark](ctx, s.db, `seen`, after, db.LastKey, min(limit, MaxRows),
		`SELECT account_id, at FROM seen WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("walk the seen after %d: %w", after, err)
	}
	return out, nil
}

// One returns the mark of an account, or repo.ErrNotFound where it was never
// seen. Index: PRIMARY (bucket, account_id), one row.
func (s *Store) One(ctx context.Context, id uint64) (Mark, error) {
	var m Mark
	err := s.db.GetContext(ctx, &m, `SELECT account_id, at FROM seen WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	if err != nil {
		return Mark{}, fmt.Errorf("when %d was seen: %w", id, db.Wrap(err))
	}
	return m, nil
}

// Of returns the marks of those of accounts that were ever seen. Index: PRIMARY (bucket,
// account_id), a row each.
func (s *Store) Of(ctx context.Context, ids []uint64) (map[uint64]uint32, error) {
	out := make(map[uint64]uint32, len(ids))
	for part := range slices.Chunk(ids, MaxRows) {
		in, args := db.Keys(part)
		var found []Mark
		if err := s.db.SelectContext(ctx, &found, `SELECT account_id, at FROM seen WHERE (bucket, account_id) IN (`+in+`)`, args...); err != nil {
			return nil, fmt.Errorf("when %d accounts were seen: %w", len(part), db.Wrap(err))
		}
		for _, m := range found {
			out[m.AccountID] = m.At
		}
	}
	return out, nil
}
