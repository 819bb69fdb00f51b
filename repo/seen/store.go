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

// MaxRows bounds how many rows one statement writes.
const MaxRows = 480

// Mark is an account and when it was seen last.
type Mark struct {
	AccountID uint64 `db:"account_id"`
	At        uint32 `db:"at"` // unix seconds
}

// Store writes and walks marks. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store; the pool should interpolate arguments.
func New(pool *sqlx.DB) *Store { return &Store{db: pool} }

// Put notes marks, at most MaxRows; a later time stays. Index: PRIMARY.
func (s *Store) Put(ctx context.Context, marks []Mark) error {
	if len(marks) == 0 {
		return nil
	}
	marks = slices.SortedFunc(slices.Values(marks), func(a, b Mark) int { return repo.CompareKeys(a.AccountID, b.AccountID) })
	args := make([]any, 0, 3*len(marks))
	for _, m := range marks {
		args = append(args, repo.Bucket(m.AccountID), m.AccountID, m.At)
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO seen (bucket, account_id, at) VALUES `+db.Repeat("(?,?,?)", len(marks))+` ON DUPLICATE KEY UPDATE at = GREATEST(at, VALUES(at))`, args...)
	if err != nil {
		return fmt.Errorf("note %d accounts as seen: %w", len(marks), db.Wrap(err))
	}
	return nil
}

// Walk returns up to limit marks that come after the given account in key order
// (0 for the first). Index: PRIMARY (bucket, account_id), a range.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]Mark, error) {
	var out []Mark
	err := s.db.SelectContext(ctx, &out, `SELECT account_id, at FROM seen WHERE (bucket = ? AND account_id > ?) OR bucket > ? ORDER BY bucket, account_id LIMIT ?`,
		repo.Bucket(after), after, repo.Bucket(after), limit)
	if err != nil {
		return nil, fmt.Errorf("walk the seen after %d: %w", after, db.Wrap(err))
	}
	return out, nil
}

// One returns the marks of one account, none or one. Index: PRIMARY.
func (s *Store) One(ctx context.Context, id uint64) ([]Mark, error) {
	var out []Mark
	err := s.db.SelectContext(ctx, &out, `SELECT account_id, at FROM seen WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	if err != nil {
		return nil, fmt.Errorf("when %d was seen: %w", id, db.Wrap(err))
	}
	return out, nil
}
