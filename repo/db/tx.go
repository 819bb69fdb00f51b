package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// WithTx runs fn in a transaction and commits when fn returns nil. When fn
// returns an error or panics the transaction is rolled back. Errors come as
// they are, so that Classify and Wrap work on them.
//
// fn must return the error of the statement that failed: after a deadlock the
// server has already ended the transaction, and statements that follow would
// take effect one by one. An error of the commit with OutcomeUnknown means
// what it says.
func WithTx(ctx context.Context, db *sqlx.DB, fn func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// Also on a panic of fn. After a commit it does nothing. Its error says
	// nothing new: a server that cannot be reached rolls back by itself.
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return ended(ctx, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", ended(ctx, err))
	}
	return nil
}

// ended says why a transaction was over before its end: a context that ends
// rolls it back, and what comes next only sees that it is gone.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// The pauses between tries double from retryFirst to retryMost, each shortened
// by up to half at random so that two losers do not meet again.
const (
	retryFirst = 2 * time.Millisecond
	retryMost  = 100 * time.Millisecond
)

// Retry runs fn, the whole transaction, until it returns anything but a deadlock or a
// lock wait, tries times at most, and returns the last error; where ctx ended, together
// with that of ctx.
func Retry(ctx context.Context, tries int, fn func(ctx context.Context) error) error {
	pause := retryFirst
	for try := 1; ; try++ {
		err := fn(ctx)
		if class := Classify(err); class != Deadlock && class != LockWait || try >= tries {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause = min(2*pause, retryMost)
	}
}
