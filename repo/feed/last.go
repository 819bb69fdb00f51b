package feed

import (
	"context"
	"fmt"
	"slices"

	"kith/repo/db"
)

// Last says whether a feed changed.
type Last struct {
	Author      uint64 `db:"account_id"`
	UpdatedAt   uint32 `db:"updated_at"`
	PulledSince uint32 `db:"pulled_since"`
}

// Lasts returns when the feeds of authors changed last, from the database. It costs a third of
// the feeds themselves. Those who never posted have none. Index: PRIMARY (bucket,
// account_id), a row each.
func (s *Store) Lasts(ctx context.Context, authors []uint64) (map[uint64]Last, error) {
	all := make(map[uint64]Last, len(authors))
	for part := range slices.Chunk(authors, db.MaxKeys) {
		in, args := db.Keys(part)
		var found []Last
		if err := s.db.SelectContext(ctx, &found, `SELECT account_id, updated_at, pulled_since FROM author_feed WHERE (bucket, account_id) IN (`+in+`)`, args...); err != nil {
			return nil, fmt.Errorf("when the feeds of %d authors changed: %w", len(part), db.Wrap(err))
		}
		for _, last := range found {
			all[last.Author] = last
		}
	}
	return all, nil
}
