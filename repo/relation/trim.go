package relation

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/list"
)

// Trim cuts each of the account's sections to its bound, friends, followers and
// following to their newest limit entries, and returns how many entries moved to the
// archive, in the transaction that shortens the row. Counts do not change. It holds the
// row's lock meanwhile, so that a row which is written all the time is trimmed all the
// same.
func (s *Store) Trim(ctx context.Context, id uint64, limit int) (moved int, err error) {
	won, err := s.Store.Locked(ctx, []uint64{id}, nil, func(_ *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		d, err := Open(rows[id])
		if err != nil {
			return nil, err
		}
		before := d.archive
		r, err := d.pack(uint32(s.now().Unix()), limit, 1)
		if moved = d.archive.all() - before.all(); moved == 0 {
			return nil, err
		}
		return []Row{r}, err
	})
	if !won {
		return 0, err
	}
	return moved, nil
}

// Long returns up to limit rows with a section of more than so many entries, as far as
// blocks tell, that come after a row in the order of (blocks, account). Index: by_blocks
// (blocks, and after it the primary key), a range. It asks all buckets at once, as
// CountLong does: long rows are few, wherever they are. The index is named, since
// MariaDB would sort the rows rather than look each up.
func (s *Store) Long(ctx context.Context, entries int, after Outline, limit int) ([]Outline, error) {
	var rows []outlineRow
	bucket := Bucket(after.AccountID)
	err := s.db.SelectContext(ctx, &rows, `SELECT `+outlineColumns+` FROM relation FORCE INDEX (by_blocks) WHERE blocks >= ? AND (blocks > ? OR (blocks = ? AND (bucket > ? OR (bucket = ? AND account_id > ?)))) ORDER BY blocks, bucket, account_id LIMIT ?`,
		list.OutlineBytes, (entries+1)/BlockEntries, after.Blocks, after.Blocks, bucket, bucket, after.AccountID, limit)
	if err != nil {
		return nil, fmt.Errorf("find rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return outlines(rows), nil
}

// CountLong counts the rows that Long returns. Index: by_blocks, a range that
// is read without its rows.
func (s *Store) CountLong(ctx context.Context, entries int) (n int64, err error) {
	err = s.db.GetContext(ctx, &n, `SELECT COUNT(*) FROM relation WHERE blocks >= ?`, (entries+1)/BlockEntries)
	if err != nil {
		return 0, fmt.Errorf("count rows of more than %d entries: %w", entries, db.Wrap(err))
	}
	return n, nil
}
