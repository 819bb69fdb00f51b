package relation

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
)

// MaxRows bounds how many rows one statement reads or swaps. MariaDB turns an
// IN list of 1,000 values, two for each row, into a temporary table.
const MaxRows = 480

// Store reads and swaps relation rows. It is safe for concurrent use.
type Store struct {
	db    *sqlx.DB
	rows  cache.Reader[Row]
	heads cache.Reader[head]
	cap   int
	now   func() time.Time
}

// New makes a store over a database. A section that grows to more than twice listCap
// is cut to it as it is written, 0 for never. now dates the rows.
func New(pool *sqlx.DB, c cache.Cache, listCap int, now func() time.Time) *Store {
	s := &Store{db: pool, cap: listCap, now: now}
	s.rows = cache.Reader[Row]{Cache: c, Key: rowKey, Unpack: unpackRow, Pack: packRow, Load: s.Fresh, Vers: s.vers}
	s.heads = cache.Reader[head]{Cache: c, Key: rowKey, Unpack: unpackHead, Pack: packHead, Load: s.loadHeads, Heads: true}
	return s
}

// Rows returns the row of each id, in their order, through the cache. An account
// without a row has an empty list and Ver 0.
func (s *Store) Rows(ctx context.Context, ids []uint64) ([]Row, error) {
	return s.rows.Read(ctx, ids)
}

// Row returns one row, through the cache.
func (s *Store) Row(ctx context.Context, id uint64) (Row, error) {
	return s.rows.One(ctx, id)
}

// Fresh returns the rows of ids from the database, as of one moment.
func (s *Store) Fresh(ctx context.Context, ids []uint64) (map[uint64]Row, error) {
	return s.selectRows(ctx, s.db, ids, "")
}

// selectRows reads rows by primary key. Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) selectRows(ctx context.Context, q sqlx.QueryerContext, ids []uint64, lock string) (map[uint64]Row, error) {
	return selectLists(ctx, q, ids, lock, `list`, nil)
}

// selectLists is selectRows with an expression for the list and its arguments.
func selectLists(ctx context.Context, q sqlx.QueryerContext, ids []uint64, lock, lists string, args []any) (map[uint64]Row, error) {
	out := make(map[uint64]Row, len(ids))
	for _, id := range ids {
		out[id] = absent(id)
	}
	for part := range slices.Chunk(inOrder(ids), MaxRows) {
		where, keys := db.Keys(padded(part, lock != ""))
		rows, err := q.QueryxContext(ctx, `SELECT account_id, ver, `+lists+`, friends, followers, following, archived, updated_at FROM relation WHERE (bucket, account_id) IN (`+where+`) ORDER BY bucket, account_id`+lock, append(slices.Clip(args), keys...)...)
		if err != nil {
			return nil, fmt.Errorf("load %d relations: %w", len(part), db.Wrap(err))
		}
		if err := scanRows(rows, out); err != nil {
			return nil, fmt.Errorf("load %d relations: %w", len(part), db.Wrap(err))
		}
	}
	return out, nil
}

// A list of longList bytes or more is not read again under its lock where a draft
// has it at the same ver; so for maxHeld rows of one read, at most.
const (
	longList = 16 << 10
	maxHeld  = 2
)

// lockRows reads rows under their locks. Index: PRIMARY (bucket, account_id), one
// range an id.
func (s *Store) lockRows(ctx context.Context, tx *sqlx.Tx, ids []uint64, loaded map[uint64]*Draft) (map[uint64]Row, error) {
	held, args := make([]Row, 0, maxHeld), []any(nil)
	for _, id := range ids {
		if d := loaded[id]; d != nil && len(d.row.List) >= longList && len(held) < maxHeld {
			held = append(held, d.row)
		}
	}
	if len(held) == 0 {
		return s.selectRows(ctx, tx, ids, ` FOR UPDATE`)
	}
	for i := range maxHeld { // always as many, so that few texts are kept
		r := held[min(i, len(held)-1)]
		args = append(args, r.AccountID, r.Ver)
	}
	rows, err := selectLists(ctx, tx, ids, ` FOR UPDATE`, `IF((account_id, ver) IN (`+db.Repeat(`(?,?)`, maxHeld)+`), '', list) AS list`, args)
	if err != nil {
		return nil, err
	}
	for _, h := range held {
		if r, ok := rows[h.AccountID]; ok && r.Ver == h.Ver && len(r.List) == 0 {
			r.List, r.token = h.List, h.token
			rows[h.AccountID] = r
		}
	}
	return rows, nil
}

// padded repeats the last of the ids of a locking read of more than 32 until their
// number is a multiple of 16. The text of that statement, which a connection keeps,
// is then one of few; a row that is named twice is locked and read once.
func padded(ids []uint64, locking bool) []uint64 {
	if !locking || len(ids) <= 32 {
		return ids
	}
	for ids = slices.Clip(ids); len(ids)%16 != 0; {
		ids = append(ids, ids[len(ids)-1])
	}
	return ids
}

func scanRows(rows *sqlx.Rows, out map[uint64]Row) error {
	defer rows.Close()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.AccountID, &r.Ver, &r.List, &r.Friends, &r.Followers, &r.Following, &r.Archived, &r.UpdatedAt); err != nil {
			return err
		}
		r.hollow()
		out[r.AccountID] = r
	}
	return rows.Err()
}

// Counts returns the true counts of each id, in their order, without the lists,
// through the cache.
func (s *Store) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	heads, err := s.heads.Read(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Counts, len(heads))
	for i, h := range heads {
		out[i] = h.Counts
	}
	return out, nil
}

// vers returns the vers of ids from the database.
func (s *Store) vers(ctx context.Context, ids []uint64) (map[uint64]uint64, error) {
	marks, err := s.Marks(ctx, ids)
	out := make(map[uint64]uint64, len(marks))
	for id, m := range marks {
		out[id] = m.Ver
	}
	return out, err
}

// loadHeads reads counts by primary key, leaving the lists where they are.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) loadHeads(ctx context.Context, ids []uint64) (map[uint64]head, error) {
	out := make(map[uint64]head, len(ids))
	for _, id := range ids {
		out[id] = head{}
	}
	for part := range slices.Chunk(inOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		var heads []head
		err := s.db.SelectContext(ctx, &heads, `SELECT account_id, ver, friends, followers, following, archived, updated_at FROM relation WHERE (bucket, account_id) IN (`+where+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load counts of %d accounts: %w", len(part), db.Wrap(err))
		}
		for _, h := range heads {
			if h.UpdatedAt == neverUpdated {
				h = head{AccountID: h.AccountID, Ver: h.Ver}
			}
			out[h.AccountID] = h
		}
	}
	return out, nil
}

// readBackTime bounds a read after an unknown outcome, whatever is left of the
// caller's own time.
const readBackTime = 5 * time.Second

// readBack finds out whether a swap with an unknown outcome took effect. A row that
// holds exactly what was sent proves that all did, since rows are swapped all or
// none; one that is as it was before proves that it did not, or on an engine that
// shards not everywhere: then the edits are redone. Where others have changed every
// row since, nothing proves anything, as a ver does not tell which came before. Then
// the edits must not be redone, for what they did may have been seen and undone by
// others meanwhile. The caller is told, and may ask again.
//
// Unless the swap was won the cache forgets the rows, so that nobody is shown what
// may have been replaced.
func (s *Store) readBack(ctx context.Context, rows []Row, cause error) (bool, error) {
	if len(rows) == 0 {
		return false, nil // the connection went before anything was sent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	now, err := s.Fresh(ctx, idsOf(rows))
	if err != nil {
		s.forget(ctx, rows)
		return false, fmt.Errorf("read back after a lost connection: %w (after %w)", err, cause)
	}
	sent, before := 0, 0
	for _, r := range rows {
		switch have := now[r.AccountID]; {
		case have.Ver == r.Ver-r.step, have.Ver == r.Ver && have.UpdatedAt == neverUpdated:
			before++
		case have.Ver == r.Ver && bytes.Equal(have.List, r.List):
			sent++
		}
	}
	if sent > 0 && before == 0 {
		return true, nil
	}
	s.forget(ctx, rows)
	if before > 0 {
		return false, nil
	}
	return false, fmt.Errorf("swap %d relations, all of which were changed since, so that nobody knows whether it took effect: %w: %w", len(rows), repo.ErrUnavailable, cause)
}

// inOrder returns ids in key order, each once.
func inOrder(ids []uint64) []uint64 {
	return slices.Compact(slices.SortedFunc(slices.Values(ids), repo.CompareKeys))
}
