package postcheck

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/mark"
	"kith/repo/post"
)

// Drop deletes a link at a post that does not exist, whose row others would lock first.
// Index: PRIMARY, one row.
func (s *Store) Drop(ctx context.Context, l Link) error {
	query, args := `DELETE FROM reaction WHERE bucket = ? AND post_id = ? AND kind = ? AND account_id = ?`, []any{repo.Bucket(l.Post), l.Post, l.Kind, l.Account}
	if l.Kind == post.Reply {
		query, args = `DELETE FROM reply WHERE bucket = ? AND post_id = ? AND reply_id = ?`, []any{repo.Bucket(l.Post), l.Post, l.ID}
	}
	if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("drop a reaction to %d: %w", l.Post, db.Wrap(err))
	}
	return nil
}

// DropKey deletes an Idempotency-Key, unless it was used anew. Index: PRIMARY, one row.
func (s *Store) DropKey(ctx context.Context, k Key) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM idempotency WHERE bucket = ? AND account_id = ? AND hash = ? AND post_id = ?`, repo.Bucket(k.Account), k.Account, k.Hash, k.Post)
	if err != nil {
		return fmt.Errorf("drop a key of %d: %w", k.Account, db.Wrap(err))
	}
	return nil
}

// Remark compares the mark that says which post of an author reposts another with the posts,
// under the lock of the author's feed, which every change of either takes. repost is a
// post that may be that repost, 0 for none. It returns what is wrong, in words, empty where
// nothing is. With repair the mark names repost, or goes. Index: PRIMARY, a row of each
// table.
func (s *Store) Remark(ctx context.Context, author, origin, repost uint64, repair bool) (wrong string, err error) {
	err = db.Retry(ctx, tries, func(ctx context.Context) error {
		return db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error {
			wrong = ""
			var locked []uint64
			if err := tx.SelectContext(ctx, &locked, `SELECT account_id FROM author_feed WHERE bucket = ? AND account_id = ? FOR UPDATE`, repo.Bucket(author), author); err != nil {
				return err
			}
			marks, err := mark.Of(ctx, tx, author, mark.Repost, []uint64{origin})
			if err != nil {
				return err
			}
			named := marks[origin]
			reposts, err := s.reposts(ctx, tx, author, origin, named, repost)
			switch {
			case err != nil || named != 0 && reposts[named]:
				return err
			case !reposts[repost]:
				repost = 0
			}
			switch {
			case named == repost:
				return nil
			case named == 0:
				wrong = fmt.Sprintf("no mark says that %d is its repost of %d", repost, origin)
			default:
				wrong = fmt.Sprintf("a mark says that %d is its repost of %d, which it is not", named, origin)
			}
			if !repair {
				return nil
			}
			return mark.Write(ctx, tx, author, mark.Repost, origin, repost)
		})
	})
	if err != nil {
		return "", fmt.Errorf("examine which post of %d reposts %d: %w", author, origin, db.Wrap(err))
	}
	return wrong, nil
}

// tries is how often a transaction that ends in a deadlock is run.
const tries = 10

// reposts returns which of two posts are reposts by an author of another post that are not
// deleted. Index: PRIMARY, a row each.
func (s *Store) reposts(ctx context.Context, tx *sqlx.Tx, author, origin, one, two uint64) (map[uint64]bool, error) {
	var ids []uint64
	err := tx.SelectContext(ctx, &ids, `SELECT id FROM post WHERE bucket = ? AND id IN (?,?) AND author_id = ? AND origin_id = ? AND state <> ?`, repo.Bucket(author), one, two, author, origin, post.Deleted)
	out := map[uint64]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}
