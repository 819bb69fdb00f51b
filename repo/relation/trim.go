package relation

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// Trim cuts each of the account's sections to its bound, friends, followers and
// following to their newest limit entries; the others move to the archive in the
// transaction that shortens the row. It returns how many. Counts do not change. It holds the row's lock meanwhile, so that a row which is
// written all the time is trimmed all the same.
func (s *Store) Trim(ctx context.Context, id uint64, limit int) (entries int, err error) {
	won, err := s.Store.Locked(ctx, []uint64{id}, nil, func(_ *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		d, err := Open(rows[id])
		if err != nil {
			return nil, err
		}
		before := d.archive
		r, err := d.pack(s.unix(), limit, 1)
		if entries = d.archive.all() - before.all(); entries == 0 {
			return nil, err
		}
		return []Row{r}, err
	})
	if !won {
		return 0, err
	}
	return entries, nil
}

// Long returns up to limit accounts with a section of more than so many entries,
// as far as blocks tell, that come after the given place (blocks, account).
// Index: by_blocks (blocks, and after it the primary key), a range. It asks all
// buckets at once, as CountLong does: long rows are few, wherever they are.
func (s *Store) Long(ctx context.Context, entries int, after LongRow, limit int) ([]LongRow, error) {
	var out []LongRow
	least := (entries + 1) / BlockEntries
	err := s.db.SelectContext(ctx, &out, `SELECT account_id, blocks FROM relation WHERE blocks >= ? AND (blocks > ? OR (blocks = ? AND (bucket > ? OR (bucket = ? AND account_id > ?)))) ORDER BY blocks, bucket, account_id LIMIT ?`,
		least, after.Blocks, after.Blocks, Bucket(after.AccountID), Bucket(after.AccountID), after.AccountID, limit)
	if err != nil {
		return nil, fmt.Errorf("find rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return out, nil
}

// LongRow is an account and the length of its longest section in blocks.
type LongRow struct {
	AccountID uint64 `db:"account_id"`
	Blocks    uint32 `db:"blocks"`
}
