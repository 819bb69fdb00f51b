package relation

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
	"kith/repo/row"
)

// Store reads and swaps relation rows: what package row does for all rows, and what is
// special about these. It is safe for concurrent use.
type Store struct {
	*row.Store[Row]
	db  *sqlx.DB
	cap int
	now func() time.Time
}

// New makes a store over a database. A section that grows to more than twice listCap
// is cut to it as it is written, 0 for never. now dates the rows.
func New(pool *sqlx.DB, c cache.Cache, listCap int, now func() time.Time) *Store {
	return &Store{Store: row.New(pool, c, kind()), db: pool, cap: listCap, now: now}
}

// Counts returns the true counts of each id, in their order, without the lists,
// through the cache.
func (s *Store) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	heads, err := s.Heads(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Counts, len(heads))
	for i, h := range heads {
		out[i] = h.Counts
	}
	return out, nil
}

// Load opens the rows of ids, from the database if fresh, else through the cache. The
// cache gets fresh rows too: who is answered from them must not read older ones later.
func (s *Store) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*Draft, error) {
	if !fresh {
		rows, err := s.Rows(ctx, ids)
		if err != nil {
			return nil, err
		}
		drafts, err := openAll(rows)
		if err == nil {
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
	return openAll(rows)
}

func openAll(rows []Row) (map[uint64]*Draft, error) {
	drafts := make(map[uint64]*Draft, len(rows))
	for _, r := range rows {
		d, err := Open(r)
		if err != nil {
			return nil, err
		}
		drafts[r.ID] = d
	}
	return drafts, nil
}

// longList is from how many bytes on a loaded list is not read again under its lock.
const longList = 16 << 10

// Locked opens the rows of ids under their locks and swaps what edit returns. Where Swap
// would lose again and again to other processes, this waits its turn instead. The archive
// does not change meanwhile either, so drafts are given the entries that they lack, and
// edit runs again. The long list of a draft that was loaded before is not sent again where
// its ver is the same.
func (s *Store) Locked(ctx context.Context, ids []uint64, loaded map[uint64]*Draft, edit func(map[uint64]*Draft) ([]Row, error)) (won bool, err error) {
	var held []Row
	for _, id := range ids {
		if d := loaded[id]; d != nil && len(d.row.List) >= longList && len(held) < row.MaxHeld {
			held = append(held, d.row)
		}
	}
	return s.Store.Locked(ctx, ids, held, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
		drafts, err := openAll(slices.Collect(maps.Values(rows)))
		if err != nil {
			return nil, err
		}
		for {
			out, err := edit(drafts)
			if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(drafts)), (*Draft).Lacks) {
				return out, err
			}
			if drafts, err = recallAll(ctx, tx, drafts); err != nil {
				return nil, err
			}
		}
	})
}

// lockTries is how often a transaction that ends in a deadlock is run.
const lockTries = 10

// lockedRow gives edit the row of an account under its lock, and swaps the row that it
// returns, if it returns one.
func (s *Store) lockedRow(ctx context.Context, id uint64, edit func(tx *sqlx.Tx, r Row) ([]Row, error)) error {
	for range lockTries {
		won, err := s.Store.Locked(ctx, []uint64{id}, nil, func(tx *sqlx.Tx, rows map[uint64]Row) ([]Row, error) {
			return edit(tx, rows[id])
		})
		if won || err != nil {
			return err
		}
	}
	return repo.ErrConflict
}

// MaxNote is how many bytes a note has at most.
const MaxNote = 8192

// Note is what an account keeps in private about another. Its row's list says that
// there is one; the text is a row of a table of its own, written together with it.
type Note struct {
	OtherID uint64 `db:"other_id"`
	Body    string `db:"body"`
}

// Notes returns the notes of an account about those of others of whom it keeps one.
// Index: PRIMARY (bucket, account_id, other_id), one row each.
func (s *Store) Notes(ctx context.Context, id uint64, others []uint64) (map[uint64]string, error) {
	out := make(map[uint64]string, len(others))
	for part := range slices.Chunk(others, row.MaxRows) {
		args := []any{repo.Bucket(id), id}
		for _, o := range part {
			args = append(args, o)
		}
		var notes []Note
		err := s.db.SelectContext(ctx, &notes, `SELECT other_id, body FROM note WHERE bucket = ? AND account_id = ? AND other_id IN (`+db.Repeat(`?`, len(part))+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load notes of %d: %w", id, db.Wrap(err))
		}
		for _, n := range notes {
			out[n.OtherID] = n.Body
		}
	}
	return out, nil
}

// storeNotes writes the notes of a row inside the transaction that swaps it. Index:
// PRIMARY, one row each, or a range.
func storeNotes(ctx context.Context, x sqlx.ExecerContext, r *Row) error {
	id := r.ID
	if r.attached.noteless {
		_, err := x.ExecContext(ctx, `DELETE FROM note WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
		return err
	}
	for _, n := range r.attached.notes {
		var err error
		if n.Body == "" {
			_, err = x.ExecContext(ctx, `DELETE FROM note WHERE bucket = ? AND account_id = ? AND other_id = ?`, repo.Bucket(id), id, n.OtherID)
		} else {
			_, err = x.ExecContext(ctx, `INSERT INTO note (bucket, account_id, other_id, body, updated_at) VALUES (?,?,?,?,?) ON DUPLICATE KEY UPDATE body=VALUES(body), updated_at=VALUES(updated_at)`,
				repo.Bucket(id), id, n.OtherID, []byte(n.Body), r.UpdatedAt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
