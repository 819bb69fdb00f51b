package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
)

// WalkAged returns up to limit accounts with rows of a table that come after an account in
// key order. Index: PRIMARY (bucket, account_id, …), a range in each bucket.
func WalkAged(ctx context.Context, q sqlx.QueryerContext, table string, after uint64, limit int) ([]repo.Aged, error) {
	rows, err := WalkRows[repo.Aged](ctx, q, table, after, LastKey, limit,
		`SELECT account_id, MAX(updated_at) AS updated_at FROM `+table+` WHERE bucket = ? AND account_id > ? AND account_id <= ? GROUP BY account_id ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("walk %s after %d: %w", table, after, err)
	}
	return rows, nil
}

// ExpireAged deletes those of accounts' rows of a table that were last written before a time,
// in unix seconds, and returns how many. Index: PRIMARY, one range an account.
func ExpireAged(ctx context.Context, q sqlx.ExecerContext, table string, accounts []uint64, before uint32) (deleted int64, err error) {
	for part := range slices.Chunk(accounts, MaxKeys) {
		in, args := Keys(part)
		done, err := q.ExecContext(ctx, `DELETE FROM `+table+` WHERE (bucket, account_id) IN (`+in+`) AND updated_at < ?`, append(args, before)...)
		var n int64
		if err == nil {
			n, err = done.RowsAffected()
		}
		if err != nil {
			return deleted, fmt.Errorf("expire %s of %d accounts: %w", table, len(part), Wrap(err))
		}
		deleted += n
	}
	return deleted, nil
}
