package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// Missing returns those of ids that are no accounts. Nothing comes from the cache.
func (s *Store) Missing(ctx context.Context, ids []uint64) (map[uint64]bool, error) {
	return Missing(ctx, s.db, ids)
}

// Missing returns those of ids that are no accounts, as q sees the database, be
// it a transaction: nothing comes from the cache. Index: PRIMARY (bucket,
// account_id), one range an id.
func Missing(ctx context.Context, q sqlx.QueryerContext, ids []uint64) (map[uint64]bool, error) {
	out := make(map[uint64]bool)
	for part := range slices.Chunk(ids, MaxRows) {
		for _, id := range part {
			out[id] = true
		}
		in, args := db.Keys(part)
		var have []uint64
		err := sqlx.SelectContext(ctx, q, &have, `SELECT account_id FROM account WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("look whether %d accounts exist: %w", len(part), db.Wrap(err))
		}
		for _, id := range have {
			delete(out, id)
		}
	}
	return out, nil
}
