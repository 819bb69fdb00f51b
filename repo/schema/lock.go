package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"kith/repo"
	"kith/repo/db"
)

// LockTimeout is how long Up and DownOne wait for another process that
// migrates the same database.
const LockTimeout = 10 * time.Minute

// lockPoll is how long one GET_LOCK waits, in seconds: well below any read
// timeout of the connection.
const lockPoll = 2

// ErrLocked says that another process was migrating for all of LockTimeout.
var ErrLocked = errors.New("another process is migrating this database")

// lockName is different for each database of a server, because GET_LOCK is not,
// and has at most 64 bytes, which is the limit of GET_LOCK. SHA2, because MD5 is
// no longer among the functions of MySQL 9.
const lockName = `CONCAT('kith.migrate.', LEFT(SHA2(DATABASE(), 256), 32))`

// locked runs fn while a connection of its own holds the migration lock.
func (s *Schema) locked(ctx context.Context, fn func(context.Context) error) error {
	return s.lockedWithin(ctx, LockTimeout, fn)
}

func (s *Schema) lockedWithin(ctx context.Context, timeout time.Duration, fn func(context.Context) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap("lock migrations", err)
	}
	defer conn.Close()
	if err := getLock(ctx, conn, timeout); err != nil {
		return err
	}
	return errors.Join(fn(ctx), releaseLock(context.WithoutCancel(ctx), conn))
}

// getLock asks in short rounds, so that a connection with a read timeout does
// not take a long wait for a dead server.
func getLock(ctx context.Context, conn *sql.Conn, timeout time.Duration) error {
	for start := time.Now(); ; {
		var got sql.NullInt64
		err := conn.QueryRowContext(ctx, `SELECT GET_LOCK(`+lockName+`, ?)`, lockPoll).Scan(&got)
		if err != nil {
			return wrap("lock migrations", err)
		}
		if got.Int64 == 1 {
			return nil
		}
		if time.Since(start) >= timeout {
			return fmt.Errorf("%w: %w: waited %s%s", repo.ErrUnavailable, ErrLocked, timeout, holder(ctx, conn))
		}
	}
}

// holder names the connection that has the lock, for the message.
func holder(ctx context.Context, conn *sql.Conn) string {
	var id sql.NullInt64
	err := conn.QueryRowContext(ctx, `SELECT IS_USED_LOCK(`+lockName+`)`).Scan(&id)
	if err != nil || !id.Valid {
		return ""
	}
	return fmt.Sprintf(", the lock is held by connection %d (SHOW PROCESSLIST)", id.Int64)
}

// releaseLock gives the lock back on the connection that took it. A lock that
// is gone means that its connection was lost meanwhile and that somebody else
// may have migrated too, which the caller should know.
func releaseLock(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var released sql.NullInt64
	err := conn.QueryRowContext(ctx, `SELECT RELEASE_LOCK(`+lockName+`)`).Scan(&released)
	if err != nil {
		return fmt.Errorf("unlock migrations: the lock was lost on the way: %w", db.Wrap(err))
	}
	if released.Int64 != 1 {
		return errors.New("unlock migrations: the lock was lost on the way")
	}
	return nil
}
