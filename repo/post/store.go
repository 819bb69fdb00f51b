package post

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/event"
	"kith/repo/row"
)

// Store reads posts and swaps them. It is safe for concurrent use.
type Store struct {
	*row.Store[Post]
	db  *sqlx.DB
	now func() time.Time
}

// New makes a store. now dates the rows.
func New(pool *sqlx.DB, c cache.Cache, now func() time.Time) *Store {
	return &Store{Store: row.New(pool, c, kind()), db: pool, now: now}
}

func kind() row.Kind[Post] {
	return row.Kind[Post]{
		Table: `post`,
		ID:    `id`,
		Columns: []string{`details`, `text`, `spoiler`, `author_id`, `origin_id`, `reply_to_id`, `reply_to_account`,
			`visibility`, `state`, `language`, `replies`, `reposts`, `favourites`},
		Meta:  func(p *Post) *row.Meta { return &p.Meta },
		Empty: func(m row.Meta) Post { return Post{Meta: m} },
		Scan: func(p *Post, scan func(...any) error) error {
			var details []byte
			err := scan(&details, &p.Text, &p.Spoiler, &p.Author, &p.Origin, &p.ReplyTo, &p.ReplyWho,
				&p.Visibility, &p.State, &p.Language, &p.Replies, &p.Reposts, &p.Favourites)
			if err == nil {
				err = p.readDetails(details)
			}
			if err != nil {
				err = fmt.Errorf("post %d, ver %d: %w", p.ID, p.Ver, err)
			}
			return err
		},
		Values: func(args []any, p *Post) ([]any, error) { return append(args, values(p)...), nil },
		Key:    cachedKey,
		Pack:   pack,
		Unpack: unpack,

		Attached: func(p *Post) bool { return p.attached != nil },
		Attach:   attach,
		Redo:     true, // they look whether a reaction is there
	}
}

// values are the columns of a post, in the order of kind.
func values(p *Post) []any {
	return []any{appendDetails([]byte{}, p), []byte(p.Text), []byte(p.Spoiler), p.Author, p.Origin, p.ReplyTo, p.ReplyWho,
		p.Visibility, p.State, []byte(p.Language), p.Replies, p.Reposts, p.Favourites}
}

// Get returns a post, or repo.ErrNotFound.
func (s *Store) Get(ctx context.Context, id uint64) (Post, error) {
	p, err := s.Row(ctx, id)
	if err == nil && p.Ver == 0 {
		err = fmt.Errorf("post %d: %w", id, repo.ErrNotFound)
	}
	return p, err
}

// Insert writes new posts, all of one bucket, in a transaction. Each has its first ver, a
// repo.Step. Where an id is taken the error is a duplicate (see package db). Index: PRIMARY.
func (s *Store) Insert(ctx context.Context, tx *sqlx.Tx, posts []*Post) error {
	now := uint32(s.now().Unix())
	for part := range slices.Chunk(posts, maxInsert) {
		var args []any
		for _, p := range part {
			args = append(args, repo.Bucket(p.ID), p.ID, p.Ver)
			args = append(append(args, values(p)...), now)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO post (bucket, id, ver, details, text, spoiler, author_id, origin_id, reply_to_id, reply_to_account, visibility, state, language, replies, reposts, favourites, updated_at) VALUES `+
			db.Repeat(`(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, len(part)), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxInsert bounds the rows of one insert.
const maxInsert = 48

// SetState writes the state and the content of a post that Lock returned. Index: PRIMARY,
// one row.
func (s *Store) SetState(ctx context.Context, tx *sqlx.Tx, p *Post) error {
	_, err := tx.ExecContext(ctx, `UPDATE post SET ver = ver + ?, details = ?, text = ?, spoiler = ?, language = ?, state = ?, updated_at = ? WHERE bucket = ? AND id = ? AND ver = ?`,
		repo.Step(), appendDetails([]byte{}, p), []byte(p.Text), []byte(p.Spoiler), []byte(p.Language), p.State, uint32(s.now().Unix()), repo.Bucket(p.ID), p.ID, p.Ver)
	return err
}

// Events returns a part of an author's events, newest first, deleted ones too. Index:
// by_author (bucket, author_id, id), a range.
func (s *Store) Events(ctx context.Context, author uint64, r repo.IDRange) ([]event.Event, error) {
	var out []event.Event
	err := s.db.SelectContext(ctx, &out, `SELECT id, author_id AS author, origin_id AS origin FROM post WHERE bucket = ? AND author_id = ? AND id > ? AND id < ?`+r.Order(`id`),
		repo.Bucket(author), author, r.After, r.Below(), r.Limit)
	if err != nil {
		return nil, fmt.Errorf("load posts of %d: %w", author, db.Wrap(err))
	}
	return repo.NewestFirst(out, r), nil
}

// Newest returns the newest post of an author below an id, and not below another, that is
// neither deleted nor direct; 0 where there is none. Index: by_author, a range as long as the
// deleted and direct posts in it.
func (s *Store) Newest(ctx context.Context, tx *sqlx.Tx, author, below, from uint64) (uint64, error) {
	var ids []uint64
	err := tx.SelectContext(ctx, &ids, `SELECT id FROM post WHERE bucket = ? AND author_id = ? AND id >= ? AND id < ? AND state <> ? AND visibility <> ? ORDER BY id DESC LIMIT 1`,
		repo.Bucket(author), author, from, below, Deleted, Direct)
	if err != nil || len(ids) == 0 {
		return 0, db.Wrap(err)
	}
	return ids[0], nil
}

// Part is which of an author's events are wanted.
type Part struct {
	Author uint64
	repo.IDRange
}

// maxParts bounds the parts of one statement.
const maxParts = 100

// Parts is Events of many authors, all with the same limit and from the same end. They come
// in no order. Index: by_author (bucket, author_id, id), a range for each.
func (s *Store) Parts(ctx context.Context, parts []Part) ([]event.Event, error) {
	var out []event.Event
	for some := range slices.Chunk(parts, maxParts) {
		var query strings.Builder
		var args []any
		for i, p := range some {
			if i > 0 {
				query.WriteString(` UNION ALL `)
			}
			query.WriteString(`(SELECT id, author_id AS author, origin_id AS origin FROM post WHERE bucket = ? AND author_id = ? AND id > ? AND id < ?` + p.Order(`id`) + `)`)
			args = append(args, repo.Bucket(p.Author), p.Author, p.After, p.Below(), p.Limit)
		}
		var found []event.Event
		if err := s.db.SelectContext(ctx, &found, query.String(), args...); err != nil {
			return nil, fmt.Errorf("load posts of %d authors: %w", len(some), db.Wrap(err))
		}
		out = append(out, found...)
	}
	return out, nil
}

// Load opens posts, from the database if fresh, else through the cache, for edits. The
// cache gets fresh ones too.
func (s *Store) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*Draft, error) {
	if !fresh {
		rows, err := s.Rows(ctx, ids)
		return open(slices.Values(rows), nil), err
	}
	rows, err := s.Fresh(ctx, ids)
	if err != nil {
		return nil, err
	}
	s.Put(ctx, slices.Collect(maps.Values(rows)))
	return open(maps.Values(rows), nil), nil
}

// Locked opens posts under their locks and swaps what edit returns. What edits want to know
// of reactions and replies is read under these locks, too, and edit runs again.
func (s *Store) Locked(ctx context.Context, ids []uint64, _ map[uint64]*Draft, edit func(map[uint64]*Draft) ([]Post, error)) (won bool, err error) {
	return s.Store.Locked(ctx, ids, nil, func(tx *sqlx.Tx, rows map[uint64]Post) ([]Post, error) {
		drafts := open(maps.Values(rows), nil)
		for {
			out, err := edit(drafts)
			if err != nil {
				return nil, err
			}
			more, err := recall(ctx, tx, drafts)
			if err != nil || !more {
				return out, err
			}
			drafts = open(maps.Values(rows), drafts)
		}
	})
}

// Reactor is an account that reposted or favoured a post.
type Reactor struct {
	ID      uint64 `db:"id"` // of the repost or favourite
	Account uint64 `db:"account_id"`
}

// Reactors returns a part of those who reposted or favoured a post, newest first. Index:
// by_id (bucket, post_id, kind, id), a range.
func (s *Store) Reactors(ctx context.Context, post uint64, k Kind, r repo.IDRange) ([]Reactor, error) {
	var out []Reactor
	err := s.db.SelectContext(ctx, &out, `SELECT id, account_id FROM reaction WHERE bucket = ? AND post_id = ? AND kind = ? AND id > ? AND id < ?`+r.Order(`id`),
		repo.Bucket(post), post, k, r.After, r.Below(), r.Limit)
	if err != nil {
		return nil, fmt.Errorf("load reactions to %d: %w", post, db.Wrap(err))
	}
	return repo.NewestFirst(out, r), nil
}

// Answers returns the ids of replies to posts: up to so many of those for anybody, and up to
// so many narrow ones. They come by post, and of each the oldest first. Index: by_post
// (bucket, post_id, narrow, reply_id), a range a post.
func (s *Store) Answers(ctx context.Context, posts []uint64, maxOpen, maxNarrow int) (open, narrow []uint64, err error) {
	if open, err = s.answers(ctx, posts, 0, maxOpen); err == nil {
		narrow, err = s.answers(ctx, posts, 1, maxNarrow)
	}
	return open, narrow, err
}

func (s *Store) answers(ctx context.Context, posts []uint64, narrow, most int) (ids []uint64, err error) {
	var keys []any
	for _, id := range repo.InOrder(slices.Clone(posts)) {
		keys = append(keys, repo.Bucket(id), id, narrow)
	}
	const perKey = 3
	for part := range slices.Chunk(keys, perKey*db.MaxKeys) {
		if len(ids) >= most {
			break
		}
		var found []uint64
		err := s.db.SelectContext(ctx, &found, `SELECT reply_id FROM reply FORCE INDEX (by_post) WHERE (bucket, post_id, narrow) IN (`+
			db.Repeat(`(?,?,?)`, len(part)/perKey)+`) ORDER BY bucket, post_id, narrow, reply_id LIMIT ?`, append(slices.Clip(part), most-len(ids))...)
		if err != nil {
			return nil, fmt.Errorf("load replies to %d posts: %w", len(posts), db.Wrap(err))
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// Received returns the ids of a part of all replies to the posts of an account, newest
// first. Index: by_owner (bucket, owner_id, reply_id), a range.
func (s *Store) Received(ctx context.Context, owner uint64, r repo.IDRange) (ids []uint64, err error) {
	err = s.db.SelectContext(ctx, &ids, `SELECT reply_id FROM reply WHERE bucket = ? AND owner_id = ? AND reply_id > ? AND reply_id < ?`+r.Order(`reply_id`),
		repo.Bucket(owner), owner, r.After, r.Below(), r.Limit)
	if err != nil {
		return nil, fmt.Errorf("load replies to %d: %w", owner, db.Wrap(err))
	}
	return repo.NewestFirst(ids, r), nil
}
