package db_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
)

// single opens a pool of one connection, whose status is then that of the pool.
func single(t *testing.T) *sqlx.DB {
	t.Helper()
	return open(t, db.Config{MaxOpen: 1})
}

// did returns how often the connection of a pool did what fn makes it do.
func did(t *testing.T, pool *sqlx.DB, what string, fn func()) int {
	t.Helper()
	count := func() (n int) {
		t.Helper()
		var name string
		if err := pool.QueryRow(`SHOW SESSION STATUS LIKE 'Com_stmt_`+what+`'`).Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	fn()
	return count() - before
}

// lengthy is text of as many bytes as it takes to be sent through a kept statement.
var lengthy = strings.Repeat("0", 1<<10)

// one asks for a number through a statement that n makes different from others. Its
// first argument is first.
func one(t *testing.T, on sqlx.Queryer, first string, n, params int) {
	t.Helper()
	args := make([]any, params)
	for i := range args {
		args[i] = i
	}
	args[0] = first
	var got int
	row := on.QueryRowx(fmt.Sprintf(`SELECT %d FROM DUAL WHERE 0 IN (%s)`, n, db.Repeat("?", params)), args...)
	if err := row.Scan(&got); err != nil || got != n {
		t.Fatalf("got %d, %v; want %d", got, err, n)
	}
}

func TestConn_Again(t *testing.T) {
	pool, id := single(t), rowsOf(t, 1)[0]
	prepared := did(t, pool, "prepare", func() {
		for range 5 {
			want(t, setList(pool, id, []byte(lengthy)), db.OK, nil)
			one(t, pool, lengthy, 1, 2)
			err := db.WithTx(t.Context(), pool, func(tx *sqlx.Tx) error {
				one(t, tx, lengthy, 1, 2)
				return setList(tx, id, []byte(lengthy))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if prepared != 2 {
		t.Errorf("prepared %d statements; want 2 that came ten times each", prepared)
	}
}

// Short arguments go within the text, whatever their number.
func TestConn_Text(t *testing.T) {
	pool, id := single(t), rowsOf(t, 1)[0]
	prepared := did(t, pool, "prepare", func() {
		one(t, pool, lengthy[1:], 1, 1)
		one(t, pool, "0", 2, 1000)
		want(t, touch(t.Context(), pool, id), db.OK, nil)
	})
	if prepared != 0 {
		t.Errorf("prepared %d statements, want none", prepared)
	}
}

// What was not used for longest goes first, by number and by parameters.
func TestConn_Bounds(t *testing.T) {
	for _, c := range []struct{ statements, params, most int }{{300, 1, 211}, {60, 500, 42}} {
		pool := single(t)
		fill := func() {
			for n := range c.statements {
				one(t, pool, lengthy, n, c.params)
				one(t, pool, lengthy, 1000, c.params)
			}
		}
		var closed int
		prepared := did(t, pool, "prepare", func() { closed = did(t, pool, "close", fill) })
		if prepared != c.statements+1 || prepared-closed != c.most {
			t.Errorf("of %d parameters: prepared %d and kept %d; want %d, %d", c.params, prepared, prepared-closed, c.statements+1, c.most)
		}
	}
}

// Where other connections keep all that the pool may keep, a statement goes within the
// text, until one of them ends.
func TestConn_Budget(t *testing.T) {
	pool := open(t, db.Config{MaxOpen: 2})
	hog, err := pool.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := pool.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ask := func(on *sqlx.Conn, n int) {
		t.Helper()
		var got int
		if err := on.GetContext(t.Context(), &got, fmt.Sprintf(`SELECT %d FROM DUAL WHERE '' <> ?`, n), lengthy); err != nil || got != n {
			t.Fatalf("got %d, %v; want %d", got, err, n)
		}
	}
	prepared := func() (n int) {
		t.Helper()
		var name string
		if err := other.QueryRowxContext(t.Context(), `SHOW SESSION STATUS LIKE 'Com_stmt_prepare'`).Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for n := range 300 {
		ask(hog, n)
	}
	ask(other, 1)
	if n := prepared(); n != 0 {
		t.Errorf("prepared %d statements, want none", n)
	}
	hog.Raw(func(any) error { return driver.ErrBadConn }) // closes it
	ask(other, 1)
	if n := prepared(); n != 1 {
		t.Errorf("prepared %d statements afterwards, want 1", n)
	}
}

// Statements of many parameters, and those with an argument that is too long, go
// within the text too.
func TestConn_NotKept(t *testing.T) {
	pool, id := single(t), rowsOf(t, 1)[0]
	prepared := did(t, pool, "prepare", func() {
		one(t, pool, lengthy, 1, 579)
		want(t, setList(pool, id, make([]byte, 512<<10+1)), db.OK, nil)
		var got int
		if err := pool.Get(&got, `SELECT LENGTH(?)`, strings.Repeat("x", 512<<10+1)); err != nil || got != 512<<10+1 {
			t.Fatal(got, err)
		}
	})
	if prepared != 0 {
		t.Errorf("prepared %d statements, want none", prepared)
	}
}

func setList(on sqlx.Execer, id uint64, list []byte) error {
	_, err := on.Exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, list, repo.Bucket(id), id)
	return err
}

// A lost swap leaves its statement as good as before, also with a list that was
// sent ahead, as the driver does where there are many arguments.
func TestConn_LostSwap(t *testing.T) {
	pool, id := single(t), rowsOf(t, 1)[0]
	many := make([]any, 500)
	for i := range many {
		many[i] = 0
	}
	swap := func(ver uint64, list []byte) error {
		_, err := pool.Exec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, updated_at)
			VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0) ON DUPLICATE KEY UPDATE list = VALUES(list), ver = IF(ver+1=VALUES(ver), VALUES(ver), ver-ver-1),
			friends = COALESCE(`+db.Repeat("?", len(many))+`)`, append([]any{repo.Bucket(id), id, ver, list}, many...)...)
		return err
	}
	long, short := bytes.Repeat([]byte("long"), 100<<10), []byte("short")
	for n := range uint64(3) {
		prepared := did(t, pool, "prepare", func() {
			want(t, swap(9, long), db.LostSwap, repo.ErrConflict)
			want(t, swap(2+n, short), db.OK, nil)
		})
		if n > 0 && prepared > 0 {
			t.Errorf("prepared %d times after a lost swap, want 0", prepared)
		}
		var got []byte
		if err := pool.Get(&got, `SELECT list FROM relation WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id); err != nil || !bytes.Equal(got, short) {
			t.Fatalf("got %.20q, %v; want %q", got, err, short)
		}
	}
}

// After another error a statement is closed.
func TestConn_Error(t *testing.T) {
	pool := single(t)
	put := func(name string) error {
		_, err := pool.Exec(`INSERT INTO username (bucket, name, account_id) VALUES (LENGTH(?), ?, ?)`, lengthy, []byte(name), 7)
		return err
	}
	name := fmt.Sprint("keep", dbtest.IDs(t, 1)[0])
	closed := did(t, pool, "close", func() {
		want(t, put(name), db.OK, nil)
		want(t, put(name), db.Duplicate, repo.ErrConflict)
	})
	if closed != 0 {
		t.Errorf("closed %d statements after a duplicate, want 0", closed)
	}
	if closed := did(t, pool, "close", func() { want(t, put(strings.Repeat("x", 65)), db.TooLarge, repo.ErrTooLarge) }); closed != 1 {
		t.Errorf("closed %d statements after a value too long, want 1", closed)
	}
	want(t, put(name), db.Duplicate, repo.ErrConflict)
	if _, err := pool.Exec(`DO ?`, lengthy, 2); err == nil {
		t.Error("two arguments for one parameter: got no error")
	}
	want(t, put(name), db.Duplicate, repo.ErrConflict)
}

// Statements are good after their table has changed.
func TestConn_TableChanged(t *testing.T) {
	pool := open(t, db.Config{DSN: dbtest.FreshDSN(t), MaxOpen: 1})
	pool.MustExec(`CREATE TABLE changing (id INT PRIMARY KEY, one INT, body BLOB)`)
	check := func(id, columns int) {
		t.Helper()
		if _, err := pool.Exec(`INSERT INTO changing (id, one, body) VALUES (?, 5, ?)`, id, lengthy); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			row, err := pool.QueryRowx(`SELECT * FROM changing WHERE id = ? AND body = ?`, id, lengthy).SliceScan()
			if err != nil || len(row) != columns || fmt.Sprint(row[0]) != fmt.Sprint(id) {
				t.Fatalf("got %v, %v; want %d columns of %d", row, err, columns, id)
			}
		}
	}
	check(1, 3)
	check(2, 3)
	pool.MustExec(`ALTER TABLE changing ADD COLUMN two BIGINT NOT NULL DEFAULT 7`)
	check(3, 4)
	pool.MustExec(`ALTER TABLE changing MODIFY one VARCHAR(20), DROP COLUMN two`)
	check(4, 3)
	pool.MustExec(`DROP TABLE changing`)
	_, err := pool.Exec(`INSERT INTO changing (id, one, body) VALUES (?, 5, ?)`, 5, lengthy)
	want(t, err, db.Missing, nil)
	pool.MustExec(`CREATE TABLE changing (id INT PRIMARY KEY, one INT, body BLOB)`)
	check(5, 3)
}

// A context that ends under way closes the connection; the next has statements of
// its own.
func TestConn_ContextEnded(t *testing.T) {
	pool := single(t)
	nap := func(ctx context.Context, seconds float64) error {
		_, err := pool.ExecContext(ctx, `DO SLEEP(? + ?)`, seconds, lengthy)
		return err
	}
	want(t, nap(t.Context(), 0), db.OK, nil)
	err := nap(within(t, 50*time.Millisecond), 3)
	if !errors.Is(err, context.DeadlineExceeded) || !db.OutcomeUnknown(err) {
		t.Errorf("got %v, want that the deadline passed", err)
	}
	want(t, nap(t.Context(), 0), db.OK, nil)
	var id int64
	if err := pool.Get(&id, `SELECT CONNECTION_ID()`); err != nil {
		t.Fatal(err)
	}
	kill(t, id)
	want(t, nap(t.Context(), 0), db.OK, nil)
}

// On a server that has too many statements those that are kept go on, and others go
// within the text, in a transaction too.
func TestConn_TooMany(t *testing.T) {
	pool, admin, id := single(t), dbtest.DB(t), rowsOf(t, 1)[0]
	list := []byte(lengthy)
	want(t, setList(pool, id, list), db.OK, nil)
	var limit int
	if err := admin.Get(&limit, `SELECT @@GLOBAL.max_prepared_stmt_count`); err != nil {
		t.Fatal(err)
	}
	admin.MustExec(`SET GLOBAL max_prepared_stmt_count = 0`)
	defer admin.MustExec(fmt.Sprintf(`SET GLOBAL max_prepared_stmt_count = %d`, limit))
	want(t, setList(pool, id, append(list, 1)), db.OK, nil)
	one(t, pool, lengthy, 1, 2)
	err := db.WithTx(t.Context(), pool, func(tx *sqlx.Tx) error {
		one(t, tx, lengthy, 2, 2)
		_, err := tx.Exec(`UPDATE relation SET ver = ver + 1, list = ? WHERE bucket = ? AND account_id = ?`, list, repo.Bucket(id), id)
		return errors.Join(err, setList(tx, id, append(list, 2)))
	})
	if err != nil || verOf(t, id) != 2 {
		t.Errorf("got version %d, %v; want 2", verOf(t, id), err)
	}
}

func TestConn_Concurrent(t *testing.T) {
	pool, ids := open(t, db.Config{MaxOpen: 3}), rowsOf(t, 4)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 50 {
				id := ids[(w+n)%len(ids)]
				err := errors.Join(setList(pool, id, fmt.Append(nil, lengthy, w)), touch(context.Background(), pool, id))
				if err == nil {
					err = db.WithTx(context.Background(), pool, func(tx *sqlx.Tx) error {
						return errors.Join(touch(context.Background(), tx, id), setList(tx, id, fmt.Append(nil, lengthy, n)))
					})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if got := verOf(t, id); got != 201 {
			t.Errorf("ver %d, want 201", got)
		}
	}
}
