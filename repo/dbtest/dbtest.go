// Package dbtest gives tests a real database: one private server for each test
// binary, one migrated database in it, fresh account ids for each test.
//
//	func TestMain(m *testing.M) { dbtest.Main(m) }
//
//	func TestStore_Swap(t *testing.T) {
//		store := relation.New(dbtest.DB(t))
//		id := dbtest.IDs(t, 1)[0]
//		...
//
// The server starts with the first test that asks, in a tenth of a second, and
// lives in memory. KITH_TEST_MYSQL_DSN names another server to use instead;
// the databases made there have names of their own and are dropped at the end.
// Nothing else should use it: tests of package db lower its limit of connections
// for a moment. A machine without a server is a failure that says what to install.
package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/mysqld"
	"kith/repo/schema"
	"kith/sql"
)

// Env names a server to use instead of a private one, as a DSN whose user may
// create databases. The database it names is not touched.
const Env = "KITH_TEST_MYSQL_DSN"

// patience bounds each step of the harness.
const patience = 60 * time.Second

// firstID is where fresh account ids begin: high enough that a test may use
// small numbers of its own.
const firstID = 1000

// harness is what the tests of one binary share.
type harness struct {
	mu       sync.Mutex
	server   *mysqld.Server
	admin    *sqlx.DB
	adminDSN string
	dropped  []string // databases to drop at the end
	shared   *sqlx.DB
	dsn      string
	plans    map[string]*plans // by the database they are for
	err      error             // of the start, which is not tried again
	lastID   atomic.Uint64
}

var h harness

// Main runs the tests and stops what they started. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if err := h.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "dbtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// DB returns the pool of this package's database, migrated. It is shared by
// all tests of the binary; do not close it.
func DB(tb testing.TB) *sqlx.DB {
	tb.Helper()
	h.with(tb, func(ctx context.Context) error {
		if h.shared != nil {
			return nil
		}
		var pool *sqlx.DB
		if pool, h.dsn, h.err = h.create(ctx, newName()); h.err != nil {
			return h.err
		}
		h.shared, h.err = pool, migrate(ctx, pool)
		return h.err
	})
	return h.shared
}

// DSN returns what package db opens the database of DB with, for tests that
// need pools of their own.
func DSN(tb testing.TB) string {
	tb.Helper()
	DB(tb)
	return h.dsn
}

// Fresh returns a pool on a new, empty, unmigrated database of the test's own.
// Both are gone when the test ends.
func Fresh(tb testing.TB) *sqlx.DB {
	tb.Helper()
	pool, _ := fresh(tb)
	return pool
}

// FreshDSN is Fresh for tests that open the new database themselves.
func FreshDSN(tb testing.TB) string {
	tb.Helper()
	_, dsn := fresh(tb)
	return dsn
}

// ServerDSN returns what db.OpenServer opens the server with.
func ServerDSN(tb testing.TB) string {
	tb.Helper()
	h.with(tb, func(context.Context) error { return nil })
	return h.adminDSN
}

// IDs returns n account ids that no test of this binary was given before. They
// fit in 32 bits and lie in as many buckets as there are.
func IDs(tb testing.TB, n int) []uint64 {
	tb.Helper()
	if n < 0 || n > 1<<24 {
		tb.Fatalf("dbtest.IDs: n is %d, want 0 to %d", n, 1<<24)
	}
	last := h.lastID.Add(uint64(n))
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = firstID + last - uint64(n) + uint64(i)
	}
	return ids
}

// Migrate brings the database of pool to kith's schema.
func Migrate(tb testing.TB, pool *sqlx.DB) {
	tb.Helper()
	if err := migrate(tb.Context(), pool); err != nil {
		tb.Fatal(err)
	}
}

// Open returns a pool of the test's own, which is closed when the test ends.
func Open(tb testing.TB, c db.Config) *sqlx.DB {
	tb.Helper()
	return opened(tb, c, db.Open)
}

// OpenServer is Open with no database chosen.
func OpenServer(tb testing.TB, dsn string) *sqlx.DB {
	tb.Helper()
	return opened(tb, db.Config{DSN: dsn, MaxOpen: 2}, db.OpenServer)
}

func opened(tb testing.TB, c db.Config, open func(context.Context, db.Config) (*sqlx.DB, error)) *sqlx.DB {
	tb.Helper()
	pool, err := open(tb.Context(), c)
	if err != nil {
		tb.Fatalf("open a test database: %v", err)
	}
	tb.Cleanup(func() { pool.Close() })
	return pool
}

// Durable starts a server that syncs every commit to disk, as one at work does,
// and stops it when the test ends. It has a folder of its own and no database.
func Durable(tb testing.TB) *mysqld.Server {
	tb.Helper()
	server, err := startDurable(tb, mysqld.Options{})
	if err != nil {
		tb.Fatalf("start a durable server: %v", err)
	}
	return server
}

func startDurable(tb testing.TB, o mysqld.Options) (*mysqld.Server, error) {
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	o.Dir, o.Durable = tb.TempDir(), true
	server, err := mysqld.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			tb.Errorf("stop a durable server: %v", err)
		}
	})
	return server, nil
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

// with starts the server, or finds the one that was named, and calls fn while no other
// test does.
func (h *harness) with(tb testing.TB, fn func(ctx context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.admin == nil && h.err == nil {
		h.err = h.start(ctx)
	}
	err := h.err
	if err == nil {
		err = fn(ctx)
	}
	if err != nil {
		tb.Fatalf("start a test database: %v", err)
	}
}

func (h *harness) start(ctx context.Context) (err error) {
	h.adminDSN = os.Getenv(Env)
	if h.adminDSN == "" {
		if h.server, err = mysqld.Start(ctx, mysqld.Options{}); err != nil {
			return err
		}
		h.adminDSN = h.server.DSN("")
	}
	h.admin, err = db.OpenServer(ctx, db.Config{DSN: h.adminDSN, MaxOpen: 4})
	return err
}

func fresh(tb testing.TB) (pool *sqlx.DB, dsn string) {
	tb.Helper()
	name := newName()
	h.with(tb, func(ctx context.Context) (err error) {
		pool, dsn, err = h.create(ctx, name)
		return err
	})
	tb.Cleanup(func() {
		pool.Close()
		if _, err := h.admin.Exec("DROP DATABASE IF EXISTS `" + name + "`"); err != nil {
			tb.Errorf("drop a test database: %v", err)
		}
	})
	return pool, dsn
}

// create makes a database and opens it.
func (h *harness) create(ctx context.Context, name string) (*sqlx.DB, string, error) {
	if _, err := h.admin.ExecContext(ctx, "CREATE DATABASE `"+name+"` DEFAULT CHARACTER SET utf8mb4"); err != nil {
		return nil, "", err
	}
	h.dropped = append(h.dropped, name)
	dsn, err := db.WithDatabase(h.adminDSN, name)
	if err != nil {
		return nil, "", err
	}
	pool, err := db.Open(ctx, db.Config{DSN: dsn})
	return pool, dsn, err
}

func migrate(ctx context.Context, pool *sqlx.DB) error {
	migrations, err := schema.New(pool, sql.Migrations)
	if err != nil {
		return err
	}
	_, err = migrations.Up(ctx)
	return err
}

// stop ends what start began. A named server loses the databases that were made on it.
func (h *harness) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server != nil {
		return h.server.Stop(ctx)
	}
	var errs []error
	for _, name := range h.dropped {
		_, err := h.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS `"+name+"`")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// newName returns a name that no other run on the same server has.
func newName() string { return "kith_test_" + rand.Text()[:16] }
