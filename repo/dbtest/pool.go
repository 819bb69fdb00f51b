package dbtest

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/mysqld"
)

// Open returns a pool of the test's own, which is closed when the test ends.
func Open(tb testing.TB, c db.Config) *sqlx.DB {
	tb.Helper()
	pool, err := db.Open(tb.Context(), c)
	if err != nil {
		tb.Fatalf("open a test database: %v", err)
	}
	tb.Cleanup(func() { pool.Close() })
	return pool
}

// OpenServer is Open with no database chosen.
func OpenServer(tb testing.TB, dsn string) *sqlx.DB {
	tb.Helper()
	pool, err := db.OpenServer(tb.Context(), db.Config{DSN: dsn, MaxOpen: 2})
	if err != nil {
		tb.Fatalf("open a test server: %v", err)
	}
	tb.Cleanup(func() { pool.Close() })
	return pool
}

// Durable starts a server that syncs every commit to disk, as one at work does,
// and stops it when the test ends. It has a folder of its own and no database.
func Durable(tb testing.TB) *mysqld.Server {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	server, err := mysqld.Start(ctx, mysqld.Options{Dir: tb.TempDir(), Durable: true})
	if err != nil {
		tb.Fatalf("start a durable server: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			tb.Errorf("stop a durable server: %v", err)
		}
	})
	return server
}

// DurableDSN returns what package db opens a new, unmigrated database on a
// Durable server with.
func DurableDSN(tb testing.TB) string {
	tb.Helper()
	const name = "kith"
	server := Durable(tb)
	if err := server.CreateDatabase(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	return server.DSN(name)
}
