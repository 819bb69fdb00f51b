package db_test

import (
	"bytes"
	"context"
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

// keeping opens a pool of one connection, whose status is then that of the pool.
func keeping(t *testing.T) *sqlx.DB {
	t.Helper()
	return open(t, db.Config{Binary: true, Keep: true, MaxOpen: 1})
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

// one asks for a number through a statement that n makes different from others.
func one(t *testing.T, on sqlx.Queryer, n, params int) {
	t.Helper()
	args := make([]any, params)
	for i := range args {
		args[i] = i
	}
	var got int
	row := on.QueryRowx(fmt.Sprintf(`SELECT %d FROM DUAL WHERE 0 IN (%s)`, n, db.Repeat("?", params)), args...)
	if err := row.Scan(&got); err != nil || got != n {
		t.Fatalf("got %d, %v; want %d", got, err, n)
	}
}

func TestKeep_Again(t *testing.T) {
	pool, id := keeping(t), rowsOf(t, 1)[0]
	prepared := did(t, pool, "prepare", func() {
		for range 5 {
			if err := touch(t.Context(), pool, id); err != nil {
				t.Fatal(err)
			}
			one(t, pool, 1, 2)
			err := db.WithTx(t.Context(), pool, func(tx *sqlx.Tx) error {
				one(t, tx, 1, 2)
				return touch(t.Context(), tx, id)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	if prepared != 2 || verOf(t, id) != 11 {
		t.Errorf("prepared %d statements, ver %d; want 2 that came ten times each, 11", prepared, verOf(t, id))
	}
}

func TestKeep_Off(t *testing.T) {
	pool := open(t, db.Config{Binary: true, MaxOpen: 1})
	closed := did(t, pool, "close", func() { one(t, pool, 1, 2); one(t, pool, 1, 2) })
	if closed != 2 {
		t.Errorf("closed %d statements, want 2", closed)
	}
}

// What was not used for longest goes first, by number and by parameters.
func TestKeep_Bounds(t *testing.T) {
	for _, c := range []struct{ statements, params, most int }{{300, 1, 128}, {60, 500, 28}} {
		pool := keeping(t)
		fill := func() {
			for n := range c.statements {
				one(t, pool, n, c.params)
				one(t, pool, 1000, c.params)
			}
		}
		var closed int
		prepared := did(t, pool, "prepare", func() { closed = did(t, pool, "close", fill) })
		if prepared != c.statements+1 || prepared-closed != c.most {
			t.Errorf("of %d parameters: prepared %d and kept %d; want %d, %d", c.params, prepared, prepared-closed, c.statements+1, c.most)
		}
	}
}

// Statements of many parameters, and those with long arguments, are not kept.
func TestKeep_NotKept(t *testing.T) {
	pool := keeping(t)
	id := rowsOf(t, 1)[0]
	for name, fn := range map[string]func(){
		"many parameters": func() { one(t, pool, 1, 579) },
		"long argument": func() {
			if err := setList(pool, id, make([]byte, 512<<10+1)); err != nil {
				t.Fatal(err)
			}
		},
		"long text": func() {
			var got int
			if err := pool.Get(&got, `SELECT LENGTH(?)`, strings.Repeat("x", 512<<10+1)); err != nil || got != 512<<10+1 {
				t.Fatal(got, err)
			}
		},
	} {
		if closed := did(t, pool, "close", func() { fn(); fn() }); closed != 2 {
			t.Errorf("%s: closed %d statements, want 2", name, closed)
		}
	}
}

func setList(on sqlx.Execer, id uint64, list []byte) error {
	_, err := on.Exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, list, id&1023, id)
	return err
}

// A lost swap leaves its statement as good as before, also with a list that was
// sent ahead, as the driver does where there are many arguments.
func TestKeep_LostSwap(t *testing.T) {
	pool, id := keeping(t), rowsOf(t, 1)[0]
	many := make([]any, 500)
	for i := range many {
		many[i] = 0
	}
	swap := func(ver uint64, list []byte) error {
		_, err := pool.Exec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, updated_at)
			VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0) ON DUPLICATE KEY UPDATE list = VALUES(list), ver = IF(ver+1=VALUES(ver), VALUES(ver), ver-ver-1),
			friends = COALESCE(`+db.Repeat("?", len(many))+`)`, append([]any{id & 1023, id, ver, list}, many...)...)
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
		if err := pool.Get(&got, `SELECT list FROM relation WHERE bucket = ? AND account_id = ?`, id&1023, id); err != nil || !bytes.Equal(got, short) {
			t.Fatalf("got %.20q, %v; want %q", got, err, short)
		}
	}
}

// After another error a statement is closed.
func TestKeep_Error(t *testing.T) {
	pool := keeping(t)
	put := func(name string) error {
		_, err := pool.Exec(`INSERT INTO username (bucket, name, account_id) VALUES (1, ?, ?)`, []byte(name), 7)
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
	if _, err := pool.Exec(`DO ?`, 1, 2); err == nil {
		t.Error("two arguments for one parameter: got no error")
	}
	want(t, put(name), db.Duplicate, repo.ErrConflict)
}

// Statements are good after their table has changed.
func TestKeep_TableChanged(t *testing.T) {
	pool := open(t, db.Config{DSN: dbtest.FreshDSN(t), Binary: true, Keep: true, MaxOpen: 1})
	pool.MustExec(`CREATE TABLE changing (id INT PRIMARY KEY, one INT)`)
	check := func(id, columns int) {
		t.Helper()
		if _, err := pool.Exec(`INSERT INTO changing (id, one) VALUES (?, ?)`, id, 5); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			row, err := pool.QueryRowx(`SELECT * FROM changing WHERE id = ?`, id).SliceScan()
			if err != nil || len(row) != columns || fmt.Sprint(row[0]) != fmt.Sprint(id) {
				t.Fatalf("got %v, %v; want %d columns of %d", row, err, columns, id)
			}
		}
	}
	check(1, 2)
	check(2, 2)
	pool.MustExec(`ALTER TABLE changing ADD COLUMN two BIGINT NOT NULL DEFAULT 7`)
	check(3, 3)
	pool.MustExec(`ALTER TABLE changing MODIFY one VARCHAR(20), DROP COLUMN two`)
	check(4, 2)
	pool.MustExec(`DROP TABLE changing`)
	_, err := pool.Exec(`INSERT INTO changing (id, one) VALUES (?, ?)`, 5, 5)
	want(t, err, db.Missing, nil)
	pool.MustExec(`CREATE TABLE changing (id INT PRIMARY KEY, one INT)`)
	check(5, 2)
}

// A context that ends under way closes the connection; the next has statements of
// its own.
func TestKeep_ContextEnded(t *testing.T) {
	pool := keeping(t)
	nap := func(ctx context.Context, seconds float64) error {
		_, err := pool.ExecContext(ctx, `DO SLEEP(?)`, seconds)
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

// On a server that has too many statements those that are kept go on, and others
// say that nothing was done.
func TestKeep_TooMany(t *testing.T) {
	pool, admin, id := keeping(t), dbtest.DB(t), rowsOf(t, 1)[0]
	want(t, touch(t.Context(), pool, id), db.OK, nil)
	var limit int
	if err := admin.Get(&limit, `SELECT @@GLOBAL.max_prepared_stmt_count`); err != nil {
		t.Fatal(err)
	}
	admin.MustExec(`SET GLOBAL max_prepared_stmt_count = 0`)
	defer admin.MustExec(fmt.Sprintf(`SET GLOBAL max_prepared_stmt_count = %d`, limit))
	want(t, touch(t.Context(), pool, id), db.OK, nil)
	if err := setList(pool, id, []byte{1}); !db.NotPrepared(err) {
		t.Errorf("got %v, want that there are too many statements", err)
	}
	want(t, touch(t.Context(), pool, id), db.OK, nil)
}

func TestKeep_Concurrent(t *testing.T) {
	pool, ids := open(t, db.Config{Binary: true, Keep: true, MaxOpen: 3}), rowsOf(t, 4)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 50 {
				id := ids[(w+n)%len(ids)]
				err := touch(context.Background(), pool, id)
				if err == nil {
					err = db.WithTx(context.Background(), pool, func(tx *sqlx.Tx) error { return touch(context.Background(), tx, id) })
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
