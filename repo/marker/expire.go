package marker

import (
	"context"
	"fmt"
	"slices"

	"kith/repo/db"
)

// Old is an account that an expiry looks at.
type Old struct {
	AccountID uint64 `db:"account_id"`
	UpdatedAt uint32 `db:"updated_at"` // when the newest of its markers was written, unix seconds
}

// Walk returns up to limit accounts with markers that come after an account in key order.
// Index: PRIMARY (bucket, account_id, timeline), a range in each bucket.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]Old, error) {
	rows, err := db.WalkRows[Old](ctx, s.db, `marker`, after, db.LastKey, limit,
		`SELECT account_id, MAX(updated_at) AS updated_at FROM marker WHERE bucket = ? AND account_id > ? AND account_id <= ? GROUP BY account_id ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("walk markers after %d: %w", after, err)
	}
	return rows, nil
}

// Expire deletes those of accounts' markers that were last written before a time, in unix
// seconds, and returns how many. Index: PRIMARY, one range an account.
func (s *Store) Expire(ctx context.Context, accounts []uint64, before uint32) (deleted int64, err error) {
	for part := range slices.Chunk(accounts, db.MaxKeys) {
		in, args := db.Keys(part)
		done, err := s.db.ExecContext(ctx, `DELETE FROM marker WHERE (bucket, account_id) IN (`+in+`) AND updated_at < ?`, append(args, before)...)
		var n int64
		if err == nil {
			n, err = done.RowsAffected()
		}
		if err != nil {
			return deleted, fmt.Errorf("expire the markers of %d accounts: %w", len(part), db.Wrap(err))
		}
		deleted += n
	}
	return deleted, nil
}
