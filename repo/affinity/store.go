package affinity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/interaction"
	"kith/repo/row"
)

// Store reads and swaps affinity rows. It is safe for concurrent use.
type Store struct {
	*row.Store[Row]
	cache cache.Cache
}

// New makes a store. Bytes that cannot be read count as empty and go to the log:
// affinity grows again, and a page of friends must not fail for it.
func New(pool *sqlx.DB, c cache.Cache, log *slog.Logger) *Store {
	return &Store{cache: c, Store: row.New(pool, c, row.Kind[Row]{
		Table:   `affinity`,
		Columns: []string{`list`},
		Meta:    func(r *Row) *row.Meta { return &r.Meta },
		Empty:   func(m row.Meta) Row { return Row{Meta: m} },
		Scan: func(r *Row, scan func(...any) error) error {
			var b []byte
			if err := scan(&b); err != nil {
				return err
			}
			if err := r.decode(b); err != nil {
				log.Error("affinity begins anew", "account", r.ID, "ver", r.Ver, "err", err)
				*r = Row{Meta: r.Meta}
			}
			return nil
		},
		Values: func(args []any, r *Row) ([]any, error) {
			b, err := r.encode()
			return append(args, b), err
		},
		Key:    "f2:",
		Pack:   func(r *Row) (value, body []byte) { return pack(r), nil },
		Unpack: func(m row.Meta, value, _ []byte, _ bool) (Row, error) { return unpack(m, value) },
	})}
}

// pack is the cached form; what cannot be packed is refused when it is read.
func pack(r *Row) []byte {
	b, _ := r.encode()
	return b
}

func unpack(m row.Meta, b []byte) (Row, error) {
	r := Row{Meta: m}
	return r, r.decode(b)
}

// Fold swaps rows, whose Ver is what was read and becomes the next, and deletes the
// batches that went into them, all of one bucket, all or nothing. It reports false, with
// nothing changed, where a row or batch was no longer as it was read. The caller then
// reads both again, as after an error: a batch that is gone was folded. now dates the rows.
func (s *Store) Fold(ctx context.Context, bucket uint16, rows []Row, batches []interaction.Batch, now uint32) (won bool, err error) {
	for i := range rows {
		rows[i].Meta = rows[i].Next(now)
	}
	won, err = s.Locked(ctx, nil, nil, func(tx *sqlx.Tx, _ map[uint64]Row) ([]Row, error) {
		return rows, interaction.Delete(ctx, tx, bucket, batches)
	})
	if errors.Is(err, repo.ErrConflict) { // a batch is gone
		return false, nil
	}
	if err != nil {
		s.Drop(ctx, rows)
		return false, fmt.Errorf("fold %d batches into %d affinities of bucket %d: %w", len(batches), len(rows), bucket, err)
	}
	return won, nil
}

// keptKey names a row as it was at one ver.
func keptKey(id, ver uint64) string {
	return "fo2:" + strconv.FormatUint(id, 36) + ":" + strconv.FormatUint(ver, 36)
}

// Keep caches a row as it now is, for pages of its order while folds change it. It may
// be gone at any time.
func (s *Store) Keep(ctx context.Context, r Row) {
	if r.Ver > 0 {
		s.cache.Fill(ctx, []cache.Entry{{Key: keptKey(r.ID, r.Ver), Ver: r.Ver, Value: pack(&r)}})
	}
}

// Kept returns a row as it was at ver, or wraps repo.ErrNotFound.
func (s *Store) Kept(ctx context.Context, id, ver uint64) (Row, error) {
	var held [1]cache.Held
	s.cache.Get(ctx, []string{keptKey(id, ver)}, held[:])
	if held[0].Found && held[0].Ver == ver {
		if r, err := unpack(row.Meta{ID: id, Ver: ver}, held[0].Value); err == nil {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("affinity of %d as of ver %d: %w", id, ver, repo.ErrNotFound)
}
