// Package mark keeps what accounts note for themselves about posts: favourites, bookmarks,
// pins, and which of their own posts reposts another. A mark is a row in the bucket of its
// account, with an id that sorts by time.
//
// The newest marks of an account, but for reposts, stand packed in a versioned row too, its
// head, which is read through the cache: pages show recent posts, so that they need no more.
// The head is locked by each change and swapped with it, in one transaction. Which posts an
// account reposted is told by its feed (repo/feed).
package mark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/event"
	"kith/repo/row"
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
	heads *row.Store[head]
	tasks *task.Store
	now   func() time.Time
}

// New makes a store. now dates the rows.
func New(pool *sqlx.DB, c cache.Cache, tasks *task.Store, now func() time.Time) *Store {
	return &Store{pool, row.New(pool, c, kind()), tasks, now}
}

// Key returns the name of what the cache has of an account's newest marks.
func (s *Store) Key(account uint64) string { return s.heads.Key(account) }

// tries is how often a change is tried that others win.
const tries = 20

// MaxPins is how many pins an account has at most.
const MaxPins = 5

// ErrFull says that an account has MaxPins pins.
var ErrFull = errors.New("the account has as many pins as there may be")

// Set writes a mark, or deletes it where id is 0, and what is to be done afterwards, in one
// transaction, and reports whether that changed anything. A mark that is there keeps its id.
// A new id must be higher than that of the post, and becomes higher than those of the account's
// other marks: pages go by them. A pin too many is refused with ErrFull.
// Reposts are not marked so, see Write.
func (s *Store) Set(ctx context.Context, account uint64, k Kind, post, id uint64, tasks ...task.Task) (changed bool, err error) {
	for range tries {
		won, err := s.heads.Locked(ctx, []uint64{account}, nil, func(tx *sqlx.Tx, rows map[uint64]head) ([]head, error) {
			have, err := Of(ctx, tx, account, k, []uint64{post})
			if changed = (have[post] != 0) != (id != 0); err != nil || !changed {
				return nil, err
			}
			if k == Pin && id != 0 {
				if err := room(ctx, tx, account); err != nil {
					return nil, err
				}
			}
			id := id
			if above := rows[account].newest(); id != 0 && id <= above {
				id = event.Next(account, above, event.Epoch, 0)
			}
			if err := Write(ctx, tx, account, k, post, id); err != nil {
				return nil, err
			}
			if err := s.tasks.Add(ctx, tx, tasks); err != nil {
				return nil, err
			}
			next := rows[account].with(Mark{ID: id, Kind: k, Post: post})
			next.Meta = next.Next(uint32(s.now().Unix()))
			return []head{next}, nil
		})
		if won || err != nil {
			return changed, err
		}
	}
	return false, fmt.Errorf("mark %d for %d: %w", post, account, repo.ErrConflict)
}

// room returns ErrFull where an account has all the pins that it may have. Index: by_id
// (bucket, account_id, kind, id), a range.
func room(ctx context.Context, tx *sqlx.Tx, account uint64) error {
	var n int
	err := tx.GetContext(ctx, &n, `SELECT COUNT(*) FROM mark WHERE bucket = ? AND account_id = ? AND kind = ?`, repo.Bucket(account), account, Pin)
	if err == nil && n >= MaxPins {
		err = ErrFull
	}
	return err
}

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

// On returns the favourites, bookmarks and pins that an account has on posts: from its head
// where that reaches, else from the database. A mark is younger than its post, so all marks
// on posts from the floor of the head on stand in it.
func (s *Store) On(ctx context.Context, account uint64, posts []uint64) ([]Mark, error) {
	h, err := s.heads.Row(ctx, account)
	if err != nil {
		return nil, err
	}
	var out []Mark
	var older []uint64
	for _, p := range posts {
		if p < h.floor {
			older = append(older, p)
			continue
		}
		for _, m := range h.marks {
			if m.Post == p {
				out = append(out, m)
			}
		}
	}
	if len(older) == 0 {
		return out, nil
	}
	more, err := on(ctx, s.db, account, older)
	return append(out, more...), err
}

// Fresh returns the id of a mark as the database has it, 0 for none.
func (s *Store) Fresh(ctx context.Context, account uint64, k Kind, post uint64) (uint64, error) {
	found, err := Of(ctx, s.db, account, k, []uint64{post})
	return found[post], err
}

// Reposts returns the ids of the reposts that an account made of posts, from the database.
func (s *Store) Reposts(ctx context.Context, account uint64, posts []uint64) (map[uint64]uint64, error) {
	return Of(ctx, s.db, account, Repost, posts)
}

// on returns all marks that an account has on posts. Index: PRIMARY (bucket, account_id,
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
