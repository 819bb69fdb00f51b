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
		err := s.LockedWithin(t.Context(), 0, nothing)
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
		if err := s.LockedWithin(ctx, time.Minute, nothing); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if err := schema.ReleaseLock(t.Context(), conn); err != nil {
			t.Error(err)
		}
	})
	t.Run("ReleasedAfterError", func(t *testing.T) {
		failed := errors.New("failed")
		if err := s.LockedWithin(t.Context(), 0, func(context.Context) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("got %v, want the error of the function", err)
		}
		if err := s.LockedWithin(t.Context(), 0, nothing); err != nil {
			t.Errorf("got %v, want the lock to be free", err)
		}
	})
	// The server gives the lock of a dead process to the next one; the one that
	// lost it must hear of it.
	t.Run("Lost", func(t *testing.T) {
		err := s.LockedWithin(t.Context(), 0, func(ctx context.Context) error {
			var holder int64
			if err := dbtest.DB(t).Get(&holder, `SELECT IS_USED_LOCK(`+schema.LockName+`)`); err != nil {
				return err
			}
			if _, err := dbtest.DB(t).Exec(fmt.Sprintf(`KILL %d`, holder)); err != nil {
				return err
			}
			holdLock(t)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "the lock was lost") {
			t.Errorf("got %v, want to hear that the lock was lost", err)
		}
	})
}
