package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/repo"
	"kith/repo/db"
)

// Mark is what a row is without its list: its ver and how many entries the
// list holds. It tells work on very many rows which of them moved, and how much
// memory reading them will take.
type Mark struct {
	AccountID     uint64 `db:"account_id"`
	Ver           uint64 `db:"ver"`
	KeptFollowers uint32 `db:"kept_followers"`
	KeptFollowing uint32 `db:"kept_following"`
}

// entryBytes is about what an entry takes in a list: an id of 4 or 8 bytes and
// a time of 1 to 5.
const entryBytes = 10

// Size estimates the bytes of the list. Friends count twice, so it is seldom
// too low; blocks, mutes and options are not in it.
func (m Mark) Size() int { return entryBytes * (int(m.KeptFollowers) + int(m.KeptFollowing)) }

// Marks returns the marks of those of ids that have a row, from the database.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) Marks(ctx context.Context, ids []uint64) (map[uint64]Mark, error) {
	out := make(map[uint64]Mark, len(ids))
	for part := range slices.Chunk(repo.InOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		var marks []Mark
		err := s.db.SelectContext(ctx, &marks, `SELECT account_id, ver, kept_followers, kept_following FROM relation WHERE (bucket, account_id) IN (`+where+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load marks of %d relations: %w", len(part), db.Wrap(err))
		}
		for _, m := range marks {
			out[m.AccountID] = m
		}
	}
	return out, nil
}

// Walk returns the marks of up to limit rows that come after the given account
// in key order (0 for the first). Index: PRIMARY (bucket, account_id), a range in
// each bucket.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]Mark, error) {
	out, err := db.WalkRows[Mark](ctx, s.db, `relation`, after, db.LastKey, limit,
		`SELECT account_id, ver, kept_followers, kept_following FROM relation WHERE bucket = ? AND account_id > ? AND account_id <= ? ORDER BY account_id LIMIT ?`)
	if err != nil {
		return nil, fmt.Errorf("walk relations after %d: %w", after, err)
	}
	return out, nil
}
