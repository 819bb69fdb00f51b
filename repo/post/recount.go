package post

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// recountTries bounds how often a count that lost a swap is done again.
const recountTries = 20

// Recount compares the counts of a post with its replies and reactions, under the lock of
// the post, and returns both. With repair the post gets the true ones. Of no post both are
// none.
func (s *Store) Recount(ctx context.Context, id uint64, repair bool) (said, is Counts, err error) {
	for range recountTries {
		won, err := s.Store.Locked(ctx, []uint64{id}, nil, func(tx *sqlx.Tx, rows map[uint64]Post) ([]Post, error) {
			p := rows[id]
			if said, is = p.Counts, p.Counts; p.Ver == 0 {
				return nil, nil
			}
			var err error
			if is, err = count(ctx, tx, id); err != nil || !repair || said == is {
				return nil, err
			}
			p.Meta, p.Counts = p.Next(uint32(s.now().Unix())), is
			return []Post{p}, nil
		})
		if err != nil || won {
			return said, is, err
		}
	}
	return said, is, fmt.Errorf("recount the reactions to %d: %w", id, repo.ErrConflict)
}

// count counts the rows of a post. Index: PRIMARY of reaction and by_post of
// reply, a range each.
func count(ctx context.Context, tx *sqlx.Tx, id uint64) (c Counts, err error) {
	var kinds []struct {
		Kind Kind   `db:"kind"`
		N    uint32 `db:"n"`
	}
	if err = tx.SelectContext(ctx, &kinds, `SELECT kind, COUNT(*) AS n FROM reaction WHERE bucket = ? AND post_id = ? GROUP BY kind`, repo.Bucket(id), id); err == nil {
		err = tx.GetContext(ctx, &c.Replies, `SELECT COUNT(*) FROM reply WHERE bucket = ? AND post_id = ? AND narrow = 0`, repo.Bucket(id), id)
	}
	for _, k := range kinds {
		switch k.Kind {
		case Favourite:
			c.Favourites = k.N
		case Repost:
			c.Reposts = k.N
		}
	}
	return c, db.Wrap(err)
}
