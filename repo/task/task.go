// Package task keeps what is still to be done after a change.
//
// A task is written in the transaction of the change, so that it is there if and only if
// the change is. The process that made the change has claimed it already and carries it
// out at once; then it deletes the task. A claim runs out after Term: a task that is still
// there then is taken over by another process. So each task is carried out at least once,
// sometimes twice, and what carries it out must bear that. One that nobody could carry out
// for Life is dropped (cron, expire). Tasks and claims are dated and compared by the clock of
// the database.
//
// The table is small: it has the tasks of the last seconds, and those of processes that
// ended. It is walked from bucket to bucket.
package task

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// Kind says what is to be done.
type Kind uint8

// The kinds, as they are stored.
const (
	// Push a new event of the account to the home timelines of its followers.
	Push Kind = 1
	// Settle what a post of the account says about another post: that it answers or
	// reposts it, or, since it was deleted, no longer does.
	Settle Kind = 2
	// Favourite settles whether the account favours a post.
	Favourite Kind = 3
)

// Task is one thing to be done.
type Task struct {
	ID      uint64 `db:"id"`
	Kind    Kind   `db:"kind"`
	Account uint64 `db:"account_id"` // who acted: the task lies in its bucket
	Post    uint64 `db:"post_id"`
}

// Term is how long a claim stands.
const Term = time.Minute

// Life is how long after it was made a task is dropped: by then it has failed again and again,
// and while it is there an audit takes for granted that it will be done.
const Life = 30 * 24 * time.Hour

// Store keeps tasks. It is safe for concurrent use.
type Store struct {
	db     *sqlx.DB
	holder []byte // this process
}

// New makes a store that claims for this process.
func New(pool *sqlx.DB) *Store {
	holder := make([]byte, 16)
	rand.Read(holder)
	return &Store{pool, holder}
}

const columns = 7

// maxRows bounds the tasks of one statement.
const maxRows = 100

// Add writes tasks, claimed by this process, in a transaction. One that is there is made and
// claimed anew. Index: PRIMARY.
func (s *Store) Add(ctx context.Context, tx *sqlx.Tx, tasks []Task) error {
	for part := range slices.Chunk(tasks, maxRows) {
		args := make([]any, 0, columns*len(part))
		for _, t := range part {
			args = append(args, repo.Bucket(t.Account), t.ID, t.Kind, t.Account, t.Post, uint32(Term/time.Second), s.holder)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES `+
			db.Repeat(`(?,?,?,?,?,UNIX_TIMESTAMP(),UNIX_TIMESTAMP()+?,?)`, len(part))+
			` ON DUPLICATE KEY UPDATE made_at=VALUES(made_at), claimed_until=VALUES(claimed_until), holder=VALUES(holder)`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Done deletes tasks. Index: PRIMARY, a row each.
func (s *Store) Done(ctx context.Context, tasks []Task) error {
	for part := range slices.Chunk(tasks, maxRows) {
		args := make([]any, 0, 3*len(part))
		for _, t := range part {
			args = append(args, repo.Bucket(t.Account), t.ID, t.Kind)
		}
		if _, err := s.db.ExecContext(ctx, `DELETE FROM task WHERE (bucket, id, kind) IN (`+db.Repeat(`(?,?,?)`, len(part))+`)`, args...); err != nil {
			return fmt.Errorf("delete %d tasks: %w", len(part), db.Wrap(err))
		}
	}
	return nil
}

// Claim takes over up to limit tasks whose claims have run out.
func (s *Store) Claim(ctx context.Context, limit int) ([]Task, error) {
	var out []Task
	err := db.WalkBuckets(ctx, s.db, `task`, 0, repo.Buckets-1, limit, func(bucket uint16, limit int) (int, error) {
		var found []Task
		// Index: PRIMARY (bucket, id, kind), a range.
		if err := s.db.SelectContext(ctx, &found, `SELECT id, kind, account_id, post_id FROM task WHERE bucket = ? AND claimed_until < UNIX_TIMESTAMP() ORDER BY id LIMIT ?`, bucket, limit); err != nil {
			return 0, db.Wrap(err)
		}
		for _, t := range found {
			// Index: PRIMARY, one row. Who raises the claim has the task.
			done, err := s.db.ExecContext(ctx, `UPDATE task SET claimed_until = UNIX_TIMESTAMP() + ?, holder = ? WHERE bucket = ? AND id = ? AND kind = ? AND claimed_until < UNIX_TIMESTAMP()`,
				uint32(Term/time.Second), s.holder, bucket, t.ID, t.Kind)
			if err != nil {
				return 0, db.Wrap(err)
			}
			if n, err := done.RowsAffected(); err != nil {
				return 0, err
			} else if n == 1 {
				out = append(out, t)
			}
		}
		return len(found), nil
	})
	if err != nil {
		return out, fmt.Errorf("claim tasks: %w", err)
	}
	return out, nil
}

// Renew claims tasks of this process for another Term. Index: PRIMARY, a row each.
func (s *Store) Renew(ctx context.Context, t Task) error {
	_, err := s.db.ExecContext(ctx, `UPDATE task SET claimed_until = UNIX_TIMESTAMP() + ? WHERE bucket = ? AND id = ? AND kind = ? AND holder = ?`,
		uint32(Term/time.Second), repo.Bucket(t.Account), t.ID, t.Kind, s.holder)
	return db.Wrap(err)
}

// Backlog returns how many tasks there are, at most limit, and the age of the oldest of these.
func (s *Store) Backlog(ctx context.Context, limit int) (n int, age time.Duration, err error) {
	err = db.WalkBuckets(ctx, s.db, `task`, 0, repo.Buckets-1, limit, func(bucket uint16, limit int) (int, error) {
		var ages []int64
		// Index: PRIMARY (bucket, id, kind), a range.
		if err := s.db.SelectContext(ctx, &ages, `SELECT GREATEST(UNIX_TIMESTAMP(), made_at) - made_at AS age FROM task WHERE bucket = ? ORDER BY id LIMIT ?`, bucket, limit); err != nil {
			return 0, db.Wrap(err)
		}
		n += len(ages)
		for _, seconds := range ages {
			age = max(age, time.Duration(seconds)*time.Second)
		}
		return len(ages), nil
	})
	return n, age, err
}

// Expire drops up to limit tasks of a bucket, the first from one on that has any, that were
// made Life ago; dry only finds them. It returns them and where to go on, or repo.ErrNotFound
// at the end. Index: PRIMARY (bucket, id, kind), a range, then a row each.
func (s *Store) Expire(ctx context.Context, from uint16, limit int, dry bool) (old []Task, next uint16, err error) {
	bucket, err := db.NextBucket(ctx, s.db, `task`, from)
	if err != nil {
		return nil, 0, err
	}
	const life = uint32(Life / time.Second)
	err = s.db.SelectContext(ctx, &old, `SELECT id, kind, account_id, post_id FROM task WHERE bucket = ? AND made_at <= UNIX_TIMESTAMP() - ? ORDER BY id LIMIT ?`, bucket, life, limit)
	if err == nil && len(old) > 0 && !dry {
		args := []any{bucket, life}
		for _, t := range old {
			args = append(args, t.ID, t.Kind)
		}
		_, err = s.db.ExecContext(ctx, `DELETE FROM task WHERE bucket = ? AND made_at <= UNIX_TIMESTAMP() - ? AND (id, kind) IN (`+db.Repeat(`(?,?)`, len(old))+`)`, args...)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("expire tasks of bucket %d: %w", bucket, db.Wrap(err))
	}
	if len(old) < limit || dry {
		bucket++
	}
	return old, bucket, nil
}

// A task counts as forgotten so many terms after its claim ran out, or so long after it was
// made.
const (
	forgottenTerms = 10
	forgottenAfter = 24 * time.Hour
)

// Forgotten returns up to limit tasks of an account, 0 for all, that nobody took over for ten
// terms, or that are not done after a day: those of the first buckets, and none that lie in a
// wrong one.
func (s *Store) Forgotten(ctx context.Context, account uint64, limit int) (out []Task, err error) {
	first, last := uint16(0), uint16(repo.Buckets-1)
	if account != 0 {
		first, last = repo.Bucket(account), repo.Bucket(account)
	}
	err = db.WalkBuckets(ctx, s.db, `task`, first, last, limit, func(bucket uint16, limit int) (int, error) {
		var found []Task
		// Index: PRIMARY (bucket, id, kind), a range.
		err := s.db.SelectContext(ctx, &found, `SELECT id, kind, account_id, post_id FROM task WHERE bucket = ? AND (claimed_until < UNIX_TIMESTAMP() - ? OR made_at < UNIX_TIMESTAMP() - ?) AND account_id & 1023 = bucket AND (? = 0 OR account_id = ?) ORDER BY id LIMIT ?`,
			bucket, uint32(forgottenTerms*Term/time.Second), uint32(forgottenAfter/time.Second), account, account, limit)
		out = append(out, found...)
		return len(found), db.Wrap(err)
	})
	if err != nil {
		return nil, fmt.Errorf("find forgotten tasks: %w", err)
	}
	return out, nil
}
