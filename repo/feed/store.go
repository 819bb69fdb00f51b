package feed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/event"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/row"
	"kith/repo/task"
)

// Store reads feeds and swaps them, with all that they bring. It is safe for concurrent
// use.
type Store struct {
	*row.Store[Row]
	db    *sqlx.DB
	posts *post.Store
	tasks *task.Store
	now   func() time.Time
}

// KeyLife is how long an Idempotency-Key is remembered.
const KeyLife = time.Hour

// New makes a store. now dates the rows.
func New(pool *sqlx.DB, c cache.Cache, posts *post.Store, tasks *task.Store, now func() time.Time) *Store {
	s := &Store{db: pool, posts: posts, tasks: tasks, now: now}
	k := kind()
	k.Attach = s.attach
	s.Store = row.New(pool, c, k)
	return s
}

// attach stores what feeds bring.
func (s *Store) attach(ctx context.Context, tx *sqlx.Tx, rows []*Row) error {
	var posts []*post.Post
	var tasks []task.Task
	for _, r := range rows {
		posts = append(posts, r.attached.posts...)
		tasks = append(tasks, r.attached.tasks...)
	}
	if err := s.posts.Insert(ctx, tx, posts); err != nil {
		return err
	}
	if err := s.tasks.Add(ctx, tx, tasks); err != nil {
		return err
	}
	for _, r := range rows {
		if err := s.store(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// store stores what seldom comes with a feed.
func (s *Store) store(ctx context.Context, tx *sqlx.Tx, r *Row) error {
	for _, p := range r.attached.states {
		if err := s.posts.SetState(ctx, tx, p); err != nil {
			return err
		}
	}
	for key, id := range r.attached.keys {
		_, err := tx.ExecContext(ctx, `INSERT INTO idempotency (bucket, account_id, hash, post_id, made_at) VALUES (?,?,?,?,UNIX_TIMESTAMP()) ON DUPLICATE KEY UPDATE post_id=VALUES(post_id), made_at=VALUES(made_at)`,
			repo.Bucket(r.ID), r.ID, key[:], id)
		if err != nil {
			return err
		}
	}
	for origin, id := range r.attached.reposts {
		if err := mark.Write(ctx, tx, r.ID, mark.Repost, origin, id); err != nil {
			return err
		}
	}
	return nil
}

// Load opens the feeds of authors, from the database if fresh, else through the cache. The
// cache gets fresh ones too.
func (s *Store) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*Draft, error) {
	if !fresh {
		rows, err := s.Rows(ctx, ids)
		if err != nil {
			return nil, err
		}
		if drafts, err := openAll(rows, nil); err == nil {
			return drafts, nil
		}
		s.Drop(ctx, rows) // the database decides whether its row is bad
	}
	read, err := s.Fresh(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows := slices.Collect(maps.Values(read))
	s.Put(ctx, rows)
	return openAll(rows, nil)
}

func openAll(rows []Row, former map[uint64]*Draft) (map[uint64]*Draft, error) {
	drafts := make(map[uint64]*Draft, len(rows))
	for _, r := range rows {
		var known *facts
		if f := former[r.ID]; f != nil {
			known = f.facts
		}
		d, err := openRow(r, known)
		if err != nil {
			return nil, err
		}
		drafts[r.ID] = d
	}
	return drafts, nil
}

// Locked opens feeds under their locks and swaps what edit returns. What edits want to know
// is read under these locks, too, and edit runs again.
func (s *Store) Locked(ctx context.Context, ids []uint64, _ map[uint64]*Draft, edit func(map[uint64]*Draft) ([]Row, error)) (won bool, err error) {
	var sent []Row
	won, err = s.Store.Locked(ctx, ids, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		list := slices.Collect(maps.Values(rows))
		drafts, err := openAll(list, nil)
		for err == nil {
			if sent, err = edit(drafts); err != nil {
				break
			}
			var more bool
			if more, err = s.recall(ctx, tx, drafts); err != nil || !more {
				return sent, err
			}
			drafts, err = openAll(list, drafts)
		}
		return nil, err
	})
	return s.after(ctx, sent, won, err)
}

// Swap stores feeds where nobody else was first, with what they bring.
func (s *Store) Swap(ctx context.Context, rows []Row) (won bool, err error) {
	won, err = s.Store.Swap(ctx, rows)
	return s.after(ctx, rows, won, err)
}

// after updates the cache of posts after a swap. An id of a new post that was taken counts
// as a lost swap: the next try takes another.
func (s *Store) after(ctx context.Context, rows []Row, won bool, err error) (bool, error) {
	if db.Classify(err) == db.Duplicate {
		return false, nil
	}
	var added, changed []post.Post
	for _, r := range rows {
		if r.attached == nil {
			continue
		}
		for _, p := range r.attached.posts {
			added = append(added, *p)
		}
		for _, p := range r.attached.states {
			changed = append(changed, *p)
		}
	}
	if won && len(added) > 0 {
		s.posts.Put(ctx, added)
	}
	if len(changed) > 0 {
		s.posts.Drop(ctx, changed)
	}
	return won, err
}

// Pack returns the row to store.
func (s *Store) Pack(d *Draft) (Row, error) { return d.pack(uint32(s.now().Unix())) }

// recall reads what drafts want, and reports whether there was anything.
func (s *Store) recall(ctx context.Context, tx *sqlx.Tx, drafts map[uint64]*Draft) (more bool, err error) {
	for _, d := range drafts {
		if d.Lacks() {
			more = true
			if err := s.learn(ctx, tx, d.row.ID, d); err != nil {
				return false, fmt.Errorf("read the posts of %d: %w", d.row.ID, err)
			}
		}
	}
	return more, nil
}

func (s *Store) learn(ctx context.Context, tx *sqlx.Tx, id uint64, d *Draft) error {
	for _, key := range d.wants.keys {
		// Index: PRIMARY (bucket, account_id, hash), one row.
		var found []uint64
		err := tx.SelectContext(ctx, &found, `SELECT post_id FROM idempotency WHERE bucket = ? AND account_id = ? AND hash = ? AND made_at > UNIX_TIMESTAMP() - ?`,
			repo.Bucket(id), id, key[:], keyLife)
		if err != nil {
			return err
		}
		d.facts.keys[key] = 0
		if len(found) > 0 {
			d.facts.keys[key] = found[0]
		}
	}
	if len(d.wants.reposts) > 0 {
		found, err := mark.Of(ctx, tx, id, mark.Repost, d.wants.reposts)
		if err != nil {
			return err
		}
		for _, origin := range d.wants.reposts {
			d.facts.reposts[origin] = found[origin]
		}
	}
	if len(d.wants.posts) > 0 {
		found, err := s.posts.Lock(ctx, tx, d.wants.posts)
		if err != nil {
			return err
		}
		maps.Copy(d.facts.posts, found)
	}
	for _, below := range d.wants.newest {
		newest, err := s.posts.Newest(ctx, tx, id, below, oldest(d.events))
		if err != nil {
			return err
		}
		d.facts.newest[below] = newest
	}
	return nil
}

// oldest returns the id of the last of events.
func oldest(events []event.Event) uint64 {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].ID
}

// Events returns a part of an author's events, newest first: from its feed where that has
// them all, else from the table of posts.
func (s *Store) Events(ctx context.Context, r Row, want repo.IDRange) ([]event.Event, error) {
	all, floor, err := r.Events(nil)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e event.Event) bool { return e.ID >= want.Below() || e.ID <= want.After })
	switch n := len(all); {
	case want.Oldest && (floor == 0 || want.After+1 >= floor):
		return all[max(0, n-want.Limit):], nil
	case !want.Oldest && (floor == 0 || n >= want.Limit || want.After+1 >= floor):
		return all[:min(n, want.Limit)], nil
	}
	return s.posts.Events(ctx, r.ID, want)
}
