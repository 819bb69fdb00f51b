package timeline

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/cache"
	"kith/repo/db"
	"kith/repo/event"
	"kith/repo/row"
)

// Row is a warm timeline: a line as it was written to the database. Its BuiltAt, the column
// covered_until, says how old it is: the reader looks in the author feeds for what came
// later, and for the events of Pulled. It is by the clock of who built the line, and author
// feeds may come late out of a cache, so the reader looks some minutes further back.
type Row struct {
	row.Meta
	Line
}

// Store keeps warm timelines. It is safe for concurrent use. The rows are in no cache: the
// hot line is that.
type Store struct {
	rows *row.Store[Row]
	db   *sqlx.DB
	now  func() time.Time
}

// NewStore makes a store; now dates the rows. A row whose bytes cannot be read counts as
// none, and log gets it: the timeline is made anew from the author feeds.
func NewStore(pool *sqlx.DB, now func() time.Time, log *slog.Logger) *Store {
	return &Store{db: pool, now: now, rows: row.New(pool, cache.NewNone(), row.Kind[Row]{
		Table:   `timeline`,
		Columns: []string{`list`, `pulled`, `floor_id`, `follows`, `covered_until`},
		Meta:    func(r *Row) *row.Meta { return &r.Meta },
		Empty:   func(m row.Meta) Row { return Row{Meta: m} },
		Scan: func(r *Row, scan func(...any) error) error {
			var list, pulled []byte
			var covered int64
			if err := scan(&list, &pulled, &r.Floor, &r.Follows, &covered); err != nil {
				return err
			}
			r.BuiltAt = time.UnixMilli(covered).UTC()
			if err := r.unpack(list, pulled); err != nil {
				log.Error("a warm timeline begins anew", "account", r.ID, "ver", r.Ver, "err", err)
				*r = Row{Meta: r.Meta}
			}
			return nil
		},
		Values: func(args []any, r *Row) ([]any, error) {
			list, err := event.AppendList(nil, r.Events)
			return append(args, list, appendIDs(nil, r.Pulled), r.Floor, r.Follows, r.BuiltAt.UnixMilli()), err
		},
		Pack:   func(*Row) (value, body []byte) { return nil, nil },
		Unpack: func(row.Meta, []byte, []byte, bool) (Row, error) { return Row{}, errWire },
	})}
}

// unpack reads the packed columns.
func (r *Row) unpack(list, pulled []byte) (err error) {
	var rest []byte
	if r.Events, err = event.ReadList(nil, list); err != nil {
		return err
	}
	if r.Pulled, rest, err = readIDs(pulled); err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: behind the pulled authors", errWire)
	}
	return err
}

// none reports whether there is no timeline: no row, a phantom, or bytes that could not be
// read.
func (r *Row) none() bool { return r.BuiltAt.IsZero() }

// Row returns the warm timeline of an account, or repo.ErrNotFound.
func (s *Store) Row(ctx context.Context, account uint64) (Row, error) {
	r, err := s.load(ctx, account)
	if err == nil && r.none() {
		err = fmt.Errorf("warm timeline of %d: %w", account, repo.ErrNotFound)
	}
	return r, err
}

func (s *Store) load(ctx context.Context, account uint64) (Row, error) {
	rows, err := s.rows.Fresh(ctx, []uint64{account})
	return rows[account], err
}

// Save writes a line, unless there is one that was built at the same time or later. It
// reports whether it did: not either where another process wrote at the same time.
func (s *Store) Save(ctx context.Context, account uint64, l Line) (saved bool, err error) {
	r, err := s.load(ctx, account)
	if err != nil || !r.none() && !r.BuiltAt.Before(l.BuiltAt) {
		return false, err
	}
	return s.rows.Swap(ctx, []Row{{Meta: r.Next(uint32(s.now().Unix())), Line: l.Cut(MaxEvents)}})
}

// Drop deletes the warm timeline of an account.
func (s *Store) Drop(ctx context.Context, account uint64) error {
	// Index: PRIMARY, one row.
	_, err := s.db.ExecContext(ctx, `DELETE FROM timeline WHERE bucket = ? AND account_id = ?`, repo.Bucket(account), account)
	if err != nil {
		return fmt.Errorf("drop the warm timeline of %d: %w", account, db.Wrap(err))
	}
	return nil
}

// Walk returns up to limit accounts with rows that come after an account in key order.
func (s *Store) Walk(ctx context.Context, after uint64, limit int) ([]repo.Aged, error) {
	return db.WalkAged(ctx, s.db, `timeline`, after, limit)
}

// Expire deletes those of accounts' rows that were last written before a time, in unix
// seconds, and returns how many.
func (s *Store) Expire(ctx context.Context, accounts []uint64, before uint32) (deleted int64, err error) {
	return db.ExpireAged(ctx, s.db, `timeline`, accounts, before)
}
