package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kith/repo"
	"kith/repo/db"
)

// Row is a lease as it is stored.
type Row struct {
	Name   string `db:"name"`
	Holder string `db:"holder"` // empty: free
	Ver    uint64 `db:"ver"`
	TermMS int64  `db:"term_ms"`
	// LeftMS is what is left of the term by the database's clock, below 0 where
	// the holder is late. Good for people, not for deciding who leads.
	LeftMS int64 `db:"left_ms"`
}

// Free reports that the lease is free.
func (r Row) Free() bool { return r.Holder == "" }

func (r Row) term() time.Duration { return time.Duration(r.TermMS) * time.Millisecond }

// Who is a holder as people know it: host and process, without the token by which two
// leases of one process differ.
func Who(holder string) string {
	if at := strings.LastIndexByte(holder, ':'); at >= 0 {
		return holder[:at]
	}
	return holder
}

// now is the database's clock in unix milliseconds.
const now = `ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)`

// Show returns the lease of a name; repo.ErrNotFound where it was never held.
// Index: PRIMARY (bucket, name), one row.
func (s *Store) Show(ctx context.Context, name string) (Row, error) {
	var r Row
	err := s.cfg.DB.GetContext(ctx, &r, `SELECT name, holder, ver, term_ms, CAST(until_ms AS SIGNED) - CAST(`+now+` AS SIGNED) AS left_ms FROM lease WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name)
	if err != nil {
		return r, fmt.Errorf("read lease %s: %w", name, db.Wrap(err))
	}
	return r, nil
}

// read is Show where an absent row is one that is free.
func (s *Store) read(ctx context.Context, name string) (Row, error) {
	r, err := s.Show(ctx, name)
	if errors.Is(err, repo.ErrNotFound) {
		return Row{Name: name}, nil
	}
	return r, err
}

// put writes holder into the row that was read as r and reports whether it was
// still so. Index: PRIMARY (bucket, name), one row.
func (s *Store) put(ctx context.Context, r Row, holder string) (won bool, err error) {
	term := s.cfg.Term.Milliseconds()
	if r.Ver == 0 {
		_, err = s.cfg.DB.ExecContext(ctx, `INSERT INTO lease (bucket, name, holder, ver, term_ms, until_ms) VALUES (?, ?, ?, 1, ?, `+now+` + ?)`,
			repo.NameBucket(r.Name), r.Name, holder, term, term)
		if db.Classify(err) == db.Duplicate {
			return false, nil
		}
		return err == nil, err
	}
	res, err := s.cfg.DB.ExecContext(ctx, `UPDATE lease SET holder = ?, ver = ver + 1, term_ms = ?, until_ms = `+now+` + ? WHERE bucket = ? AND name = ? AND ver = ?`,
		holder, term, term, repo.NameBucket(r.Name), r.Name, r.Ver)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
