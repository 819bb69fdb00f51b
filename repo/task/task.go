// Package task keeps what is still to be done after a change.
//
// A task is written in the transaction of the change, so that it is there if and only if
// the change is. The process that made the change has claimed it already and carries it
// out at once; then it deletes the task. A claim runs out after Term: a task that is still
// there then is taken over by another process. So each task is carried out at least once,
// sometimes twice, and what carries it out must bear that. Claims are dated and compared
// by the clock of the database.
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

// Add writes tasks, claimed by this process, in a transaction. One that is there is claimed
// anew. Index: PRIMARY.
func (s *Store) Add(ctx context.Context, tx *sqlx.Tx, tasks []Task) error {
	for part := range slices.Chunk(tasks, maxRows) {
		args := make([]any, 0, columns*len(part))
		for _, t := range part {
			args = append(args, repo.Bucket(t.Account), t.ID, t.Kind, t.Account, t.Post, uint32(Term/time.Second), s.holder)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO task (bucket, id, kind, account_id, post_id, claimed_until, holder) VALUES `+
			db.Repeat(`(?,?,?,?,?,UNIX_TIMESTAMP()+?,?)`, len(part))+` ON DUPLICATE KEY UPDATE claimed_until=VALUES(claimed_until), holder=VALUES(holder)`, args...)
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

// Backlog returns how many tasks there are, at most limit, and the age of the oldest.
func (s *Store) Backlog(ctx context.Context, limit int) (n int, oldest uint64, err error) {
	err = db.WalkBuckets(ctx, s.db, `task`, 0, repo.Buckets-1, limit, func(bucket uint16, limit int) (int, error) {
		var ids []uint64
		// Index: PRIMARY (bucket, id, kind), a range.
		if err := s.db.SelectContext(ctx, &ids, `SELECT id FROM task WHERE bucket = ? ORDER BY id LIMIT ?`, bucket, limit); err != nil {
			return 0, db.Wrap(err)
		}
		n += len(ids)
		if len(ids) > 0 && (oldest == 0 || ids[0] < oldest) {
			oldest = ids[0]
		}
		return len(ids), nil
	})
	return n, oldest, err
}

// forgottenTerms is how many terms after its claim ran out a task counts as forgotten.
const forgottenTerms = 10

// Forgotten returns up to limit tasks of an account, 0 for all, whose claims ran out ten terms
// ago, and that nobody took over since: those of the first buckets.
func (s *Store) Forgotten(ctx context.Context, account uint64, limit int) (out []Task, err error) {
	first, last := uint16(0), uint16(repo.Buckets-1)
	if account != 0 {
		first, last = repo.Bucket(account), repo.Bucket(account)
	}
	err = db.WalkBuckets(ctx, s.db, `task`, first, last, limit, func(bucket uint16, limit int) (int, error) {
		var found []Task
		// Index: PRIMARY (bucket, id, kind), a range.
		err := s.db.SelectContext(ctx, &found, `SELECT id, kind, account_id, post_id FROM task WHERE bucket = ? AND claimed_until < UNIX_TIMESTAMP() - ? AND (? = 0 OR account_id = ?) ORDER BY id LIMIT ?`,
			bucket, uint32(forgottenTerms*Term/time.Second), account, account, limit)
		out = append(out, found...)
		return len(found), db.Wrap(err)
	})
	if err != nil {
		return nil, fmt.Errorf("find forgotten tasks: %w", err)
	}
	return out, nil
}
