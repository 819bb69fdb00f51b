package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/list"
)

// Outline is a row without its list, of which it tells the lengths of the sections.
// Work on very many rows looks at these first: which rows moved, which are of interest,
// how much memory reading them will take.
type Outline struct {
	AccountID uint64
	Ver       uint64
	Columns
	list.Outline
	// Err says that the list has bad bytes, which only its own account shall
	// suffer from.
	Err error
}

// entryBytes is about what an entry takes in a list: an id of 4 or 8 bytes and
// a time of 1 to 5.
const entryBytes = 10

// Size estimates the bytes of the list. Friends count twice, so it is seldom
// too low; blocks, mutes and options are not in it.
func (o Outline) Size() int { return entryBytes * (int(o.KeptFollowers) + int(o.KeptFollowing)) }

// outlineRow is an outline as it is read.
type outlineRow struct {
	AccountID     uint64 `db:"account_id"`
	Ver           uint64 `db:"ver"`
	KeptFollowers uint32 `db:"kept_followers"`
	KeptFollowing uint32 `db:"kept_following"`
	Blocks        uint32 `db:"blocks"`
	Start         []byte `db:"start"`
}

// outlineColumns are those of an outlineRow; the argument is list.OutlineBytes.
const outlineColumns = `account_id, ver, kept_followers, kept_following, blocks, LEFT(list, ?) AS start`

// Outlines returns the outlines of those of ids that have a row, from the database.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) Outlines(ctx context.Context, ids []uint64) (map[uint64]Outline, error) {
	out := make(map[uint64]Outline, len(ids))
	for part := range slices.Chunk(repo.InOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		var rows []outlineRow
		err := s.db.SelectContext(ctx, &rows, `SELECT `+outlineColumns+` FROM relation WHERE (bucket, account_id) IN (`+where+`)`, append([]any{list.OutlineBytes}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("load outlines of %d relations: %w", len(part), db.Wrap(err))
		}
		for _, o := range outlines(rows) {
			out[o.AccountID] = o
		}
	}
	return out, nil
}

// WalkOutlines returns the outlines of up to limit rows that come after the
// given account in key order (0 for the first). Index: PRIMARY (bucket,
// account_id), a range in each bucket.
func (s *Store) WalkOutlines(ctx context.Context, after uint64, limit int) ([]Outline, error) {
	rows, err := db.WalkRows[outlineRow](ctx, s.db, `relation`, after, db.LastKey, limit,
		`SELECT `+outlineColumns+` FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`, list.OutlineBytes)
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
		out[i] = Outline{r.AccountID, r.Ver, Columns{r.KeptFollowers, r.KeptFollowing, r.Blocks}, o, err}
	}
	return out
}
