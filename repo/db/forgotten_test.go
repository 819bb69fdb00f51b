package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// forgetful is a connection whose server, or what stands before it, forgets
// statements, which a real one does not do when it is asked to.
type forgetful struct {
	conn
	err              error // what an execution answers, once for each of left
	left             int
	prepared, closed int
}

func (f *forgetful) PrepareContext(context.Context, string) (driver.Stmt, error) {
	f.prepared++
	return &forgotten{on: f}, nil
}

type forgotten struct {
	stmt
	on *forgetful
}

func (s *forgotten) Close() error { s.on.closed++; return nil }

func (s *forgotten) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	if s.on.left > 0 {
		s.on.left--
		return nil, s.on.err
	}
	return driver.ResultNoRows, nil
}

// A kept statement that the server has forgotten is prepared anew, once; for one
// that was prepared just now the error goes up.
func TestKeeper_Forgotten(t *testing.T) {
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(1)}}
	for _, number := range []uint16{1243, 1615} {
		gone := &mysql.MySQLError{Number: number}
		f := &forgetful{err: gone}
		k := newKeeper(f)
		exec := func() error { _, err := k.ExecContext(t.Context(), "DO ?", args); return err }
		if err := exec(); err != nil {
			t.Fatal(err)
		}
		f.left = 1
		if err := exec(); err != nil || f.prepared != 2 || f.closed != 1 {
			t.Errorf("forgotten once: got %v, prepared %d, closed %d; want nil, 2, 1", err, f.prepared, f.closed)
		}
		f.left = 2
		if err := exec(); !errors.Is(err, gone) || f.prepared != 3 || f.closed != 3 {
			t.Errorf("forgotten twice: got %v, prepared %d, closed %d; want %v, 3, 3", err, f.prepared, f.closed, gone)
		}
		if err := exec(); err != nil || len(k.kept) != 1 || k.params != 1 {
			t.Errorf("afterwards: got %v, %d kept of %d parameters; want nil, 1, 1", err, len(k.kept), k.params)
		}
	}
}
