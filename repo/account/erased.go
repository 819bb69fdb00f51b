package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// ErrErased says that the account of an id was erased: the id is never used again.
var ErrErased = errors.New("erased")

// Bury erases the account of id and leaves a tombstone, so that neither Create nor Ensure
// makes it again. Entries in the rows of others stay, and the audit finds them. The name
// is free afterwards; it is in another bucket, so that on a sharding engine a crash may
// leave it claimed. An unknown account gets a tombstone, too. Doing it twice changes
// nothing.
func (s *Store) Bury(ctx context.Context, id uint64, at uint32) error {
	err := retry(ctx, s.db, func(tx *sqlx.Tx) error {
		// The tombstone first: see alive. Index: PRIMARY in all four.
		_, err := tx.ExecContext(ctx, `INSERT INTO account_erased (bucket, account_id, erased_at) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE erased_at = erased_at`,
			repo.Bucket(id), id, at)
		if err != nil {
			return err
		}
		var name string
		err = tx.GetContext(ctx, &name, `SELECT username FROM account WHERE bucket = ? AND account_id = ? FOR UPDATE`, repo.Bucket(id), id)
		if errors.Is(db.Wrap(err), repo.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, `DELETE FROM account WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id); err != nil {
			return err
		}
		name = strings.ToLower(name)
		_, err = tx.ExecContext(ctx, `DELETE FROM username WHERE bucket = ? AND name = ? AND account_id = ?`, repo.NameBucket(name), name, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("bury account %d: %w", id, db.Wrap(err))
	}
	s.rows.Forget(ctx, []uint64{id})
	return nil
}

// erasedPage is how many tombstones are read together.
const erasedPage = 10_000

// Erased returns at most so many ids that have a tombstone, in key order. Index: PRIMARY
// (bucket, account_id), a range.
func (s *Store) Erased(ctx context.Context, most int) ([]uint64, error) {
	var ids []uint64
	for after := uint64(0); len(ids) < most; {
		limit := min(most-len(ids), erasedPage)
		page, err := db.WalkRows[uint64](ctx, s.db, "account_erased", after, db.LastKey, limit,
			`SELECT account_id FROM account_erased WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`)
		if err != nil {
			return nil, fmt.Errorf("read which accounts are erased: %w", err)
		}
		if ids = append(ids, page...); len(page) < limit {
			break
		}
		after = page[len(page)-1]
	}
	return ids, nil
}

// alive refuses ids that have a tombstone. It runs in the transaction that makes the
// accounts, after they are made: a Bury at the same time either waits for this
// transaction, and deletes what it made, or is seen here. The two may deadlock: see
// retry. Index: PRIMARY (bucket, account_id), one range an id.
func alive(ctx context.Context, tx *sqlx.Tx, ids []uint64) error {
	for part := range slices.Chunk(ids, MaxRows) {
		in, args := db.Keys(part)
		var erased []uint64
		err := tx.SelectContext(ctx, &erased, `SELECT account_id FROM account_erased WHERE (bucket, account_id) IN (`+in+`) FOR UPDATE`, args...)
		if err != nil {
			return err
		}
		if len(erased) > 0 {
			return fmt.Errorf("account %d was %w, and is not made again", erased[0], ErrErased)
		}
	}
	return nil
}

// tries is how often a transaction is run that ends in a deadlock.
const tries = 20

// retry runs a transaction that makes or buries accounts.
func retry(ctx context.Context, database *sqlx.DB, fn func(tx *sqlx.Tx) error) error {
	return db.Retry(ctx, tries, func(ctx context.Context) error { return db.WithTx(ctx, database, fn) })
}
