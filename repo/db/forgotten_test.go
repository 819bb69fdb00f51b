package db

import (
	"context"
	"database/sql/driver"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// forgetful is a connection whose server, or what stands before it, forgets
// statements, which a real one does not do when it is asked to.
type forgetful struct {
	driverConn
	err              error // what an execution answers, once for each of left
	left             int
	prepared, closed int
	texts            int // statements without
}

func (f *forgetful) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	f.texts++
	return driver.ResultNoRows, nil
}

func (f *forgetful) PrepareContext(context.Context, string) (driver.Stmt, error) {
	f.prepared++
	return &forgotten{on: f}, nil
}

type forgotten struct {
	driverStmt
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

// A kept statement that the server has forgotten is prepared anew, once; one that was
// prepared just now goes within the text.
func TestConn_Forgotten(t *testing.T) {
	args := []driver.NamedValue{{Ordinal: 1, Value: make([]byte, keptFrom)}}
	for _, number := range []uint16{1243, 1615} {
		f := &forgetful{err: &mysql.MySQLError{Number: number}}
		c := newConn(f, newBudget(1), nil)
		exec := func() error { _, err := c.ExecContext(t.Context(), "DO ?", args); return err }
		if err := exec(); err != nil {
			t.Fatal(err)
		}
		f.left = 1
		if err := exec(); err != nil || f.prepared != 2 || f.closed != 1 {
			t.Errorf("forgotten once: got %v, prepared %d, closed %d; want nil, 2, 1", err, f.prepared, f.closed)
		}
		f.left = 2
		if err := exec(); err != nil || f.prepared != 3 || f.closed != 3 || f.texts != 1 {
			t.Errorf("forgotten twice: got %v, prepared %d, closed %d, %d texts; want nil, 3, 3, 1", err, f.prepared, f.closed, f.texts)
		}
		if err := exec(); err != nil || len(c.kept) != 1 || c.bytes+c.budget.left.Load() != keptBytes {
			t.Errorf("afterwards: got %v, %d kept, %d bytes and %d left; want nil, 1, %d together", err, len(c.kept), c.bytes, c.budget.left.Load(), keptBytes)
		}
	}
}
