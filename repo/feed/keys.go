package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// Keys expires what is kept of Idempotency-Keys. They are dated by the clock of the
// database. It is safe for concurrent use.
type Keys struct{ db *sqlx.DB }

// NewKeys makes a Keys.
func NewKeys(pool *sqlx.DB) *Keys { return &Keys{pool} }

// Next returns the first bucket from the given one on that has keys, or repo.ErrNotFound.
func (k *Keys) Next(ctx context.Context, bucket uint16) (uint16, error) {
	return db.NextBucket(ctx, k.db, `idempotency`, bucket)
}

// keyLife is KeyLife in seconds.
const keyLife = uint32(KeyLife / time.Second)

// Count returns how many keys of a bucket are older than KeyLife. Index: PRIMARY (bucket,
// account_id, hash), a range.
func (k *Keys) Count(ctx context.Context, bucket uint16) (n int, err error) {
	err = k.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM idempotency WHERE bucket = ? AND made_at <= UNIX_TIMESTAMP() - ?`, bucket, keyLife)
	if err != nil {
		return 0, fmt.Errorf("count the keys of bucket %d: %w", bucket, db.Wrap(err))
	}
	return n, nil
}

// maxExpired is how many keys one statement deletes.
const maxExpired = db.MaxKeys / 3

// Expire deletes some of the keys of a bucket that are older than KeyLife, and returns how
// many it found, 0 where there are none. It finds them without a lock; a key that is used
// anew meanwhile stays. Index: PRIMARY (bucket, account_id, hash), a range, then a row each.
func (k *Keys) Expire(ctx context.Context, bucket uint16) (found int, err error) {
	var old []struct {
		Account uint64 `db:"account_id"`
		Hash    []byte `db:"hash"`
	}
	err = k.db.SelectContext(ctx, &old, `SELECT account_id, hash FROM idempotency WHERE bucket = ? AND made_at <= UNIX_TIMESTAMP() - ? ORDER BY account_id, hash LIMIT ?`, bucket, keyLife, maxExpired)
	if err == nil && len(old) > 0 {
		args := make([]any, 0, 3*len(old)+1)
		for _, o := range old {
			args = append(args, bucket, o.Account, o.Hash)
		}
		_, err = k.db.ExecContext(ctx, `DELETE FROM idempotency WHERE (bucket, account_id, hash) IN (`+db.Repeat(`(?,?,?)`, len(old))+`) AND made_at <= UNIX_TIMESTAMP() - ?`, append(args, keyLife)...)
	}
	if err != nil {
		return 0, fmt.Errorf("expire keys of bucket %d: %w", bucket, db.Wrap(err))
	}
	return len(old), nil
}
