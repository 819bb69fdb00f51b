package dbtest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestDB(t *testing.T) {
	var n int
	if err := dbtest.DB(t).Get(&n, `SELECT COUNT(*) FROM relation`); err != nil || n != 0 {
		t.Errorf("got %d rows, %v; want the migrated table, empty", n, err)
	}
	if again := dbtest.DB(t); again != dbtest.DB(t) {
		t.Error("got two pools, want one that is shared")
	}
}

func TestDSN(t *testing.T) {
	pool, err := db.Open(t.Context(), db.Config{DSN: dbtest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var mine, shared string
	if err := pool.Get(&mine, `SELECT DATABASE()`); err != nil {
		t.Fatal(err)
	}
	if err := dbtest.DB(t).Get(&shared, `SELECT DATABASE()`); err != nil || mine != shared {
		t.Errorf("got database %s, %v; want %s", mine, err, shared)
	}
}

func TestFresh(t *testing.T) {
	var name string
	t.Run("Empty", func(t *testing.T) {
		var tables []string
		if err := dbtest.Fresh(t).Select(&tables, `SHOW TABLES`); err != nil || len(tables) > 0 {
			t.Errorf("got tables %v, %v; want none", tables, err)
		}
		if err := dbtest.Fresh(t).Get(&name, `SELECT DATABASE()`); err != nil {
			t.Fatal(err)
		}
	})
	var left int
	err := dbtest.DB(t).Get(&left, `SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?`, name)
	if err != nil || left != 0 {
		t.Errorf("got %d databases of a test that ended, %v; want 0", left, err)
	}
}

func TestIDs(t *testing.T) {
	seen := map[uint64]bool{}
	for range 10 {
		for _, id := range dbtest.IDs(t, 100) {
			if seen[id] || id == 0 || id >= 1<<32 {
				t.Fatalf("got id %d, want new ones of 32 bits", id)
			}
			seen[id] = true
		}
	}
	if len(dbtest.IDs(t, 0)) != 0 {
		t.Error("got ids, want none")
	}
}

// recorder is a test that only notes how it went.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }

func TestCheckIndex(t *testing.T) {
	pairs := strings.TrimSuffix(strings.Repeat("(?,?),", 500), ",")
	var ids []any
	for id := range 500 {
		ids = append(ids, repo.Bucket(uint64(id*17)), id*17)
	}
	for name, c := range map[string]struct {
		query string
		args  []any
		says  string // empty: the check passes
	}{
		"One":       {`SELECT ver FROM relation WHERE bucket = ? AND account_id = ?`, []any{1, 1}, ""},
		"Absent":    {`SELECT ver FROM relation WHERE bucket = ? AND account_id = ?`, []any{1, 7}, ""},
		"Many":      {`SELECT ver FROM relation WHERE (bucket, account_id) IN (` + pairs + `)`, ids, ""},
		"Page":      {`SELECT ver FROM relation WHERE bucket = ? AND account_id > ? ORDER BY account_id LIMIT 100`, []any{1, 1}, ""},
		"Update":    {`UPDATE relation SET ver = ver + 1 WHERE bucket = ? AND account_id = ? AND ver = ?`, []any{1, 1, 1}, ""},
		"Insert":    {`INSERT INTO sequence (bucket, name, next_id) VALUES (?, ?, ?)`, []any{1, "a", 1}, ""},
		"Username":  {`SELECT account_id FROM username WHERE bucket = ? AND name = ?`, []any{1, "a"}, ""},
		"NoBucket":  {`SELECT ver FROM relation WHERE account_id = ?`, []any{1}, "reads all of table relation"},
		"NoWhere":   {`SELECT COUNT(*) FROM relation`, nil, "reads all of index"},
		"Delete":    {`DELETE FROM account WHERE username = ?`, []any{"a"}, "reads all of table account"},
		"RowsAfter": {`SELECT ver FROM relation WHERE (bucket, account_id) > (?, ?) ORDER BY bucket, account_id LIMIT 9`, []any{1, 1}, "reads all of index PRIMARY"},
		"InSelect":  {`INSERT INTO sequence (bucket, name, next_id) SELECT 1, username, 1 FROM account WHERE locked = 1`, nil, "reads all of table account"},
		"Nonsense":  {`SELECT ver FROM relation WHERE bucket = ? AND 1 = 2`, []any{1}, "contradict"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			dbtest.CheckIndex(r, dbtest.DB(t), c.query, c.args...)
			said := strings.Join(r.said, "\n")
			if c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("got %q, want %q", said, c.says)
			}
		})
	}
}

// The harness on a server that was there before: its databases are dropped at
// the end. The tests of this binary run again, as a child with this variable.
func TestEnv(t *testing.T) {
	if os.Getenv(dbtest.Env) != "" {
		t.Skip("this is the child, or all tests are on a named server")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	server, err := mysqld.Start(ctx, mysqld.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(ctx)
	if err := server.CreateDatabase(ctx, "precious"); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), dbtest.Env+"="+server.DSN("precious"))
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pool, err := db.OpenServer(ctx, db.Config{DSN: server.DSN("")})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var left []string
	if err := pool.Select(&left, `SELECT schema_name FROM information_schema.schemata
		WHERE schema_name NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(left, " "), "precious"; got != want {
		t.Errorf("got databases %s, want %s", got, want)
	}
}

// A machine without a server fails the test and says what to install.
func TestNoServer(t *testing.T) {
	if os.Getenv("KITH_TEST_DBTEST_CHILD") == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestNoServer$")
		child.Env = append(os.Environ(), "KITH_TEST_DBTEST_CHILD=1", dbtest.Env+"=root@tcp(127.0.0.1:1)/kith")
		out, err := child.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "FAIL") || !strings.Contains(string(out), "unavailable") {
			t.Errorf("got %v, want a failure that says why:\n%s", err, out)
		}
		return
	}
	dbtest.DB(t)
}
