package suggest

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
)

// MaxRows bounds how many rows one statement reads.
const MaxRows = 480

// maxTries is how often a lost swap is done again.
const maxTries = 20

// Store reads and changes suggest rows. It is safe for concurrent use.
type Store struct {
	db   *sqlx.DB
	rows cache.Reader[Row]
	log  *slog.Logger
}

// New makes a store; the pool should interpolate arguments. log is told of rows
// whose bytes are bad.
func New(pool *sqlx.DB, c cache.Cache, log *slog.Logger) *Store {
	s := &Store{db: pool, log: log}
	s.rows = cache.Reader[Row]{Cache: c, Key: key, Unpack: unpack, Pack: pack, Load: s.load}
	return s
}

// The cached form is made_at and then the list.

func key(b []byte, id uint64) []byte { return strconv.AppendUint(append(b, "s2:"...), id, 36) }

func pack(r Row) cache.Entry {
	if r.Ver == 0 {
		return cache.Entry{}
	}
	return cache.Entry{Ver: r.Ver, Value: append(binary.BigEndian.AppendUint32(nil, r.MadeAt), r.encode()...)}
}

func unpack(id uint64, e cache.Entry) (Row, error) {
	r := Row{AccountID: id, Ver: e.Ver}
	if e.Ver == 0 {
		return r, nil
	}
	if len(e.Value) < 4 {
		return r, ErrFormat
	}
	r.MadeAt = binary.BigEndian.Uint32(e.Value)
	return r, r.decode(e.Value[4:])
}

// Row returns the row of an account, through the cache; Ver 0 where it has none.
func (s *Store) Row(ctx context.Context, id uint64) (Row, error) {
	return s.rows.One(ctx, id)
}

// load reads rows by primary key. A row whose bytes cannot be read counts as
// empty and is told to the log. Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) load(ctx context.Context, ids []uint64) (map[uint64]Row, error) {
	out := make(map[uint64]Row, len(ids))
	for _, id := range ids {
		out[id] = Row{AccountID: id}
	}
	for part := range slices.Chunk(ids, MaxRows) {
		var found []struct {
			AccountID uint64 `db:"account_id"`
			Ver       uint64 `db:"ver"`
			List      []byte `db:"list"`
			MadeAt    uint32 `db:"made_at"`
		}
		in, args := db.Keys(part)
		err := s.db.SelectContext(ctx, &found, `SELECT account_id, ver, list, made_at FROM suggest WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load %d suggestions: %w", len(part), db.Wrap(err))
		}
		for _, f := range found {
			r := Row{AccountID: f.AccountID, Ver: f.Ver, MadeAt: f.MadeAt}
			if err := r.decode(f.List); err != nil {
				s.log.Error("suggestions begin anew", "account", f.AccountID, "ver", f.Ver, "err", err)
				r = Row{AccountID: f.AccountID, Ver: f.Ver}
			}
			out[f.AccountID] = r
		}
	}
	return out, nil
}

// MadeAt returns when the suggestions of those of ids that have any were made.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) MadeAt(ctx context.Context, ids []uint64) (map[uint64]uint32, error) {
	out := make(map[uint64]uint32, len(ids))
	for part := range slices.Chunk(ids, MaxRows) {
		var found []struct {
			AccountID uint64 `db:"account_id"`
			MadeAt    uint32 `db:"made_at"`
		}
		in, args := db.Keys(part)
		err := s.db.SelectContext(ctx, &found, `SELECT account_id, made_at FROM suggest WHERE (bucket, account_id) IN (`+in+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("load the times of %d suggestions: %w", len(part), db.Wrap(err))
		}
		for _, f := range found {
			out[f.AccountID] = f.MadeAt
		}
	}
	return out, nil
}

// Edit changes the row of an account: edit gets it as it is in the database, may
// be called again where somebody else was first, and says whether it changed
// anything. It wraps repo.ErrConflict when it never came to be the first.
func (s *Store) Edit(ctx context.Context, id uint64, edit func(*Row) bool) error {
	for range maxTries {
		rows, err := s.load(ctx, []uint64{id})
		if err != nil {
			return err
		}
		r := rows[id]
		if !edit(&r) {
			return nil
		}
		won, err := s.swap(ctx, &r)
		if err != nil {
			return err
		}
		if won {
			s.rows.Tell(ctx, []uint64{id}, []Row{r})
			return nil
		}
	}
	return fmt.Errorf("change the suggestions of %d: lost %d swaps: %w", id, maxTries, repo.ErrConflict)
}

// swap stores a row where its ver is what was read, and gives it the next; ver
// underflows, and the statement fails, where it is not. A swap with an unknown outcome is an error:
// to suggest or to dismiss once more changes nothing.
// Index: PRIMARY (bucket, account_id).
func (s *Store) swap(ctx context.Context, r *Row) (won bool, err error) {
	step := repo.Step()
	r.Ver += step
	_, err = s.db.ExecContext(ctx, `INSERT INTO suggest (bucket, account_id, ver, list, made_at) VALUES (?, ?, ?, ?, ?)
		ON DUPLICATE KEY UPDATE list = IF(ver+?=VALUES(ver), VALUES(list), list), made_at = IF(ver+?=VALUES(ver), VALUES(made_at), made_at), ver = IF(ver+?=VALUES(ver), VALUES(ver), ver-ver-1)`,
		repo.Bucket(r.AccountID), r.AccountID, r.Ver, r.encode(), r.MadeAt, step, step, step)
	switch {
	case err == nil:
		return true, nil
	case db.Lost(err):
		return false, nil
	case db.OutcomeUnknown(err):
		s.rows.Forget(ctx, []uint64{r.AccountID})
	}
	return false, fmt.Errorf("swap the suggestions of %d: %w", r.AccountID, db.Wrap(err))
}
