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

// lockBeat is how often the holder asks whether it still has the lock: well below the
// 30 seconds after which Vitess ends an idle connection.
const lockBeat = 5 * time.Second

// lockAnswer bounds the wait for the answer to such a question.
const lockAnswer = 10 * time.Second

// ErrLocked says that another process was migrating for all of LockTimeout.
var ErrLocked = errors.New("another process is migrating this database")

// errLockLost says that another process may have migrated meanwhile.
var errLockLost = errors.New("unlock migrations: the lock was lost on the way")

// lockName is different for each database of a server, because GET_LOCK is not,
// and has at most 64 bytes, which is the limit of GET_LOCK. SHA2, because MD5 is
// no longer among the functions of MySQL 9.
const lockName = `CONCAT('kith.migrate.', LEFT(SHA2(DATABASE(), 256), 32))`

// locked runs fn while a connection of its own holds the migration lock, and the table
// of migrations is there. Where the lock is lost the context of fn ends.
func (s *Schema) locked(ctx context.Context, fn func(context.Context) error) error {
	return s.lockedWithin(ctx, LockTimeout, lockBeat, func(ctx context.Context) error {
		if err := ensureTable(ctx, s.db); err != nil {
			return err
		}
		return fn(ctx)
	})
}

func (s *Schema) lockedWithin(ctx context.Context, timeout, beat time.Duration, fn func(context.Context) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap("lock migrations", err)
	}
	defer conn.Close()
	if err := getLock(ctx, conn, timeout); err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop, kept := make(chan struct{}), make(chan error)
	go func() {
		err := keepLock(whole, conn, beat, stop)
		if err != nil {
			cancel()
		}
		kept <- err
	}()
	err = fn(ctx)
	close(stop)
	if lost := <-kept; lost != nil {
		return errors.Join(err, lost)
	}
	return errors.Join(err, releaseLock(whole, conn))
}

// keepLock asks who has the lock until stop: an idle connection is ended, and its lock
// is free for others.
func keepLock(ctx context.Context, conn *sql.Conn, beat time.Duration, stop <-chan struct{}) error {
	mine, err := lockHolder(ctx, conn)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		if err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-ticker.C:
		}
		var now int64
		if now, err = lockHolder(ctx, conn); err == nil && now != mine {
			err = errLockLost
		}
	}
}

// lockHolder returns the connection that has the lock, as the server counts them.
func lockHolder(ctx context.Context, conn *sql.Conn) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, lockAnswer)
	defer cancel()
	var id sql.NullInt64
	if err := conn.QueryRowContext(ctx, `SELECT IS_USED_LOCK(`+lockName+`)`).Scan(&id); err != nil {
		return 0, fmt.Errorf("%w: %w", errLockLost, db.Wrap(err))
	}
	return id.Int64, nil
}

// getLock asks in short rounds: a long wait would run into the connection's read timeout.
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
			id, _ := lockHolder(ctx, conn)
			return fmt.Errorf("%w: %w: waited %s, the lock is held by connection %d (SHOW PROCESSLIST)", repo.ErrUnavailable, ErrLocked, timeout, id)
		}
	}
}

// releaseLock gives the lock back on the connection that took it. Where the lock is
// gone the connection was lost meanwhile, and another process may have migrated too.
func releaseLock(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lockAnswer)
	defer cancel()
	var released sql.NullInt64
	err := conn.QueryRowContext(ctx, `SELECT RELEASE_LOCK(`+lockName+`)`).Scan(&released)
	if err != nil {
		return fmt.Errorf("%w: %w", errLockLost, db.Wrap(err))
	}
	if released.Int64 != 1 {
		return errLockLost
	}
	return nil
}
