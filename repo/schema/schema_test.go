package schema_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/schema"
	"kith/sql"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// files are migrations that each note that they ran.
func files(names ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, name := range names {
		table := strings.TrimSuffix(name, ".sql")
		out["migrations/"+name] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n" +
			"-- +goose Up\nCREATE TABLE IF NOT EXISTS t" + table + " (id INT PRIMARY KEY);\n" +
			"-- +goose Down\nDROP TABLE IF EXISTS t" + table + ";\n")}
	}
	return out
}

func open(t *testing.T, pool *sqlx.DB, fsys fs.FS) *schema.Schema {
	t.Helper()
	s, err := schema.New(pool, fsys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func up(t *testing.T, s *schema.Schema) []schema.Migration {
	t.Helper()
	done, err := s.Up(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func tables(t *testing.T, pool *sqlx.DB) string {
	t.Helper()
	var names []string
	if err := pool.Select(&names, `SHOW TABLES`); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestSchema_Up(t *testing.T) {
	pool := dbtest.Fresh(t)
	s := open(t, pool, files("00001_a.sql", "00002_b.sql"))
	if err := s.Check(within(t)); !errors.Is(err, schema.ErrOld) {
		t.Errorf("before: got %v, want ErrOld", err)
	}
	if got := tables(t, pool); got != "" {
		t.Errorf("Check left tables %s, want none", got)
	}
	done := up(t, s)
	if len(done) != 2 || done[0].Version != 1 || done[1].Name != "00002_b.sql" || !done[1].Applied {
		t.Errorf("got %v, want both migrations", done)
	}
	if got, want := tables(t, pool), "goose_db_version t00001_a t00002_b"; got != want {
		t.Errorf("got tables %s, want %s", got, want)
	}
	if err := s.Check(within(t)); err != nil {
		t.Errorf("after: got %v, want nil", err)
	}
	if again := up(t, s); len(again) != 0 {
		t.Errorf("the second time: got %v, want nothing to do", again)
	}
}

// Each of many processes may be the one that migrates; each finds the database
// migrated when its Up returns, and each migration ran once.
func TestSchema_Up_ManyAtOnce(t *testing.T) {
	const many = 8
	dsn, start := dbtest.FreshDSN(t), make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	applied := 0
	for range many {
		pool, err := db.Open(within(t), db.Config{DSN: dsn, MaxOpen: 4})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		s := open(t, pool, sql.Migrations)
		all.Go(func() {
			<-start
			done, err := s.Up(within(t))
			if err == nil {
				err = s.Check(within(t))
			}
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			applied += len(done)
		})
	}
	close(start)
	all.Wait()
	pool, err := db.Open(within(t), db.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	status, err := open(t, pool, sql.Migrations).Status(within(t))
	if err != nil || applied != len(status) {
		t.Errorf("got %d applied in all, %v; want each of %d once", applied, err, len(status))
	}
	var noted int
	if err := pool.Get(&noted, `SELECT COUNT(*) FROM goose_db_version WHERE version_id > 0`); err != nil || noted != len(status) {
		t.Errorf("got %d notes, %v; want %d", noted, err, len(status))
	}
}

// A crash between a statement and its note, or between goose's table and its
// first row, is picked up.
func TestSchema_Up_AfterCrash(t *testing.T) {
	t.Run("NotNoted", func(t *testing.T) {
		pool := dbtest.Fresh(t)
		s := open(t, pool, sql.Migrations)
		up(t, s)
		pool.MustExec(`DELETE FROM goose_db_version WHERE version_id >= 3`)
		if err := s.Check(within(t)); !errors.Is(err, schema.ErrOld) || !strings.Contains(err.Error(), "version 2") {
			t.Errorf("got %v, want ErrOld at version 2", err)
		}
		up(t, s)
		if err := s.Check(within(t)); err != nil {
			t.Error(err)
		}
	})
	t.Run("EmptyTable", func(t *testing.T) {
		pool := dbtest.Fresh(t)
		s := open(t, pool, sql.Migrations)
		up(t, s)
		pool.MustExec(`DELETE FROM goose_db_version`)
		up(t, s)
		if err := s.Check(within(t)); err != nil {
			t.Error(err)
		}
	})
}

// What was done before a failure stays, is reported, and is not done again.
func TestSchema_Up_Fails(t *testing.T) {
	pool, broken := dbtest.Fresh(t), files("00001_a.sql", "00002_b.sql", "00003_c.sql")
	broken["migrations/00002_b.sql"] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE NONSENSE;\n")}
	done, err := open(t, pool, broken).Up(within(t))
	if err == nil || !strings.Contains(err.Error(), "00002_b.sql") {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if len(done) != 1 || done[0].Version != 1 {
		t.Errorf("got %v, want the first migration", done)
	}
	done = up(t, open(t, pool, files("00001_a.sql", "00002_b.sql", "00003_c.sql")))
	if len(done) != 2 || done[0].Version != 2 {
		t.Errorf("got %v, want the second and third", done)
	}
}

func TestSchema_Up_ContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := open(t, dbtest.Fresh(t), files("00001_a.sql"))
	if _, err := s.Up(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	up(t, s)
}

func TestSchema_DownOne(t *testing.T) {
	pool := dbtest.Fresh(t)
	s := open(t, pool, files("00001_a.sql", "00002_b.sql"))
	if _, err := s.DownOne(within(t)); !errors.Is(err, schema.ErrNothingApplied) {
		t.Errorf("never migrated: got %v, want ErrNothingApplied", err)
	}
	up(t, s)
	for _, want := range []int64{2, 1} {
		got, err := s.DownOne(within(t))
		if err != nil || got.Version != want || got.Applied {
			t.Errorf("got %+v, %v; want version %d taken back", got, err, want)
		}
	}
	if got, want := tables(t, pool), "goose_db_version"; got != want {
		t.Errorf("got tables %s, want %s", got, want)
	}
	if _, err := s.DownOne(within(t)); !errors.Is(err, schema.ErrNothingApplied) {
		t.Errorf("all taken back: got %v, want ErrNothingApplied", err)
	}
	up(t, s)
}

// An older program works on a newer schema, leaves it alone, and cannot take
// back what it does not know.
func TestSchema_Newer(t *testing.T) {
	pool := dbtest.Fresh(t)
	up(t, open(t, pool, files("00001_a.sql", "00002_b.sql")))
	old := open(t, pool, files("00001_a.sql"))
	if err := old.Check(within(t)); err != nil {
		t.Errorf("got %v, want nil: migrations are rolled out before programs", err)
	}
	if done := up(t, old); len(done) != 0 {
		t.Errorf("got %v, want nothing to do", done)
	}
	if _, err := old.DownOne(within(t)); !errors.Is(err, schema.ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
	status, err := old.Status(within(t))
	if err != nil || len(status) != 2 || status[1].Name != "" || !status[1].Applied {
		t.Errorf("got %+v, %v; want version 2 without a name", status, err)
	}
}

func TestSchema_Check_Old(t *testing.T) {
	pool := dbtest.Fresh(t)
	up(t, open(t, pool, files("00001_a.sql")))
	err := open(t, pool, files("00001_a.sql", "00002_b.sql", "00003_c.sql")).Check(within(t))
	if !errors.Is(err, schema.ErrOld) {
		t.Fatalf("got %v, want ErrOld", err)
	}
	for _, word := range []string{"at version 1", "needs version 3", "2 to apply", "`kith migrate up`"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("got %q, want it to say %q", err, word)
		}
	}
}

func TestSchema_Status(t *testing.T) {
	pool := dbtest.Fresh(t)
	up(t, open(t, pool, files("00001_a.sql")))
	status, err := open(t, pool, files("00001_a.sql", "00002_b.sql")).Status(within(t))
	if err != nil || len(status) != 2 {
		t.Fatalf("got %v, %v; want two migrations", status, err)
	}
	if age := time.Since(time.Unix(status[0].AppliedAt, 0)); age < -time.Minute || age > time.Minute {
		t.Errorf("got applied %s ago, want now", age)
	}
	if want := (schema.Migration{Version: 2, Name: "00002_b.sql"}); status[1] != want {
		t.Errorf("got %+v, want %+v", status[1], want)
	}
}

func TestNew(t *testing.T) {
	pool, err := db.Open(within(t), db.Config{DSN: dbtest.DSN(t), MaxOpen: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := schema.New(pool, sql.Migrations); err == nil {
		t.Error("a pool of one connection: got no error")
	}
	if _, err := schema.New(dbtest.DB(t), fstest.MapFS{}); err == nil {
		t.Error("no migrations: got no error")
	}
}

// The tables of the project go back and forth whole, and say what the stores
// count on: every one leads with bucket, in a primary key.
func TestMigrations(t *testing.T) {
	pool := dbtest.Fresh(t)
	s := open(t, pool, sql.Migrations)
	all := up(t, s)
	var bad []string
	err := pool.Select(&bad, `SELECT t.table_name FROM information_schema.tables t
		LEFT JOIN information_schema.key_column_usage k ON k.table_schema = t.table_schema AND k.table_name = t.table_name
			AND k.constraint_name = 'PRIMARY' AND k.ordinal_position = 1 AND k.column_name = 'bucket'
		WHERE t.table_schema = DATABASE() AND k.column_name IS NULL AND t.table_name <> 'goose_db_version'`)
	if err != nil || len(bad) > 0 {
		t.Errorf("got %v, %v; want every primary key to lead with bucket", bad, err)
	}
	for range all {
		if _, err := s.DownOne(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tables(t, pool), "goose_db_version"; got != want {
		t.Errorf("got tables %s after going down, want %s", got, want)
	}
	up(t, s)
}
