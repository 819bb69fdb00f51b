package timeline

import (
	"context"
	"fmt"

	"kith/repo"
	"kith/repo/db"
)

// Checked is a row that was read to see whether it can be.
type Checked struct {
	AccountID uint64 `db:"account_id"`
	List      []byte `db:"list"`
	Pulled    []byte `db:"pulled"`
	Err       error  // why it cannot
}

// Check returns up to limit rows that come after an account in key order, with what is
// wrong with their bytes, but for rows in wrong buckets. Index: PRIMARY, a range in each bucket.
func (s *Store) Check(ctx context.Context, after uint64, limit int) ([]Checked, error) {
	rows, err := db.WalkRows[Checked](ctx, s.db, `timeline`, after, db.LastKey, limit,
		`SELECT account_id, list, pulled FROM timeline WHERE bucket = ? AND account_id > ? AND account_id <= ? AND account_id & 1023 = bucket AND updated_at > 0 ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("check warm timelines after %d: %w", after, err)
	}
	return checked(rows), nil
}

// CheckOne is Check of one account, if it has a row. Index: PRIMARY, one row.
func (s *Store) CheckOne(ctx context.Context, id uint64) ([]Checked, error) {
	var rows []Checked
	err := s.db.SelectContext(ctx, &rows, `SELECT account_id, list, pulled FROM timeline WHERE bucket = ? AND account_id = ? AND updated_at > 0`, repo.Bucket(id), id)
	if err != nil {
		return nil, fmt.Errorf("check the warm timeline of %d: %w", id, db.Wrap(err))
	}
	return checked(rows), nil
}

func checked(rows []Checked) []Checked {
	for i := range rows {
		rows[i].Err = new(Row).unpack(rows[i].List, rows[i].Pulled)
	}
	return rows
}
