package suggest

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/row"
)

// maxTries is how often a lost swap is done again.
const maxTries = 20

// Store reads and changes suggest rows. It is safe for concurrent use.
type Store struct {
	rows *row.Store[Row]
	db   *sqlx.DB
	now  func() time.Time
}

// New makes a store; now dates the rows. A row whose bytes cannot be read counts as
// empty, and log gets it.
func New(pool *sqlx.DB, c cache.Cache, now func() time.Time, log *slog.Logger) *Store {
	return &Store{db: pool, now: now, rows: row.New(pool, c, row.Kind[Row]{
		Table:   `suggest`,
		Columns: []string{`list`, `made_at`},
		Meta:    func(r *Row) *row.Meta { return &r.Meta },
		Empty:   func(m row.Meta) Row { return Row{Meta: m} },
		Scan: func(r *Row, scan func(...any) error) error {
			var b []byte
			if err := scan(&b, &r.MadeAt); err != nil {
				return err
			}
			if err := r.decode(b); err != nil {
				log.Error("suggestions begin anew", "account", r.ID, "ver", r.Ver, "err", err)
				*r = Row{Meta: r.Meta}
			}
			return nil
		},
		Values: func(args []any, r *Row) ([]any, error) { return append(args, r.encode(), r.MadeAt), nil },
		Key:    "s2:",
		Pack: func(r *Row) (value, body []byte) {
			return append(binary.BigEndian.AppendUint32(nil, r.MadeAt), r.encode()...), nil
		},
		Unpack: func(m row.Meta, value, _ []byte, _ bool) (Row, error) {
			if len(value) < 4 {
				return Row{}, ErrFormat
			}
			r := Row{Meta: m, MadeAt: binary.BigEndian.Uint32(value)}
			return r, r.decode(value[4:])
		},
	})}
}

// Row returns the row of an account, through the cache; Ver 0 where it has none.
func (s *Store) Row(ctx context.Context, id uint64) (Row, error) { return s.rows.Row(ctx, id) }

// MadeAt returns when the suggestions of those of ids that have any were made.
// Index: PRIMARY (bucket, account_id), one range an id.
func (s *Store) MadeAt(ctx context.Context, ids []uint64) (map[uint64]uint32, error) {
	out := make(map[uint64]uint32, len(ids))
	for part := range slices.Chunk(ids, row.MaxRows) {
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

// Edit changes the row of an account: edit gets it as it is in the database and says
// whether it changed anything. It is called again after a lost swap; after too many the
// error wraps repo.ErrConflict.
func (s *Store) Edit(ctx context.Context, id uint64, edit func(*Row) bool) error {
	for range maxTries {
		rows, err := s.rows.Fresh(ctx, []uint64{id})
		if err != nil {
			return err
		}
		r := rows[id]
		if !edit(&r) {
			return nil
		}
		r.Meta = r.Next(uint32(s.now().Unix()))
		if won, err := s.rows.Swap(ctx, []Row{r}); won || err != nil {
			return err
		}
	}
	return fmt.Errorf("change the suggestions of %d: lost %d swaps: %w", id, maxTries, repo.ErrConflict)
}
