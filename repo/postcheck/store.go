package postcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/task"
)

// Store reads the tables about posts. It is safe for concurrent use.
type Store struct{ db *sqlx.DB }

// New makes a store.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// Post is a post without its content.
type Post struct {
	ID         uint64          `db:"id"`
	Author     uint64          `db:"author_id"`
	Origin     uint64          `db:"origin_id"`
	ReplyTo    uint64          `db:"reply_to_id"`
	State      post.State      `db:"state"`
	Visibility post.Visibility `db:"visibility"`
	Replies    uint32          `db:"replies"`
	Reposts    uint32          `db:"reposts"`
	Favourites uint32          `db:"favourites"`
}

// Link returns what the post says of another one: that it stands there. It reports whether
// the post answers or reposts any.
func (p *Post) Link() (l Link, is bool) {
	switch {
	case p.Origin != 0:
		return Link{p.Origin, post.Repost, p.Author, p.ID}, true
	case p.ReplyTo != 0:
		return Link{p.ReplyTo, post.Reply, p.Author, p.ID}, true
	}
	return Link{}, false
}

// Link is a reply, a repost or a favourite, as it stands at a post.
type Link struct {
	Post    uint64    `db:"post_id"`
	Kind    post.Kind `db:"kind"`
	Account uint64    `db:"account_id"` // who did it
	ID      uint64    `db:"id"`         // of the reply, repost or favourite
}

// At is a link as it is stored: a reply says whose post it stands at, too.
type At struct {
	Link
	Owner uint64 `db:"owner_id"` // 0: it does not say
}

// Key is an Idempotency-Key of an account, and the post that was made with it.
type Key struct {
	Account uint64 `db:"account_id"`
	Hash    []byte `db:"hash"`
	Post    uint64 `db:"post_id"`
}

// Mark is what an account keeps about a post.
type Mark struct {
	Account uint64    `db:"account_id"`
	Kind    mark.Kind `db:"kind"`
	Post    uint64    `db:"post_id"`
	ID      uint64    `db:"id"`
}

// Feed is a row of author_feed.
type Feed struct {
	Account  uint64 `db:"account_id"`
	List     []byte `db:"list"`
	Statuses uint32 `db:"statuses"`
	LastID   uint64 `db:"last_id"`
	Newest   uint64 `db:"newest_id"`
	Floor    uint64 `db:"floor_id"`
}

// Head is a row of mark_head.
type Head struct {
	Account uint64 `db:"account_id"`
	List    []byte `db:"list"`
	Floor   uint64 `db:"floor_id"`
}

// Next returns the first bucket from the given one on that has any rows about posts, or
// repo.ErrNotFound.
func (s *Store) Next(ctx context.Context, from uint16) (uint16, error) {
	first := uint16(repo.Buckets)
	for _, table := range []string{`post`, `author_feed`, `reply`, `reaction`, `mark`, `mark_head`, `idempotency`} {
		b, err := db.NextBucket(ctx, s.db, table, from)
		if errors.Is(err, repo.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		first = min(first, b)
	}
	if first >= repo.Buckets {
		return 0, fmt.Errorf("rows about posts from bucket %d on: %w", from, repo.ErrNotFound)
	}
	return first, nil
}

const postColumns = `id, author_id, origin_id, reply_to_id, state, visibility, replies, reposts, favourites`

// Posts returns up to limit posts of a bucket that come after an id. Index: PRIMARY
// (bucket, id), a range.
func (s *Store) Posts(ctx context.Context, bucket uint16, after uint64, limit int) (out []Post, err error) {
	return out, s.read(ctx, &out, `SELECT `+postColumns+` FROM post WHERE bucket = ? AND id > ? ORDER BY id LIMIT ?`, bucket, after, limit)
}

// Of returns up to limit posts of an author that come after an id. Index: by_author (bucket,
// author_id, id), a range.
func (s *Store) Of(ctx context.Context, author, after uint64, limit int) (out []Post, err error) {
	return out, s.read(ctx, &out, `SELECT `+postColumns+` FROM post WHERE bucket = ? AND author_id = ? AND id > ? ORDER BY id LIMIT ?`, repo.Bucket(author), author, after, limit)
}

// Live returns up to limit posts of an author that are not deleted and come after an id.
// Index: by_author (bucket, author_id, id), a range.
func (s *Store) Live(ctx context.Context, author, after uint64, limit int) (out []Post, err error) {
	return out, s.read(ctx, &out, `SELECT `+postColumns+` FROM post WHERE bucket = ? AND author_id = ? AND id > ? AND state <> ? ORDER BY id LIMIT ?`,
		repo.Bucket(author), author, after, post.Deleted, limit)
}

// Feeds returns up to limit feeds of a bucket that come after an author. Index: PRIMARY
// (bucket, account_id), a range.
func (s *Store) Feeds(ctx context.Context, bucket uint16, after uint64, limit int) (out []Feed, err error) {
	return out, s.read(ctx, &out, `SELECT account_id, list, statuses, last_id, newest_id, floor_id FROM author_feed WHERE bucket = ? AND account_id > ? ORDER BY account_id LIMIT ?`, bucket, after, limit)
}

// Replies returns up to limit replies of a bucket that come after one, by post and id; those
// at some posts, if these are named. Index: PRIMARY (bucket, post_id, reply_id), two ranges.
func (s *Store) Replies(ctx context.Context, bucket uint16, at []uint64, after Link, limit int) (out []At, err error) {
	named, args := among(at, bucket, after.Post, after.Post, after.ID)
	return out, s.read(ctx, &out, `SELECT post_id, 3 AS kind, author_id AS account_id, reply_id AS id, owner_id FROM reply WHERE bucket = ? AND post_id & 1023 = bucket AND (post_id > ? OR post_id = ? AND reply_id > ?)`+named+` ORDER BY post_id, reply_id LIMIT ?`,
		append(args, limit)...)
}

// Reactions returns up to limit reposts and favourites of a bucket that come after one, by
// post, kind and account; those at some posts, if these are named. Index: PRIMARY (bucket,
// post_id, kind, account_id), three ranges.
func (s *Store) Reactions(ctx context.Context, bucket uint16, at []uint64, after Link, limit int) (out []At, err error) {
	named, args := among(at, bucket, after.Post, after.Post, after.Kind, after.Kind, after.Account)
	return out, s.read(ctx, &out, `SELECT post_id, kind, account_id, id, 0 AS owner_id FROM reaction WHERE bucket = ? AND post_id & 1023 = bucket AND (post_id > ? OR post_id = ? AND (kind > ? OR kind = ? AND account_id > ?))`+named+` ORDER BY post_id, kind, account_id LIMIT ?`,
		append(args, limit)...)
}

// among restricts a query to some posts, which it adds to its arguments; none: to no posts.
func among(posts []uint64, args ...any) (condition string, all []any) {
	if len(posts) == 0 {
		return ``, args
	}
	for _, id := range posts {
		args = append(args, id)
	}
	return ` AND post_id IN (` + db.Repeat(`?`, len(posts)) + `)`, args
}

// Received returns up to limit replies that stand in the list of what an account received and
// come after one, by id. Index: by_owner (bucket, owner_id, reply_id), a range.
func (s *Store) Received(ctx context.Context, owner, after uint64, limit int) (out []At, err error) {
	return out, s.read(ctx, &out, `SELECT post_id, 3 AS kind, author_id AS account_id, reply_id AS id, owner_id FROM reply WHERE bucket = ? AND owner_id = ? AND reply_id > ? ORDER BY reply_id LIMIT ?`,
		repo.Bucket(owner), owner, after, limit)
}

// Keys returns up to limit Idempotency-Keys of a bucket that come after one, by account and
// hash. Index: PRIMARY (bucket, account_id, hash), two ranges.
func (s *Store) Keys(ctx context.Context, bucket uint16, after Key, limit int) (out []Key, err error) {
	return out, s.read(ctx, &out, `SELECT account_id, hash, post_id FROM idempotency WHERE bucket = ? AND account_id & 1023 = bucket AND (account_id > ? OR account_id = ? AND hash > ?) ORDER BY account_id, hash LIMIT ?`,
		bucket, after.Account, after.Account, after.Hash, limit)
}

// Marks returns up to limit marks of a bucket that come after one, by account, kind and
// post. Index: PRIMARY (bucket, account_id, kind, post_id), three ranges.
func (s *Store) Marks(ctx context.Context, bucket uint16, after Mark, limit int) (out []Mark, err error) {
	return out, s.read(ctx, &out, `SELECT account_id, kind, post_id, id FROM mark WHERE bucket = ? AND (account_id > ? OR account_id = ? AND (kind > ? OR kind = ? AND post_id > ?)) ORDER BY account_id, kind, post_id LIMIT ?`,
		bucket, after.Account, after.Account, after.Kind, after.Kind, after.Post, limit)
}

// Heads returns up to limit heads of marks of a bucket that come after an account. Index:
// PRIMARY (bucket, account_id), a range.
func (s *Store) Heads(ctx context.Context, bucket uint16, after uint64, limit int) (out []Head, err error) {
	return out, s.read(ctx, &out, `SELECT account_id, list, floor_id FROM mark_head WHERE bucket = ? AND account_id > ? ORDER BY account_id LIMIT ?`, bucket, after, limit)
}

// Counts returns how many links of each kind the posts of a range of a bucket have, after one
// and up to another; of those at some posts, if these are named. Narrow replies do not count. Index: PRIMARY of
// reaction and of reply, a range each, or one for each post.
func (s *Store) Counts(ctx context.Context, bucket uint16, at []uint64, after, last uint64) (map[uint64]post.Counts, error) {
	var rows []struct {
		Post uint64    `db:"post_id"`
		Kind post.Kind `db:"kind"`
		N    uint32    `db:"n"`
	}
	named, args := among(at, bucket, after, last)
	err := s.read(ctx, &rows, `SELECT post_id, kind, COUNT(*) AS n FROM reaction WHERE bucket = ? AND post_id > ? AND post_id <= ?`+named+` GROUP BY post_id, kind
		UNION ALL SELECT post_id, 3 AS kind, COUNT(*) AS n FROM reply WHERE bucket = ? AND post_id > ? AND post_id <= ? AND narrow = 0`+named+` GROUP BY post_id`, append(args, args...)...)
	out := map[uint64]post.Counts{}
	for _, r := range rows {
		c := out[r.Post]
		switch r.Kind {
		case post.Favourite:
			c.Favourites = r.N
		case post.Repost:
			c.Reposts = r.N
		case post.Reply:
			c.Replies = r.N
		}
		out[r.Post] = c
	}
	return out, err
}

// Rows returns posts by their ids. Index: PRIMARY, a row each.
func (s *Store) Rows(ctx context.Context, ids []uint64) (map[uint64]Post, error) {
	out := make(map[uint64]Post, len(ids))
	for part := range slices.Chunk(repo.InOrder(slices.Clone(ids)), db.MaxKeys) {
		in, args := db.Keys(part)
		var found []Post
		if err := s.read(ctx, &found, `SELECT `+postColumns+` FROM post WHERE (bucket, id) IN (`+in+`)`, args...); err != nil {
			return nil, err
		}
		for _, p := range found {
			out[p.ID] = p
		}
	}
	return out, nil
}

// Linked returns which of links stand at their posts. Index: PRIMARY of reply and of
// reaction, a row each.
func (s *Store) Linked(ctx context.Context, links []Link) (map[Link]bool, error) {
	out := map[Link]bool{}
	for part := range slices.Chunk(links, db.MaxKeys/4) {
		var replies, others []any
		for _, l := range part {
			if l.Kind == post.Reply {
				replies = append(replies, repo.Bucket(l.Post), l.Post, l.ID)
			} else {
				others = append(others, repo.Bucket(l.Post), l.Post, l.Kind, l.Account)
			}
		}
		var found, more []Link
		var err error
		if len(replies) > 0 {
			err = s.read(ctx, &found, `SELECT post_id, 3 AS kind, author_id AS account_id, reply_id AS id FROM reply WHERE (bucket, post_id, reply_id) IN (`+db.Repeat(`(?,?,?)`, len(replies)/3)+`)`, replies...)
		}
		if err == nil && len(others) > 0 {
			err = s.read(ctx, &more, `SELECT post_id, kind, account_id, id FROM reaction WHERE (bucket, post_id, kind, account_id) IN (`+db.Repeat(`(?,?,?,?)`, len(others)/4)+`)`, others...)
		}
		if err != nil {
			return nil, err
		}
		for _, l := range append(found, more...) {
			out[l] = true
		}
	}
	return out, nil
}

// Marked returns which of marks there are. Index: PRIMARY, a row each.
func (s *Store) Marked(ctx context.Context, marks []Mark) (map[Mark]bool, error) {
	out := map[Mark]bool{}
	for part := range slices.Chunk(marks, db.MaxKeys/4) {
		args := make([]any, 0, 4*len(part))
		for _, m := range part {
			args = append(args, repo.Bucket(m.Account), m.Account, m.Kind, m.Post)
		}
		var found []Mark
		if err := s.read(ctx, &found, `SELECT account_id, kind, post_id, id FROM mark WHERE (bucket, account_id, kind, post_id) IN (`+db.Repeat(`(?,?,?,?)`, len(part))+`)`, args...); err != nil {
			return nil, err
		}
		for _, m := range found {
			out[m] = true
		}
	}
	return out, nil
}

// Pending reports whether a task is still to settle the act behind a link. Index: PRIMARY of
// task (bucket, id, kind): one row, or for a favourite the bucket, which has few.
func (s *Store) Pending(ctx context.Context, l Link) (bool, error) {
	var tasks []uint64
	var err error
	if l.Kind == post.Favourite {
		err = s.read(ctx, &tasks, `SELECT id FROM task WHERE bucket = ? AND kind = ? AND account_id = ? AND post_id = ? LIMIT 1`, repo.Bucket(l.Account), task.Favourite, l.Account, l.Post)
	} else {
		err = s.read(ctx, &tasks, `SELECT id FROM task WHERE bucket = ? AND id = ? AND kind = ?`, repo.Bucket(l.ID), l.ID, task.Settle)
	}
	return len(tasks) > 0, err
}

// read runs a query.
func (s *Store) read(ctx context.Context, into any, query string, args ...any) error {
	if err := s.db.SelectContext(ctx, into, query, args...); err != nil {
		return fmt.Errorf("read rows about posts: %w", db.Wrap(err))
	}
	return nil
}
