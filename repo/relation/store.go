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

// wideRow is the size of a list from which a statement is sent with its
// arguments apart: the driver's own interpolation doubles the speed of small
// statements and halves that of large ones.
const wideRow = 4 << 10

// Store reads and swaps relation rows. It is safe for concurrent use.
type Store struct {
	small *sqlx.DB // interpolates arguments: one round trip a statement
	large *sqlx.DB // sends arguments apart: for statements with long lists
	rows  cache.Reader[Row]
	heads cache.Reader[head]
	cap   int
}

// New makes a store over two pools on the same database: small interpolates
// the arguments of its statements, large does not. A section that grows to
// more than twice listCap is cut to it as it is written, 0 for never.
func New(small, large *sqlx.DB, c cache.Cache, listCap int) *Store {
	s := &Store{small: small, large: large, cap: listCap}
	s.rows = cache.Reader[Row]{Cache: c, Key: rowKey, Unpack: unpackRow, Pack: packRow, Load: s.Fresh}
	s.heads = cache.Reader[head]{Cache: c, Key: headKey, Unpack: unpackHead, Pack: packHead, Load: s.loadHeads}
	return s
}

// columns of a row in the order of the statements below.
const columns = `bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks, archived_at, updated_at`

// Rows returns the rows of ids, through the cache. Every id is in the result;
// an account without a row has an empty list and Ver 0.
func (s *Store) Rows(ctx context.Context, ids []uint64) (map[uint64]Row, error) {
	return s.rows.Read(ctx, ids)
}

// Row returns one row, through the cache.
func (s *Store) Row(ctx context.Context, id uint64) (Row, error) {
	return s.rows.One(ctx, id)
}

// Fresh returns the rows of ids from the database, as of one moment.
func (s *Store) Fresh(ctx context.Context, ids []uint64) (map[uint64]Row, error) {
	return s.selectRows(ctx, s.small, ids, "")
}

// selectRows reads rows by primary key. Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) selectRows(ctx context.Context, q sqlx.QueryerContext, ids []uint64, lock string) (map[uint64]Row, error) {
	out := make(map[uint64]Row, len(ids))
	for _, id := range ids {
		out[id] = absent(id)
	}
	for part := range slices.Chunk(inOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		rows, err := q.QueryxContext(ctx, `SELECT account_id, ver, list, friends, followers, following, archived_at, updated_at FROM relation WHERE (bucket, account_id) IN (`+where+`) ORDER BY bucket, account_id`+lock, args...)
		if err != nil {
			return nil, fmt.Errorf("load %d relations: %w", len(part), db.Wrap(err))
		}
		if err := scanRows(rows, out); err != nil {
			return nil, fmt.Errorf("load %d relations: %w", len(part), db.Wrap(err))
		}
	}
	return out, nil
}

func scanRows(rows *sqlx.Rows, out map[uint64]Row) error {
	defer rows.Close()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.AccountID, &r.Ver, &r.List, &r.Friends, &r.Followers, &r.Following, &r.ArchivedAt, &r.UpdatedAt); err != nil {
			return err
		}
		out[r.AccountID] = r
	}
	return rows.Err()
}

// Counts returns the true counts of ids without their lists, through the cache.
func (s *Store) Counts(ctx context.Context, ids []uint64) (map[uint64]Counts, error) {
	heads, err := s.heads.Read(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64]Counts, len(heads))
	for id, h := range heads {
		out[id] = h.Counts
	}
	return out, nil
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
		err := s.small.SelectContext(ctx, &heads, `SELECT account_id, ver, friends, followers, following FROM relation WHERE (bucket, account_id) IN (`+where+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load counts of %d accounts: %w", len(part), db.Wrap(err))
		}
		for _, h := range heads {
			out[h.AccountID] = h
		}
	}
	return out, nil
}

// Swap stores rows (as Draft.Pack made them), each only where its ver is still
// one lower, all or none. It reports whether they won.
func (s *Store) Swap(ctx context.Context, rows []Row) (won bool, err error) {
	if !slices.ContainsFunc(rows, func(r Row) bool { return len(r.moves) > 0 }) {
		return s.judge(ctx, rows, s.swap(ctx, s.pool(rows), rows))
	}
	err = db.WithTx(ctx, s.large, func(tx *sqlx.Tx) error { return s.swapAll(ctx, tx, rows) })
	return s.judge(ctx, rows, err)
}

// swapAll swaps rows and stores their segments, inside a transaction.
func (s *Store) swapAll(ctx context.Context, tx *sqlx.Tx, rows []Row) error {
	if err := s.swap(ctx, tx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if err := storeMoves(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// pool picks the pool that sends these rows faster.
func (s *Store) pool(rows []Row) *sqlx.DB {
	for _, r := range rows {
		if len(r.List) > wideRow {
			return s.large
		}
	}
	return s.small
}

// judge turns what the swap statement answered into won, lost or an error.
func (s *Store) judge(ctx context.Context, rows []Row, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case db.Lost(err):
		return false, nil
	case db.OutcomeUnknown(err):
		return s.readBack(ctx, rows, err)
	default:
		return false, fmt.Errorf("swap %d relations: %w", len(rows), db.Wrap(err))
	}
}

// readBackTime bounds a read after an unknown outcome, whatever is left of the
// caller's own time.
const readBackTime = 5 * time.Second

// readBack finds out whether a swap with an unknown outcome took effect. Where
// that cannot be found out either, the cache forgets the rows, so that nobody
// is shown what may have been replaced.
func (s *Store) readBack(ctx context.Context, rows []Row, cause error) (bool, error) {
	if len(rows) == 0 {
		return false, nil // the connection went before anything was sent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	won, err := s.stored(ctx, rows)
	if err != nil {
		s.forget(ctx, rows)
		return false, fmt.Errorf("%w (after %w)", err, cause)
	}
	return won, nil
}

// stored reads rows back after an unknown outcome: true only if the database
// holds exactly these bytes and vers.
func (s *Store) stored(ctx context.Context, rows []Row) (bool, error) {
	ids := make([]uint64, len(rows))
	for i, r := range rows {
		ids[i] = r.AccountID
	}
	now, err := s.Fresh(ctx, ids)
	if err != nil {
		return false, fmt.Errorf("read back after a lost connection: %w", err)
	}
	for _, r := range rows {
		if have := now[r.AccountID]; have.Ver != r.Ver || !bytes.Equal(have.List, r.List) {
			return false, nil
		}
	}
	return true, nil
}

// swap sends the guarded bulk statement. Index: PRIMARY (bucket, account_id).
// Rows go in key order, so that two processes lock them in the same order.
func (s *Store) swap(ctx context.Context, x sqlx.ExecerContext, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	rows = slices.SortedFunc(slices.Values(rows), func(a, b Row) int { return repo.CompareKeys(a.AccountID, b.AccountID) })
	args := make([]any, 0, 12*len(rows))
	for _, r := range rows {
		v, err := r.View()
		if err != nil {
			return err
		}
		args = append(args, Bucket(r.AccountID), r.AccountID, r.Ver, r.List, r.Friends, r.Followers, r.Following,
			keptFollowers(v), keptFollowing(v), blocks(v), r.ArchivedAt, r.UpdatedAt)
	}
	_, err := x.ExecContext(ctx, swapSQL(len(rows)), args...)
	return err
}

func swapSQL(n int) string {
	return `INSERT INTO relation (` + columns + `) VALUES ` + db.Repeat(`(?,?,?,?,?,?,?,?,?,?,?,?)`, n) + guard
}

// guard lets a row through only where ver is one behind; ver is assigned last,
// since assignments run left to right, and underflows where it is not.
const guard = ` ON DUPLICATE KEY UPDATE
	list=IF(ver+1=VALUES(ver),VALUES(list),list),
	friends=IF(ver+1=VALUES(ver),VALUES(friends),friends),
	followers=IF(ver+1=VALUES(ver),VALUES(followers),followers),
	following=IF(ver+1=VALUES(ver),VALUES(following),following),
	kept_followers=IF(ver+1=VALUES(ver),VALUES(kept_followers),kept_followers),
	kept_following=IF(ver+1=VALUES(ver),VALUES(kept_following),kept_following),
	blocks=IF(ver+1=VALUES(ver),VALUES(blocks),blocks),
	archived_at=IF(ver+1=VALUES(ver),VALUES(archived_at),archived_at),
	updated_at=IF(ver+1=VALUES(ver),VALUES(updated_at),updated_at),
	ver=IF(ver+1=VALUES(ver),VALUES(ver),ver-ver-1)`

// inOrder returns ids in key order, each once.
func inOrder(ids []uint64) []uint64 {
	return slices.Compact(slices.SortedFunc(slices.Values(ids), repo.CompareKeys))
}
