package timeline

import (
	"context"
	"fmt"

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
// wrong with their bytes. Index: PRIMARY, a range in each bucket.
func (s *Store) Check(ctx context.Context, after uint64, limit int) ([]Checked, error) {
	rows, err := db.WalkRows[Checked](ctx, s.db, `timeline`, after, db.LastKey, limit,
		`SELECT account_id, list, pulled FROM timeline WHERE bucket = ? AND account_id > ? AND account_id <= ? AND updated_at > 0 ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("check warm timelines after %d: %w", after, err)
	}
	for i := range rows {
		rows[i].Err = new(Row).unpack(rows[i].List, rows[i].Pulled)
	}
	return rows, nil
}
