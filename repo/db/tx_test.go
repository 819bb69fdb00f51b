package db_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/dbtest"
)

func TestWithTx(t *testing.T) {
	ctx, stop := within(t, 15*time.Second), errors.New("stop")
	t.Run("Commits", func(t *testing.T) {
		id := rowsOf(t, 1)[0]
		err := db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error { return touch(ctx, tx, id) })
		if err != nil || verOf(t, id) != 2 {
			t.Errorf("got version %d, %v; want 2", verOf(t, id), err)
		}
	})
	t.Run("RollsBackOnError", func(t *testing.T) {
		id := rowsOf(t, 1)[0]
		err := db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error { return errors.Join(touch(ctx, tx, id), stop) })
		if !errors.Is(err, stop) || verOf(t, id) != 1 {
			t.Errorf("got version %d, %v; want 1 and the error of the function", verOf(t, id), err)
		}
	})
	t.Run("RollsBackOnPanic", func(t *testing.T) {
		id := rowsOf(t, 1)[0]
		defer func() {
			if got := recover(); got != stop || verOf(t, id) != 1 {
				t.Errorf("got version %d, panic %v; want 1 and the panic of the function", verOf(t, id), got)
			}
			want(t, touch(ctx, dbtest.DB(t), id), db.OK, nil)
		}()
		db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error {
			touch(ctx, tx, id)
			panic(stop)
		})
	})
	t.Run("ContextEnds", func(t *testing.T) {
		id := rowsOf(t, 1)[0]
		ctx, cancel := context.WithCancel(ctx)
		err := db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error {
			err := touch(ctx, tx, id)
			cancel()
			return err
		})
		if !errors.Is(err, context.Canceled) || db.Classify(err) != db.Unavailable {
			t.Errorf("got %v, want canceled", err)
		}
		// The rollback runs on its own; the next change of the row waits for it.
		if err := touch(within(t, 10*time.Second), dbtest.DB(t), id); err != nil || verOf(t, id) != 2 {
			t.Errorf("got version %d, %v; want 2: the transaction was rolled back", verOf(t, id), err)
		}
	})
	t.Run("NoServer", func(t *testing.T) {
		pool := open(t, db.Config{})
		pool.Close()
		err := db.WithTx(ctx, pool, func(*sqlx.Tx) error { t.Error("the function was called"); return nil })
		if err == nil {
			t.Error("got no error from a closed pool")
		}
	})
}

func TestRetry(t *testing.T) {
	ctx := within(t, 30*time.Second)
	t.Run("Deadlocks", func(t *testing.T) {
		ids, tries := rowsOf(t, 2), atomic.Int64{}
		run := func(a, b uint64) error {
			return db.Retry(ctx, 50, func(ctx context.Context) error {
				tries.Add(1)
				return db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error {
					if err := touch(ctx, tx, a); err != nil {
						return err
					}
					return touch(ctx, tx, b)
				})
			})
		}
		const rounds = 50
		errs := make(chan error)
		for _, pair := range [][2]uint64{{ids[0], ids[1]}, {ids[1], ids[0]}} {
			go func() {
				var err error
				for range rounds {
					err = errors.Join(err, run(pair[0], pair[1]))
				}
				errs <- err
			}()
		}
		if err := errors.Join(<-errs, <-errs); err != nil {
			t.Error(err)
		}
		if verOf(t, ids[0]) != 1+2*rounds || verOf(t, ids[1]) != 1+2*rounds {
			t.Errorf("got versions %d and %d, want %d: each change once", verOf(t, ids[0]), verOf(t, ids[1]), 1+2*rounds)
		}
		t.Logf("%d tries for %d transactions", tries.Load(), 2*rounds)
	})
	t.Run("GivesUp", func(t *testing.T) {
		ids, tries := rowsOf(t, 2), 0
		lost := deadlock(ctx, dbtest.DB(t), ids[0], ids[1])
		err := db.Retry(ctx, 3, func(context.Context) error { tries++; return lost })
		if tries != 3 || !errors.Is(err, lost) {
			t.Errorf("got %d tries, %v; want 3 and the last error", tries, err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		err = db.Retry(ended, 3, func(context.Context) error { return lost })
		if !errors.Is(err, lost) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the deadlock and the end of the context", err)
		}
	})
	t.Run("OtherErrors", func(t *testing.T) {
		tries, other := 0, errors.New("other")
		err := db.Retry(ctx, 3, func(context.Context) error { tries++; return other })
		if tries != 1 || err != other {
			t.Errorf("got %d tries, %v; want 1 and the error", tries, err)
		}
	})
}
