// Package promotion keeps what is shown in homes between what people follow: few rows, in
// one bucket, since they belong to no account.
package promotion

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// MaxOpen is how many promotions may be there that have not ended, which every server holds.
const MaxOpen = 100

// Promotion is a post, or an account, that is shown for a time.
type Promotion struct {
	ID      uint64 `db:"id"`
	Account uint64 `db:"account_id"` // whose newest public post is shown; 0: Post is
	Post    uint64 `db:"post_id"`
	Begins  uint32 `db:"begins_at"` // unix seconds
	Ends    uint32 `db:"ends_at"`   // not shown from then on
	Every   uint32 `db:"every_entries"`
	Weight  uint32 `db:"weight"`
}

// Store reads and writes promotions. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// bucket is that of all promotions.
var bucket = repo.NameBucket("promotion")

// tries is how often an addition is redone that met another one.
const tries = 10

// Add writes a promotion and returns its id. It returns repo.ErrTooLarge where MaxOpen have
// not ended at a time.
func (s *Store) Add(ctx context.Context, p Promotion, now uint32) (uint64, error) {
	for range tries {
		err := db.Retry(ctx, tries, func(ctx context.Context) error {
			return db.WithTx(ctx, s.db, func(tx *sqlx.Tx) (err error) {
				p.ID, err = add(ctx, tx, p, now)
				return err
			})
		})
		if db.Classify(err) == db.Duplicate {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("add a promotion: %w", db.Wrap(err))
		}
		return p.ID, nil
	}
	return 0, fmt.Errorf("add a promotion: %w", repo.ErrConflict)
}

// add takes the id after the last one. Index: PRIMARY (bucket, id), its end; by_end (bucket,
// ends_at), a range.
func add(ctx context.Context, tx *sqlx.Tx, p Promotion, now uint32) (uint64, error) {
	var open []uint64
	err := tx.SelectContext(ctx, &open, `SELECT id FROM promotion WHERE bucket = ? AND ends_at > ? LIMIT ?`, bucket, now, MaxOpen)
	if err == nil && len(open) == MaxOpen {
		err = repo.ErrTooLarge
	}
	if err != nil {
		return 0, err
	}
	var last []uint64
	if err := tx.SelectContext(ctx, &last, `SELECT id FROM promotion WHERE bucket = ? ORDER BY id DESC LIMIT 1`, bucket); err != nil {
		return 0, err
	}
	id := uint64(1)
	if len(last) > 0 {
		id = last[0] + 1
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO promotion (bucket, id, account_id, post_id, begins_at, ends_at, every_entries, weight) VALUES (?,?,?,?,?,?,?,?)`,
		bucket, id, p.Account, p.Post, p.Begins, p.Ends, p.Every, p.Weight)
	return id, err
}

// Open returns the promotions that have not ended at a time, MaxOpen at most. Index: by_end
// (bucket, ends_at), a range.
func (s *Store) Open(ctx context.Context, now uint32) ([]Promotion, error) {
	var out []Promotion
	err := s.db.SelectContext(ctx, &out, `SELECT id, account_id, post_id, begins_at, ends_at, every_entries, weight FROM promotion WHERE bucket = ? AND ends_at > ? ORDER BY ends_at, id LIMIT ?`, bucket, now, MaxOpen)
	if err != nil {
		return nil, fmt.Errorf("load promotions: %w", db.Wrap(err))
	}
	return out, nil
}

// Page returns promotions below an id, the newest first; 0: from the newest. Index: PRIMARY
// (bucket, id), a range.
func (s *Store) Page(ctx context.Context, before uint64, limit int) ([]Promotion, error) {
	var out []Promotion
	err := s.db.SelectContext(ctx, &out, `SELECT id, account_id, post_id, begins_at, ends_at, every_entries, weight FROM promotion WHERE bucket = ? AND id < ? ORDER BY id DESC LIMIT ?`,
		bucket, repo.IDRange{Before: before}.Below(), limit)
	if err != nil {
		return nil, fmt.Errorf("list promotions: %w", db.Wrap(err))
	}
	return out, nil
}

// ErrEnded says that a promotion has ended already.
var ErrEnded = errors.New("ended already")

// End ends a promotion at a time, before it begins or while it is shown. Index: PRIMARY, one
// row.
func (s *Store) End(ctx context.Context, id uint64, now uint32) error {
	done, err := s.db.ExecContext(ctx, `UPDATE promotion SET ends_at = ? WHERE bucket = ? AND id = ? AND ends_at > ?`, now, bucket, id, now)
	if err != nil {
		return fmt.Errorf("end promotion %d: %w", id, db.Wrap(err))
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return err
	}
	found, err := s.Page(ctx, id+1, 1)
	switch {
	case err != nil:
		return err
	case len(found) == 0 || found[0].ID != id:
		return fmt.Errorf("promotion %d: %w", id, repo.ErrNotFound)
	}
	return fmt.Errorf("promotion %d: %w", id, ErrEnded)
}
