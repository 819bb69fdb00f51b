package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
)

// Outline is a row without its list, of which it tells the lengths of the
// sections: work on all rows looks at these first and reads few lists.
type Outline struct {
	AccountID uint64
	Ver       uint64
	list.Outline
	// Err says that the list has bad bytes, which only its own account shall
	// suffer from.
	Err error
}

// outlineRow is an outline as it is read.
type outlineRow struct {
	AccountID uint64 `db:"account_id"`
	Ver       uint64 `db:"ver"`
	Start     []byte `db:"start"`
}

// Outlines returns the outlines of those of ids that have a row, in key order.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) Outlines(ctx context.Context, ids []uint64) ([]Outline, error) {
	var out []Outline
	for part := range slices.Chunk(repo.InOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		var rows []outlineRow
		err := s.db.SelectContext(ctx, &rows, `SELECT account_id, ver, LEFT(list, ?) AS start FROM relation WHERE (bucket, account_id) IN (`+where+`) ORDER BY bucket, account_id`,
			append([]any{list.OutlineBytes}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("load outlines of %d relations: %w", len(part), db.Wrap(err))
		}
		out = append(out, outlines(rows)...)
	}
	return out, nil
}

// WalkOutlines returns the outlines of up to limit rows that come after the
// given account in key order (0 for the first). Index: PRIMARY (bucket,
// account_id), a range in each bucket.
func (s *Store) WalkOutlines(ctx context.Context, after uint64, limit int) ([]Outline, error) {
	rows, err := db.WalkRows[outlineRow](ctx, s.db, `relation`, after, db.LastKey, limit,
		`SELECT account_id, ver, LEFT(list, ?) AS start FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, list.OutlineBytes)
	if err != nil {
		return nil, fmt.Errorf("walk outlines after %d: %w", after, err)
	}
	return outlines(rows), nil
}

func outlines(rows []outlineRow) []Outline {
	out := make([]Outline, len(rows))
	for i, r := range rows {
		o, err := list.ReadOutline(r.Start)
		if err != nil {
			err = fmt.Errorf("list of account %d, ver %d: %w", r.AccountID, r.Ver, err)
		}
		out[i] = Outline{AccountID: r.AccountID, Ver: r.Ver, Outline: o, Err: err}
	}
	return out
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
