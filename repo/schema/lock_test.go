package schema_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/schema"
	migrations "kith/sql"
)

// holdLock takes the migration lock of the shared database on a connection of
// its own.
func holdLock(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := dbtest.DB(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := schema.GetLock(t.Context(), conn, 0); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestLock(t *testing.T) {
	s, err := schema.New(dbtest.DB(t), migrations.Migrations)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context) error { return nil }
	t.Run("TimesOut", func(t *testing.T) {
		conn := holdLock(t)
		err := s.LockedWithin(t.Context(), 0, time.Hour, nothing)
		if !errors.Is(err, schema.ErrLocked) || !errors.Is(err, repo.ErrUnavailable) || !strings.Contains(err.Error(), "held by connection") {
			t.Errorf("got %v, want ErrLocked that names the connection", err)
		}
		if err := schema.ReleaseLock(t.Context(), conn); err != nil {
			t.Error(err)
		}
	})
	t.Run("ContextEnds", func(t *testing.T) {
		conn := holdLock(t)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := s.LockedWithin(ctx, time.Minute, time.Hour, nothing); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if err := schema.ReleaseLock(t.Context(), conn); err != nil {
			t.Error(err)
		}
	})
	t.Run("ReleasedAfterError", func(t *testing.T) {
		failed := errors.New("failed")
		if err := s.LockedWithin(t.Context(), 0, time.Hour, func(context.Context) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("got %v, want the error of the function", err)
		}
		if err := s.LockedWithin(t.Context(), 0, time.Hour, nothing); err != nil {
			t.Errorf("got %v, want the lock to be free", err)
		}
	})
	// The server gives the lock of a dead process to the next one; the one that
	// lost it must hear of it.
	t.Run("Lost", func(t *testing.T) {
		err := s.LockedWithin(t.Context(), 0, time.Hour, func(context.Context) error {
			killHolder(t)
			holdLock(t)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "the lock was lost") {
			t.Errorf("got %v, want to hear that the lock was lost", err)
		}
	})
	t.Run("LostMeanwhile", func(t *testing.T) {
		err := s.LockedWithin(t.Context(), time.Minute, time.Millisecond, func(ctx context.Context) error {
			killHolder(t)
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Second):
				t.Error("the work goes on without the lock")
			}
			return ctx.Err()
		})
		if err == nil || !strings.Contains(err.Error(), "the lock was lost") {
			t.Errorf("got %v, want to hear that the lock was lost", err)
		}
	})
}

// killHolder ends the connection that has the migration lock.
func killHolder(t *testing.T) {
	t.Helper()
	var holder int64
	if err := dbtest.DB(t).Get(&holder, `SELECT IS_USED_LOCK(`+schema.LockName+`)`); err != nil {
		t.Fatal(err)
	}
	if _, err := dbtest.DB(t).Exec(fmt.Sprintf(`KILL %d`, holder)); err != nil {
		t.Fatal(err)
	}
}

// A migration that takes longer than the server keeps a connection that says nothing.
func TestLock_Idle(t *testing.T) {
	pool := dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 2})
	conns := make([]*sql.Conn, 2) // all that the pool has
	for i := range conns {
		var err error
		if conns[i], err = pool.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := conns[i].ExecContext(t.Context(), `SET wait_timeout = 1`); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range conns {
		c.Close() // gives it back
	}
	s, err := schema.New(pool, migrations.Migrations)
	if err != nil {
		t.Fatal(err)
	}
	err = s.LockedWithin(t.Context(), time.Minute, 100*time.Millisecond, func(ctx context.Context) error {
		_, err := pool.ExecContext(ctx, `DO SLEEP(2.5)`) // a statement under way is not idle
		return err
	})
	if err != nil {
		t.Errorf("got %v, want that the lock is kept", err)
	}
}
