package db_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

// hostile are parameters that would break what the stores count on.
const hostile = "?parseTime=true&loc=Asia%2FTokyo&clientFoundRows=true&multiStatements=true" +
	"&columnsWithAlias=true&charset=latin1&time_zone=%27%2B08%3A00%27&sql_mode=%27NO_UNSIGNED_SUBTRACTION%27" +
	"&autocommit=0&completion_type=1&sql_select_limit=1&sql_safe_updates=1&sql_big_selects=0&max_join_size=1" +
	"&lock_wait_timeout=1&wait_timeout=1&net_read_timeout=1&net_write_timeout=1"

func TestOpen_Session(t *testing.T) {
	pool := open(t, db.Config{DSN: dbtest.DSN(t) + hostile, LockWait: 1500 * time.Millisecond})
	for query, want := range map[string]string{
		`SELECT @@sql_mode`:                 "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
		`SELECT @@time_zone`:                "+00:00",
		`SELECT @@character_set_connection`: "binary",
		`SELECT @@innodb_lock_wait_timeout`: "2",
		`SELECT @@lock_wait_timeout`:        "2",
		`SELECT @@autocommit`:               "1",
		`SELECT @@completion_type`:          "NO_CHAIN",
		`SELECT @@sql_select_limit`:         "9223372036854775807",
		`SELECT @@sql_safe_updates`:         "0",
		`SELECT @@sql_big_selects`:          "1",
		`SELECT @@wait_timeout`:             "600",
		`SELECT @@net_read_timeout`:         "60",
		`SELECT @@net_write_timeout`:        "60",
		`SELECT 'a' 'b' AS label`:           "ab",
		`SELECT UTC_TIMESTAMP() = NOW()`:    "1",
	} {
		var got string
		if err := pool.Get(&got, query); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", query, got, err, want)
		}
	}
	if got := isolation(t, pool); got != "READ-COMMITTED" {
		t.Errorf("isolation: got %s, want READ-COMMITTED", got)
	}
	if _, err := pool.Exec(`SELECT 1; SELECT 2`); err == nil {
		t.Error("two statements in one: got no error")
	}
}

// isolation asks for the variable by the name the server has for it.
func isolation(t *testing.T, pool *sqlx.DB) string {
	t.Helper()
	var name, value string
	row := pool.QueryRow(`SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')`)
	if err := row.Scan(&name, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// Rows that are found but not changed do not count as affected: a lost swap
// would look like a won one.
func TestOpen_AffectedAreChanged(t *testing.T) {
	id := rowsOf(t, 1)[0]
	pool := open(t, db.Config{DSN: dbtest.DSN(t) + hostile})
	res, err := pool.Exec(`UPDATE relation SET ver = 1 WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 0 {
		t.Errorf("got %d affected, %v; want 0", n, err)
	}
}

func TestOpen_Defaults(t *testing.T) {
	if got := open(t, db.Config{}).Stats().MaxOpenConnections; got != 32 {
		t.Errorf("got %d connections, want 32", got)
	}
	if got := open(t, db.Config{MaxOpen: 3}).Stats().MaxOpenConnections; got != 3 {
		t.Errorf("got %d connections, want 3", got)
	}
}

func TestOpen_Blob(t *testing.T) {
	all := make([]byte, 1<<20)
	for i := range all {
		all[i] = byte(i * 7)
	}
	pool, id := open(t, db.Config{}), rowsOf(t, 1)[0]
	for _, n := range []int{0, 256, 1<<10 - 1, 1 << 10, 1 << 16, 1 << 20} {
		if err := setList(pool, id, all[:n]); err != nil {
			t.Fatal(err)
		}
		var got []byte
		err := pool.Get(&got, `SELECT list FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
		if err != nil || string(got) != string(all[:n]) {
			t.Errorf("got %d bytes, %v; want the %d written", len(got), err, n)
		}
	}
}

func TestOpen_BadDSN(t *testing.T) {
	for _, dsn := range []string{
		"", "nonsense", "/", "root:s3cret@tcp(127.0.0.1:3306)/", "root:s3cret@tcp(127.0.0.1:3306)",
		"root:s3cret@tcp(127.0.0.1/kith", "root:s3cret@127.0.0.1/kith", "root:s3cret/kith", "s3cret@s3cret:1/kith",
		"root:s3cret@tcp(h:1)/kith?parseTime=maybe", "root:s3cret@tcp(h:1)/kith?tls=nosuch", "mysql://root:s3cret@host/kith",
		"root:s3cret@tcp(h:1)/%zz",
	} {
		_, err := db.Open(t.Context(), db.Config{DSN: dsn})
		if !errors.Is(err, db.ErrBadDSN) {
			t.Errorf("%q: got %v, want ErrBadDSN", dsn, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the password is in %q", dsn, err)
		}
	}
}

// Parameters that would let a server, or whoever answers in its place, have files and
// passwords.
func TestOpen_UnsafeDSN(t *testing.T) {
	for params, word := range map[string]string{
		"allowAllFiles=true": "allowAllFiles", "allowAllFiles=1&tls=true": "allowAllFiles", "allowOldPasswords=true": "allowOldPasswords",
		"allowCleartextPasswords=true": "allowCleartextPasswords", "allowCleartextPasswords=true&tls=skip-verify": "allowCleartextPasswords",
		"allowCleartextPasswords=true&tls=preferred": "allowCleartextPasswords",
		"allowFallbackToPlaintext=true":              "allowFallbackToPlaintext", "tls=true&allowFallbackToPlaintext=true": "allowFallbackToPlaintext",
		"allowCleartextPasswords=true&tls=true": "", "tls=preferred": "", "tls=skip-verify": "", "allowNativePasswords=false": "",
	} {
		dsn := "kith:s3cret@tcp(127.0.0.1:1)/kith?" + params
		_, err := db.Open(t.Context(), db.Config{DSN: dsn})
		_, server := db.OpenServer(t.Context(), db.Config{DSN: dsn})
		_, with := db.WithDatabase(dsn, "other")
		for _, err := range []error{err, server, with} {
			refused := errors.Is(err, db.ErrBadDSN)
			if refused != (word != "") || refused && !strings.Contains(err.Error(), word) || err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: got %v", params, err)
			}
		}
	}
	if _, err := db.WithDatabase("kith@unix(/run/mysqld.sock)/kith?allowCleartextPasswords=true", "x"); err != nil {
		t.Errorf("a socket: %v", err)
	}
}

// A server that asks for a file of this machine does not get it.
func TestOpen_LocalInfile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("1\t1\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := open(t, db.Config{})
	_, err := pool.Exec(`LOAD DATA LOCAL INFILE '` + secret + `' INTO TABLE seen`)
	if err == nil || !strings.Contains(err.Error(), "not registered") {
		t.Errorf("got %v, want that the file is not given", err)
	}
}

func TestOpen_NoDatabase(t *testing.T) {
	dsn, err := db.WithDatabase(dbtest.ServerDSN(t), "")
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.Open(t.Context(), db.Config{DSN: dsn})
	if pool != nil || !errors.Is(err, db.ErrBadDSN) || !strings.Contains(err.Error(), "names no database") {
		t.Errorf("got %v, want ErrBadDSN that says there is no database name", err)
	}
}

func TestOpen_UnknownDatabase(t *testing.T) {
	dsn, err := db.WithDatabase(dbtest.DSN(t), "kith_test_no_such_database")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Open(t.Context(), db.Config{DSN: dsn}); db.Classify(err) != db.Missing {
		t.Errorf("got %v of class %v, want class missing", err, db.Classify(err))
	}
}

func TestOpen_NobodyListens(t *testing.T) {
	for _, dsn := range []string{"root:s3cret@tcp(127.0.0.1:1)/kith", "root:s3cret@unix(/nowhere/mysqld.sock)/kith"} {
		_, err := db.Open(t.Context(), db.Config{DSN: dsn})
		if !errors.Is(err, repo.ErrUnavailable) || db.OutcomeUnknown(err) {
			t.Errorf("%s: got %v, unknown %v; want unavailable, nothing done", dsn, err, db.OutcomeUnknown(err))
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is in %q", err)
		}
	}
}

// A server that accepts and then says nothing is given up on, although the
// driver bounds only the dialling.
func TestOpen_SilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := db.Config{DSN: "root@tcp(" + listener.Addr().String() + ")/kith", ConnectTimeout: 50 * time.Millisecond, ReadTimeout: -1}
	if _, err := db.Open(within(t, 10*time.Second), c); !errors.Is(err, repo.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
}

func TestOpen_ReadTimeout(t *testing.T) {
	pool := open(t, db.Config{ReadTimeout: 50 * time.Millisecond})
	_, err := pool.ExecContext(within(t, 10*time.Second), `DO SLEEP(3)`)
	if db.Classify(err) != db.LostConnection || !db.OutcomeUnknown(err) {
		t.Errorf("got %v of class %v, want class lost connection", err, db.Classify(err))
	}
}

func TestOpenServer(t *testing.T) {
	pool, err := db.OpenServer(t.Context(), db.Config{DSN: dbtest.DSN(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var none bool
	if err := pool.Get(&none, `SELECT DATABASE() IS NULL`); err != nil || !none {
		t.Errorf("a database is chosen, %v; want none", err)
	}
}

func TestOpen_ContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Open(ctx, db.Config{DSN: dbtest.DSN(t)}); !errors.Is(err, repo.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want unavailable because the context was canceled", err)
	}
}

func TestRedact(t *testing.T) {
	for dsn, want := range map[string]string{
		"root@unix(/tmp/s)/kith":               "root@unix(/tmp/s)/kith",
		"kith:s3cret@tcp(db:3306)/kith":        "kith:***@tcp(db:3306)/kith",
		"kith:a@b:c/d?e@tcp(db)/kith?tls=true": "kith:***@tcp(db:3306)/kith?tls=true",
		"kith:s3cret@tcp(db/kith":              "(unreadable dsn)",
	} {
		if got := db.Redact(dsn); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("s3cret@/?(")
	f.Fuzz(func(t *testing.T, password string) {
		const mark = "pass-mark-word"
		dsn := "kith:" + mark + password + mark + "@tcp(127.0.0.1:1)/kith"
		if got := db.Redact(dsn); strings.Contains(got, mark) {
			t.Errorf("the password is in %q", got)
		}
	})
}
