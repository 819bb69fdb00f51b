package interaction

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// MaxRows is how many rows one statement reads or writes at most.
const MaxRows = db.MaxKeys

// Store writes and reads the log. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{db: pool} }

// Append adds at most MaxRows batches to the log, all or none. Existing ones stay as they
// are. Index: PRIMARY (bucket, batch_id).
func (s *Store) Append(ctx context.Context, batches []Batch) error {
	if len(batches) == 0 {
		return nil
	}
	if len(batches) > MaxRows {
		return fmt.Errorf("log %d batches of interactions in one statement: %w", len(batches), repo.ErrTooLarge)
	}
	args := make([]any, 0, 4*len(batches))
	for _, b := range batches {
		args = append(args, b.Bucket, b.ID, b.N, b.Events)
	}
	_, err := s.db.ExecContext(ctx, `INSERT INTO interaction (bucket, batch_id, n, events) VALUES `+db.Repeat("(?,?,?,?)", len(batches))+` ON DUPLICATE KEY UPDATE n = n`, args...)
	if err != nil {
		return fmt.Errorf("log %d batches of interactions: %w", len(batches), db.Wrap(err))
	}
	return nil
}

// Next returns the first bucket at or after the given one that has batches, or
// repo.ErrNotFound.
func (s *Store) Next(ctx context.Context, bucket uint16) (uint16, error) {
	return db.NextBucket(ctx, s.db, `interaction`, bucket)
}

// Load returns the oldest batches of a bucket with ids after one and below another, at
// most limit. Index: PRIMARY, a range.
func (s *Store) Load(ctx context.Context, bucket uint16, after, below uint64, limit int) ([]Batch, error) {
	var out []Batch
	err := s.db.SelectContext(ctx, &out, `SELECT bucket, batch_id, n, events FROM interaction WHERE bucket = ? AND batch_id > ? AND batch_id < ? ORDER BY batch_id LIMIT ?`, bucket, after, below, min(limit, MaxRows))
	if err != nil {
		return nil, fmt.Errorf("load interactions of bucket %d: %w", bucket, db.Wrap(err))
	}
	return out, nil
}

// Count returns how many events wait in the buckets first to last. Index: PRIMARY, a
// range a bucket; it reads every batch.
func (s *Store) Count(ctx context.Context, first, last uint16) (int64, error) {
	var n int64
	var buckets []any
	for b := int(first); b <= int(last); b++ {
		buckets = append(buckets, b)
	}
	err := s.db.GetContext(ctx, &n, `SELECT CAST(COALESCE(SUM(n), 0) AS SIGNED) FROM interaction WHERE bucket IN (`+db.Repeat("?", len(buckets))+`)`, buckets...)
	if err != nil {
		return 0, fmt.Errorf("count interactions: %w", db.Wrap(err))
	}
	return n, nil
}

// Delete removes batches of one bucket inside a transaction. Its error wraps
// repo.ErrConflict where one is gone: another process has folded it.
// Index: PRIMARY (bucket, batch_id), one row a batch.
func Delete(ctx context.Context, tx *sqlx.Tx, bucket uint16, batches []Batch) error {
	for part := range slices.Chunk(batches, MaxRows) {
		args := []any{bucket}
		for _, b := range part {
			args = append(args, b.ID)
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM interaction WHERE bucket = ? AND batch_id IN (`+db.Repeat("?", len(part))+`)`, args...)
		if err != nil {
			return fmt.Errorf("delete %d batches: %w", len(part), err)
		}
		if n, err := res.RowsAffected(); err != nil || n != int64(len(part)) {
			return fmt.Errorf("delete %d batches of bucket %d, of which %d were there: %w", len(part), bucket, n, cmp.Or(err, repo.ErrConflict))
		}
	}
	return nil
}

// Drop removes one batch, such as one whose bytes cannot be read.
// Index: PRIMARY, one row.
func (s *Store) Drop(ctx context.Context, b Batch) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM interaction WHERE bucket = ? AND batch_id = ?`, b.Bucket, b.ID)
	if err != nil {
		return fmt.Errorf("drop batch %d of bucket %d: %w", b.ID, b.Bucket, db.Wrap(err))
	}
	return nil
}
