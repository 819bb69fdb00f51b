package row

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
)

// Meta is what every row has apart from its content; a kind of row embeds it.
type Meta struct {
	ID        uint64 `db:"id"`         // of the account or the post that the row is of
	Ver       uint64 `db:"ver"`        // 0: there is no row yet
	UpdatedAt uint32 `db:"updated_at"` // unix seconds; 0 in a row that comes from the cache

	past  uint64      // a ver that the next one must be higher than
	step  uint64      // what a swap raised Ver by, 0 until then
	token cache.Token // of the cache entry that this row, or the one before it, was read from
}

// neverUpdated dates a phantom.
const neverUpdated = 0

// Next is the Meta of the row that is to replace this one, dated now (unix seconds). Its
// Ver is still the one that was read, until it is swapped.
func (m Meta) Next(now uint32) Meta {
	m.UpdatedAt, m.step = max(now, neverUpdated+1), 0
	return m
}

// Past has the next ver be higher than another one, too.
func (m *Meta) Past(ver uint64) { m.past = max(m.past, ver) }

// Last is the ver that the next one will be higher than.
func (m *Meta) Last() uint64 { return max(m.Ver, m.past) }

// Kind says how the rows R of one table are read and written.
type Kind[R any] struct {
	Table   string
	ID      string   // the column of Meta.ID, the last of the primary key; empty: account_id
	Columns []string // without the bucket and those of Meta; the first is the long one
	Meta    func(*R) *Meta
	// Empty is the row of an account that has none.
	Empty func(Meta) R
	// Scan reads the content: scan takes where Columns go, in their order. The first may
	// come empty, where only the rest was asked for (Heads).
	Scan func(r *R, scan func(columns ...any) error) error
	// Values appends the content as it is stored, in the order of Columns.
	Values func(args []any, r *R) ([]any, error)

	// Key begins the names of cache entries; it carries the version of their form.
	Key string
	// Pack writes the cached form, see cache.Entry.
	Pack func(r *R) (value, body []byte)
	// Unpack reads it. A partial one comes without its body.
	Unpack func(m Meta, value, body []byte, partial bool) (R, error)

	// Attached reports whether a row brings more than itself; Attach stores what rows
	// bring, in the transaction that swaps them, after the swap. A kind may have none.
	Attached func(*R) bool
	Attach   func(ctx context.Context, tx *sqlx.Tx, rows []*R) error

	// Redo says that edits find out whether a former try stored them, so that they can be
	// done again even where others have changed the rows since.
	Redo bool
}

// ids returns whose rows these are.
func (k *Kind[R]) ids(rows []R) []uint64 {
	ids := make([]uint64, len(rows))
	for i := range rows {
		ids[i] = k.Meta(&rows[i]).ID
	}
	return ids
}

// MaxRows is how many rows one statement reads or writes at most.
const MaxRows = db.MaxKeys

// MaxHeld is how many rows one Locked takes as held.
const MaxHeld = 2

// Store reads and swaps the rows of one table. It is safe for concurrent use.
type Store[R any] struct {
	kind    Kind[R]
	db      *sqlx.DB
	rows    cache.Reader[R]
	meta    string // columns of a SELECT: those of Meta
	long    string // the first of Columns
	columns string // the others
	insert  string // up to VALUES
	group   string // of placeholders, for one row
	update  string // what ON DUPLICATE KEY does to the columns
}

// New makes a store of one kind of row.
func New[R any](pool *sqlx.DB, c cache.Cache, k Kind[R]) *Store[R] {
	k.ID = cmp.Or(k.ID, "account_id")
	s := &Store[R]{kind: k, db: pool, meta: k.ID + ` AS id, ver, updated_at, `, long: k.Columns[0]}
	s.columns = strings.Join(append([]string{""}, k.Columns[1:]...), ", ")
	s.insert = `INSERT INTO ` + k.Table + ` (bucket, ` + k.ID + `, ver, ` + s.long + s.columns + `, updated_at) VALUES `
	s.group = `(?,?,?,?` + strings.Repeat(`,?`, len(k.Columns)) + `)`
	for _, c := range k.Columns {
		s.update += c + `=VALUES(` + c + `), `
	}
	s.rows = cache.Reader[R]{Cache: c, Key: s.key, Unpack: s.unpack, Pack: s.pack, Load: s.Fresh, LoadHeads: s.loadHeads, Vers: s.Vers}
	return s
}

// Rows returns the row of each id, in their order, through the cache; one with Ver 0
// where there is none.
func (s *Store[R]) Rows(ctx context.Context, ids []uint64) ([]R, error) { return s.rows.Read(ctx, ids) }

// Cached returns those rows of ids that are in the cache, and the places of the others.
func (s *Store[R]) Cached(ctx context.Context, ids []uint64) (rows []R, missing []int) {
	return s.rows.Cached(ctx, ids)
}

// Row is Rows of one.
func (s *Store[R]) Row(ctx context.Context, id uint64) (R, error) { return s.rows.One(ctx, id) }

// Heads is Rows without a need for the lists, which may be empty: see cache.Cache.
func (s *Store[R]) Heads(ctx context.Context, ids []uint64) ([]R, error) {
	return s.rows.Heads(ctx, ids)
}

// Fresh returns the rows of ids from the database, as of one moment.
func (s *Store[R]) Fresh(ctx context.Context, ids []uint64) (map[uint64]R, error) {
	return s.load(ctx, s.db, ids, s.long, nil, "")
}

// Load is Fresh within a transaction or on a pool.
func (s *Store[R]) Load(ctx context.Context, q sqlx.QueryerContext, ids []uint64) (map[uint64]R, error) {
	return s.load(ctx, q, ids, s.long, nil, "")
}

func (s *Store[R]) loadHeads(ctx context.Context, ids []uint64) (map[uint64]R, error) {
	return s.load(ctx, s.db, ids, `''`, nil, "")
}

// Lock is Load under the locks of the rows, until the transaction ends.
func (s *Store[R]) Lock(ctx context.Context, tx *sqlx.Tx, ids []uint64) (map[uint64]R, error) {
	return s.lock(ctx, tx, ids, nil)
}

// lock reads rows under their locks. Lists of held that are current are not sent again.
func (s *Store[R]) lock(ctx context.Context, tx *sqlx.Tx, ids []uint64, held []R) (map[uint64]R, error) {
	if len(held) == 0 {
		return s.load(ctx, tx, ids, s.long, nil, ` FOR UPDATE`)
	}
	args := make([]any, 0, 2*MaxHeld)
	for i := range MaxHeld { // always as many, so that few texts are kept
		m := s.kind.Meta(&held[min(i, len(held)-1)])
		args = append(args, m.ID, m.Ver)
	}
	rows, err := s.load(ctx, tx, ids, `IF((`+s.kind.ID+`, ver) IN (`+db.Repeat(`(?,?)`, MaxHeld)+`), '', `+s.long+`)`, args, ` FOR UPDATE`)
	for i := range held {
		m := s.kind.Meta(&held[i])
		if r, ok := rows[m.ID]; ok && s.kind.Meta(&r).Ver == m.Ver && s.kind.Meta(&r).UpdatedAt != neverUpdated {
			rows[m.ID] = held[i]
		}
	}
	return rows, err
}

// byKey keeps MariaDB from weighing a list of keys against other indexes that begin with the
// bucket, in time that grows with the square of their number: for 40 posts it took 50 ms,
// and 0.2 ms so.
const byKey = ` FORCE INDEX (PRIMARY)`

// load reads rows by primary key, the long column by an expression with arguments.
// Index: PRIMARY (bucket, id), one range an id.
func (s *Store[R]) load(ctx context.Context, q sqlx.QueryerContext, ids []uint64, long string, args []any, lock string) (map[uint64]R, error) {
	out := make(map[uint64]R, len(ids))
	for _, id := range ids {
		out[id] = s.kind.Empty(Meta{ID: id})
	}
	for part := range slices.Chunk(repo.InOrder(ids), MaxRows) {
		where, keys := db.Keys(padded(part, lock != ""))
		rows, err := q.QueryxContext(ctx, `SELECT `+s.meta+long+s.columns+` FROM `+s.kind.Table+byKey+
			` WHERE (bucket, `+s.kind.ID+`) IN (`+where+`) ORDER BY bucket, `+s.kind.ID+lock, append(slices.Clip(args), keys...)...)
		if err == nil {
			err = s.scan(rows, func(id uint64, r R) error {
				out[id] = r
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("load %d rows of %s: %w", len(part), s.kind.Table, db.Wrap(err))
		}
	}
	return out, nil
}

// scan hands rows to each as they arrive.
func (s *Store[R]) scan(rows *sqlx.Rows, each func(id uint64, r R) error) error {
	defer rows.Close()
	for rows.Next() {
		var r R
		m := s.kind.Meta(&r)
		err := s.kind.Scan(&r, func(columns ...any) error {
			return rows.Scan(append([]any{&m.ID, &m.Ver, &m.UpdatedAt}, columns...)...)
		})
		if m.UpdatedAt == neverUpdated {
			r = s.kind.Empty(*m) // a phantom
		}
		if err == nil {
			err = each(m.ID, r)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// Walk hands up to limit rows that come after an id in key order (0 for the first)
// to each, as they arrive: one is in memory at a time. An error of each ends the walk.
// Index: PRIMARY (bucket, id), a range in each bucket.
func (s *Store[R]) Walk(ctx context.Context, after uint64, limit int, each func(R) error) error {
	err := db.Walk(ctx, s.db, s.kind.Table, after, db.LastKey, limit, func(p db.Part) (n int, err error) {
		rows, err := s.db.QueryxContext(ctx, `SELECT `+s.meta+s.long+s.columns+` FROM `+s.kind.Table+
			` WHERE bucket = ? AND `+s.kind.ID+` > ? AND `+s.kind.ID+` <= ? ORDER BY `+s.kind.ID+` LIMIT ?`, p.Bucket, p.After, p.Last, p.Limit)
		if err == nil {
			err = s.scan(rows, func(id uint64, r R) error {
				if b := repo.Bucket(id); b != p.Bucket {
					return fmt.Errorf("a row of account %d lies in bucket %d, where nothing finds it: move it to bucket %d with SQL, or delete it", id, p.Bucket, b)
				}
				n++
				return each(r)
			})
		}
		return n, db.Wrap(err)
	})
	if err != nil {
		return fmt.Errorf("walk %s after %d: %w", s.kind.Table, after, err)
	}
	return nil
}

// Vers returns the vers of those of ids that have a row, from the database.
func (s *Store[R]) Vers(ctx context.Context, ids []uint64) (map[uint64]uint64, error) {
	rows, err := s.stored(ctx, ids, `''`, "")
	if err != nil {
		return nil, fmt.Errorf("load the vers of %d rows of %s: %w", len(ids), s.kind.Table, err)
	}
	out := make(map[uint64]uint64, len(rows))
	for id, r := range rows {
		out[id] = r.Ver
	}
	return out, nil
}

// stored is a row as it is in the database, whatever its long column says.
type stored struct {
	Meta
	Content []byte `db:"content"`
}

// stored reads rows as they are, phantoms too, the long column by an expression. With a
// lock it waits for transactions that have them. Index: PRIMARY (bucket, id), one range an
// id.
func (s *Store[R]) stored(ctx context.Context, ids []uint64, long, lock string) (map[uint64]stored, error) {
	out := make(map[uint64]stored, len(ids))
	for part := range slices.Chunk(repo.InOrder(ids), MaxRows) {
		where, args := db.Keys(part)
		var rows []stored
		err := s.db.SelectContext(ctx, &rows, `SELECT `+s.meta+long+` AS content FROM `+s.kind.Table+byKey+` WHERE (bucket, `+s.kind.ID+`) IN (`+where+`)`+lock, args...)
		if err != nil {
			return nil, db.Wrap(err)
		}
		for _, r := range rows {
			out[r.ID] = r
		}
	}
	return out, nil
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

// Key names the cache entry of a row.
func (s *Store[R]) Key(id uint64) string { return string(s.key(nil, id)) }

func (s *Store[R]) key(b []byte, id uint64) []byte {
	return strconv.AppendUint(append(b, s.kind.Key...), id, 36)
}

func (s *Store[R]) pack(r R) cache.Entry {
	m := s.kind.Meta(&r)
	if m.Ver == 0 {
		return cache.Entry{}
	}
	value, body := s.kind.Pack(&r)
	return cache.Entry{Ver: m.Ver, Value: value, Body: body, Token: m.token}
}

func (s *Store[R]) unpack(id uint64, e cache.Entry) (R, error) {
	m := Meta{ID: id, Ver: e.Ver, token: e.Token}
	if e.Ver == 0 {
		return s.kind.Empty(m), nil
	}
	return s.kind.Unpack(m, e.Value, e.Body, e.Partial)
}

// Put puts committed rows into the cache.
func (s *Store[R]) Put(ctx context.Context, rows []R) { s.rows.Put(ctx, s.kind.ids(rows), rows) }

// Drop drops what the cache holds of rows that may have been written.
func (s *Store[R]) Drop(ctx context.Context, rows []R) { s.rows.Forget(ctx, s.kind.ids(rows)) }
