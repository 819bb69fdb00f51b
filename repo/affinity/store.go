package affinity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/interaction"
)

// Bounds of one statement: MariaDB turns longer IN lists into temporary tables,
// and full rows must fit the packet size many times over.
const (
	MaxRows   = 480
	swapBytes = 1 << 20
)

// Store reads and swaps affinity rows. It is safe for concurrent use.
type Store struct {
	db    *sqlx.DB
	cache cache.Cache
	rows  cache.Reader[Row]
	log   *slog.Logger
}

// New makes a store over a database. log is told of rows whose bytes are bad.
func New(pool *sqlx.DB, c cache.Cache, log *slog.Logger) *Store {
	s := &Store{db: pool, cache: c, log: log}
	s.rows = cache.Reader[Row]{Cache: c, Key: rowKey, Unpack: unpack, Pack: pack, Load: s.Fresh}
	return s
}

func rowKey(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "f2:"...), id, 36) }

// keptKey names a row as it was at one ver.
func keptKey(id, ver uint64) string {
	return "fo2:" + strconv.FormatUint(id, 36) + ":" + strconv.FormatUint(ver, 36)
}

func pack(r Row) cache.Entry {
	b, err := r.encode()
	if r.Ver == 0 || err != nil {
		return cache.Entry{}
	}
	return cache.Entry{Ver: r.Ver, Value: b}
}

func unpack(id uint64, e cache.Entry) (Row, error) {
	r := Row{AccountID: id, Ver: e.Ver}
	if e.Ver == 0 {
		return r, nil
	}
	return r, r.decode(e.Value)
}

// Row returns the row of an account, through the cache; Ver 0 where it has none.
func (s *Store) Row(ctx context.Context, id uint64) (Row, error) {
	return s.rows.One(ctx, id)
}

// Fresh returns the rows of ids from the database, with an empty one for each
// that has none. Bytes that cannot be read count as empty and are told to the
// log: affinity grows again, and a page of friends must not fail for it.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) Fresh(ctx context.Context, ids []uint64) (map[uint64]Row, error) {
	out := make(map[uint64]Row, len(ids))
	for _, id := range ids {
		out[id] = Row{AccountID: id}
	}
	for part := range slices.Chunk(ids, MaxRows) {
		var found []struct {
			AccountID uint64 `db:"account_id"`
			Ver       uint64 `db:"ver"`
			List      []byte `db:"list"`
		}
		in, args := db.Keys(part)
		err := s.db.SelectContext(ctx, &found, `SELECT account_id, ver, list FROM affinity WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load %d affinities: %w", len(part), db.Wrap(err))
		}
		for _, f := range found {
			r := Row{AccountID: f.AccountID, Ver: f.Ver}
			if err := r.decode(f.List); err != nil {
				s.log.Error("affinity begins anew", "account", f.AccountID, "ver", f.Ver, "err", err)
				r = Row{AccountID: f.AccountID, Ver: f.Ver}
			}
			out[f.AccountID] = r
		}
	}
	return out, nil
}

// Fold swaps rows, whose Ver is what was read and becomes the next, and deletes the
// batches that went into them, all of one bucket, all or nothing. It reports
// false, and nothing is changed, where a row or batch was no longer as it was
// read; the caller reads both again. So it does after an error too: a batch that
// is gone was folded. now dates the rows.
func (s *Store) Fold(ctx context.Context, bucket uint16, rows []Row, batches []interaction.Batch, now uint32) (won bool, err error) {
	step := repo.Step()
	for i := range rows {
		rows[i].Ver += step
	}
	packed, err := packRows(rows, now)
	if err != nil {
		return false, err
	}
	err = db.WithTx(ctx, s.db, func(tx *sqlx.Tx) error {
		if err := interaction.Delete(ctx, tx, bucket, batches); err != nil {
			return err
		}
		for _, part := range statements(packed) {
			if err := swap(ctx, tx, part, step); err != nil {
				return err
			}
		}
		return nil
	})
	ids := make([]uint64, len(rows))
	for i, r := range rows {
		ids[i] = r.AccountID
	}
	switch {
	case err == nil:
		s.rows.Tell(ctx, ids, rows)
		return true, nil
	case errors.Is(err, repo.ErrConflict), db.Lost(err):
		return false, nil
	case db.OutcomeUnknown(err):
		s.rows.Forget(ctx, ids)
	}
	return false, fmt.Errorf("fold %d batches into %d affinities of bucket %d: %w", len(batches), len(rows), bucket, db.Wrap(err))
}

// packedRow is a row as it goes into a statement.
type packedRow struct {
	id, ver uint64
	list    []byte
	now     uint32
}

// packRows packs rows in key order, in which every process locks them.
func packRows(rows []Row, now uint32) ([]packedRow, error) {
	out := make([]packedRow, len(rows))
	for i, r := range rows {
		b, err := r.encode()
		if err != nil {
			return nil, fmt.Errorf("pack affinity of %d: %w", r.AccountID, err)
		}
		out[i] = packedRow{r.AccountID, r.Ver, b, now}
	}
	slices.SortFunc(out, func(a, b packedRow) int { return cmp.Compare(a.id, b.id) })
	return out, nil
}

// statements splits rows into what one statement takes.
func statements(rows []packedRow) [][]packedRow {
	var out [][]packedRow
	begin, size := 0, 0
	for i, r := range rows {
		if i > begin && (i-begin == MaxRows || size+len(r.list) > swapBytes) {
			out = append(out, rows[begin:i])
			begin, size = i, 0
		}
		size += len(r.list)
	}
	if begin < len(rows) {
		out = append(out, rows[begin:])
	}
	return out
}

// swap sends the guarded bulk statement: ver underflows, and the statement
// fails, where a row is not a step behind. Index: PRIMARY (bucket, account_id).
func swap(ctx context.Context, x sqlx.ExecerContext, rows []packedRow, step uint64) error {
	args := make([]any, 0, 5*len(rows)+3)
	for _, r := range rows {
		args = append(args, repo.Bucket(r.id), r.id, r.ver, r.list, r.now)
	}
	args = append(args, step, step, step)
	_, err := x.ExecContext(ctx, `INSERT INTO affinity (bucket, account_id, ver, list, updated_at) VALUES `+db.Repeat("(?,?,?,?,?)", len(rows))+
		` ON DUPLICATE KEY UPDATE list = IF(ver+?=VALUES(ver), VALUES(list), list), updated_at = IF(ver+?=VALUES(ver), VALUES(updated_at), updated_at), ver = IF(ver+?=VALUES(ver), VALUES(ver), ver-ver-1)`, args...)
	return err
}

// Keep holds a row as it is now in the cache, for who pages through its order
// while folds change it. It lasts as long as the cache likes.
func (s *Store) Keep(ctx context.Context, r Row) {
	e := pack(r)
	if e.Ver > 0 {
		e.Key = keptKey(r.AccountID, e.Ver)
		s.cache.Fill(ctx, []cache.Entry{e})
	}
}

// Kept returns a row as it was at ver, or wraps repo.ErrNotFound.
func (s *Store) Kept(ctx context.Context, id, ver uint64) (Row, error) {
	var held [1]cache.Held
	s.cache.Get(ctx, []string{keptKey(id, ver)}, held[:])
	if held[0].Found && held[0].Ver == ver {
		if r, err := unpack(id, held[0].Entry); err == nil {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("affinity of %d as of ver %d: %w", id, ver, repo.ErrNotFound)
}
