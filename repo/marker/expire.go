package marker

import (
	"context"

	"kith/repo"
	"kith/repo/db"
)

// Walk returns up to limit accounts with markers that come after an account in key order.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]repo.Aged, error) {
	return db.WalkAged(ctx, s.db, `marker`, after, limit)
}

// Expire deletes those of accounts' markers that were last written before a time, in unix
// seconds, and returns how many.
func (s *Store) Expire(ctx context.Context, accounts []uint64, before uint32) (deleted int64, err error) {
	return db.ExpireAged(ctx, s.db, `marker`, accounts, before)
}
