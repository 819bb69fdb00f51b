package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// within returns a context that a test cannot outlast.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// open opens a pool of the test's own on the shared database.
func open(t *testing.T, c db.Config) *sqlx.DB {
	t.Helper()
	if c.DSN == "" {
		c.DSN = dbtest.DSN(t)
	}
	pool, err := db.Open(within(t, 10*time.Second), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// rowsOf makes n relation rows and returns their account ids.
func rowsOf(t *testing.T, n int) []uint64 {
	t.Helper()
	ids := dbtest.IDs(t, n)
	for _, id := range ids {
		if err := insert(dbtest.DB(t), id); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

func insert(on sqlx.Execer, id uint64) error {
	_, err := on.Exec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following,
		kept_followers, kept_following, updated_at) VALUES (?, ?, 1, ?, 0, 0, 0, 0, 0, 0)`, repo.Bucket(id), id, []byte{1})
	return err
}

// touch changes, and so locks, the row of id.
func touch(ctx context.Context, on sqlx.ExecerContext, id uint64) error {
	_, err := on.ExecContext(ctx, `UPDATE relation SET ver = ver + 1 WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	return err
}

func verOf(t *testing.T, id uint64) (ver uint64) {
	t.Helper()
	err := dbtest.DB(t).Get(&ver, `SELECT ver FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	if err != nil {
		t.Fatal(err)
	}
	return ver
}
