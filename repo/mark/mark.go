// Package mark keeps what accounts note for themselves about posts: favourites, bookmarks,
// pins, and which of their own posts reposts another. A mark is a row in the bucket of its
// account, with an id that sorts by time.
package mark

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/task"
)

// Kind says what a mark is.
type Kind uint8

// The kinds, as they are stored.
const (
	Favourite Kind = 1
	Repost    Kind = 2
	Bookmark  Kind = 3
	Pin       Kind = 4
)

// Mark is one mark.
type Mark struct {
	ID   uint64 `db:"id"`
	Kind Kind   `db:"kind"`
	Post uint64 `db:"post_id"`
}

// Store reads and writes marks. It is safe for concurrent use.
type Store struct {
	db    *sqlx.DB
	tasks *task.Store
}

// New makes a store.
func New(pool *sqlx.DB, tasks *task.Store) *Store { return &Store{pool, tasks} }

// Set writes a mark, or deletes it where id is 0, and what is to be done afterwards, in one
// transaction.
func (s *Store) Set(ctx context.Context, account uint64, k Kind, post, id uint64, tasks ...task.Task) error {
	err := db.Retry(ctx, tries, func(ctx context.Context) error {
		return db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error {
			if err := Write(ctx, tx, account, k, post, id); err != nil {
				return err
			}
			return s.tasks.Add(ctx, tx, tasks)
		})
	})
	if err != nil {
		return fmt.Errorf("mark %d for %d: %w", post, account, db.Wrap(err))
	}
	return nil
}

// tries is how often a transaction that ends in a deadlock is run.
const tries = 10

// Write writes a mark, or deletes it where id is 0, in a transaction. A mark that
// is there keeps its id, but that of a repost, which is the id of a post. Index:
// PRIMARY, one row.
func Write(ctx context.Context, x sqlx.ExecerContext, account uint64, k Kind, post, id uint64) error {
	var err error
	switch {
	case id == 0:
		_, err = x.ExecContext(ctx, `DELETE FROM mark WHERE bucket = ? AND account_id = ? AND kind = ? AND post_id = ?`, repo.Bucket(account), account, k, post)
	case k == Repost:
		_, err = x.ExecContext(ctx, `INSERT INTO mark (bucket, account_id, kind, post_id, id) VALUES (?,?,?,?,?) ON DUPLICATE KEY UPDATE id=VALUES(id)`, repo.Bucket(account), account, k, post, id)
	default:
		_, err = x.ExecContext(ctx, `INSERT INTO mark (bucket, account_id, kind, post_id, id) VALUES (?,?,?,?,?) ON DUPLICATE KEY UPDATE id=id`, repo.Bucket(account), account, k, post, id)
	}
	return err
}

// Of returns the ids of the marks of one kind that an account has on posts.
func Of(ctx context.Context, q sqlx.QueryerContext, account uint64, k Kind, posts []uint64) (map[uint64]uint64, error) {
	marks, err := on(ctx, q, account, posts)
	out := make(map[uint64]uint64, len(marks))
	for _, m := range marks {
		if m.Kind == k {
			out[m.Post] = m.ID
		}
	}
	return out, err
}

// On returns all marks that an account has on posts, from the database.
func (s *Store) On(ctx context.Context, account uint64, posts []uint64) ([]Mark, error) {
	return on(ctx, s.db, account, posts)
}

// on is On in a transaction or on a pool. Index: PRIMARY (bucket, account_id,
// kind, post_id), a row for each kind and post.
func on(ctx context.Context, q sqlx.QueryerContext, account uint64, posts []uint64) ([]Mark, error) {
	var out []Mark
	for part := range slices.Chunk(posts, db.MaxKeys/int(Pin)) {
		args := []any{repo.Bucket(account), account, Favourite, Repost, Bookmark, Pin}
		for _, p := range part {
			args = append(args, p)
		}
		var found []Mark
		err := sqlx.SelectContext(ctx, q, &found, `SELECT id, kind, post_id FROM mark WHERE bucket = ? AND account_id = ? AND kind IN (?,?,?,?) AND post_id IN (`+db.Repeat(`?`, len(part))+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load marks of %d: %w", account, db.Wrap(err))
		}
		out = append(out, found...)
	}
	return out, nil
}

// Page returns a part of the marks of a kind, newest first. Index: by_id
// (bucket, account_id, kind, id), a range.
func (s *Store) Page(ctx context.Context, account uint64, k Kind, r repo.IDRange) ([]Mark, error) {
	var out []Mark
	err := s.db.SelectContext(ctx, &out, `SELECT id, kind, post_id FROM mark WHERE bucket = ? AND account_id = ? AND kind = ? AND id > ? AND id < ?`+r.Order(`id`),
		repo.Bucket(account), account, k, r.After, r.Below(), r.Limit)
	if err != nil {
		return nil, fmt.Errorf("load marks of %d: %w", account, db.Wrap(err))
	}
	return repo.NewestFirst(out, r), nil
}
