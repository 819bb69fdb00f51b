package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
)

// want fails the test unless err has the class and is the error of package
// repo; kind nil means that Wrap leaves it alone.
func want(t *testing.T, err error, class db.Class, kind error) {
	t.Helper()
	if got := db.Classify(err); got != class {
		t.Fatalf("got %v of class %v, want class %v", err, got, class)
	}
	wrapped := db.Wrap(err)
	if got := db.Classify(wrapped); got != class {
		t.Errorf("wrapped: got class %v, want %v", got, class)
	}
	if kind != nil && !errors.Is(wrapped, kind) || !errors.Is(wrapped, err) {
		t.Errorf("got %v, want %v because of %v", wrapped, kind, err)
	}
	if kind == nil && wrapped != err {
		t.Errorf("got %v, want it unchanged", wrapped)
	}
	if again := db.Wrap(wrapped); again != wrapped {
		t.Errorf("wrapped twice: got %v, want %v", again, wrapped)
	}
}

func TestClassify_LostSwap(t *testing.T) {
	ids := rowsOf(t, 2)
	swap := func(ver uint64) error {
		_, err := dbtest.DB(t).Exec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following,
			kept_followers, kept_following, updated_at) VALUES (?,?,?,?,0,0,0,0,0,0), (?,?,?,?,0,0,0,0,0,0)
			ON DUPLICATE KEY UPDATE list = IF(ver + 1 = VALUES(ver), VALUES(list), list),
			ver = IF(ver + 1 = VALUES(ver), VALUES(ver), ver - ver - 1)`,
			repo.Bucket(ids[0]), ids[0], 2, "new", repo.Bucket(ids[1]), ids[1], ver, "new")
		return err
	}
	want(t, swap(9), db.LostSwap, repo.ErrConflict)
	if verOf(t, ids[0]) != 1 || verOf(t, ids[1]) != 1 {
		t.Fatalf("got versions %d and %d after a lost swap, want 1 and 1", verOf(t, ids[0]), verOf(t, ids[1]))
	}
	want(t, swap(2), db.OK, nil)
	if verOf(t, ids[0]) != 2 || verOf(t, ids[1]) != 2 {
		t.Errorf("got versions %d and %d, want 2 and 2", verOf(t, ids[0]), verOf(t, ids[1]))
	}
}

func TestClassify_Deadlock(t *testing.T) {
	ids, ctx := rowsOf(t, 2), within(t, 15*time.Second)
	err := deadlock(ctx, dbtest.DB(t), ids[0], ids[1])
	want(t, err, db.Deadlock, repo.ErrConflict)
	if db.OutcomeUnknown(err) {
		t.Error("the outcome of a deadlock is known: nothing was done")
	}
}

// deadlock runs two transactions that lock two rows in opposite order and
// returns the error of the one that lost.
func deadlock(ctx context.Context, pool *sqlx.DB, a, b uint64) error {
	first, both := make(chan struct{}, 2), make(chan struct{})
	errs := make(chan error, 2)
	for _, pair := range [][2]uint64{{a, b}, {b, a}} {
		go func() {
			errs <- db.WithTx(ctx, pool, func(tx *sqlx.Tx) error {
				err := touch(ctx, tx, pair[0])
				first <- struct{}{}
				<-both
				return errors.Join(err, touch(ctx, tx, pair[1]))
			})
		}()
	}
	<-first
	<-first
	close(both)
	return errors.Join(<-errs, <-errs)
}

func TestClassify_LockWait(t *testing.T) {
	id, ctx := rowsOf(t, 1)[0], within(t, 15*time.Second)
	hasty := open(t, db.Config{LockWait: time.Second})
	err := db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error {
		if err := touch(ctx, tx, id); err != nil {
			t.Fatal(err)
		}
		return touch(ctx, hasty, id)
	})
	want(t, err, db.LockWait, repo.ErrConflict)
}

func TestClassify_Duplicate(t *testing.T) {
	id := rowsOf(t, 1)[0]
	want(t, insert(dbtest.DB(t), id), db.Duplicate, repo.ErrConflict)
}

func TestClassify_LostConnection(t *testing.T) {
	ctx := within(t, 15*time.Second)
	t.Run("KilledIdle", func(t *testing.T) {
		conn, id := connection(t)
		kill(t, id)
		// The first use may still go unnoticed into the socket.
		_, err := conn.ExecContext(ctx, `DO 1`)
		want(t, err, db.LostConnection, repo.ErrUnavailable)
	})
	t.Run("IdleTooLong", func(t *testing.T) {
		conn, id := connection(t)
		if _, err := conn.ExecContext(ctx, `SET SESSION wait_timeout = 1`); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, id)
		_, err := conn.ExecContext(ctx, `DO 1`)
		want(t, err, db.LostConnection, repo.ErrUnavailable)
	})
	t.Run("KilledUnderWay", func(t *testing.T) {
		conn, id := connection(t)
		done := make(chan error)
		go func() {
			_, err := conn.ExecContext(ctx, `DO SLEEP(10)`)
			done <- err
		}()
		awaitState(t, id)
		kill(t, id)
		err := <-done
		want(t, err, db.LostConnection, repo.ErrUnavailable)
		if !db.OutcomeUnknown(err) {
			t.Error("the outcome is known, want unknown")
		}
	})
	t.Run("KilledInTransaction", func(t *testing.T) {
		row := rowsOf(t, 1)[0]
		err := db.WithTx(ctx, dbtest.DB(t), func(tx *sqlx.Tx) error {
			var id int64
			if err := tx.Get(&id, `SELECT CONNECTION_ID()`); err != nil {
				return err
			}
			if err := touch(ctx, tx, row); err != nil {
				return err
			}
			kill(t, id)
			return nil
		})
		want(t, err, db.LostConnection, repo.ErrUnavailable)
		if verOf(t, row) != 1 {
			t.Errorf("got version %d, want 1: the server rolls back", verOf(t, row))
		}
	})
}

// connection returns a connection of its own and its id.
func connection(t *testing.T) (*sql.Conn, int64) {
	t.Helper()
	conn, err := dbtest.DB(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var id int64
	if err := conn.QueryRowContext(t.Context(), `SELECT CONNECTION_ID()`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return conn, id
}

// awaitState returns when connection id runs a statement.
func awaitState(t *testing.T, id int64) {
	t.Helper()
	for busy, ctx := 0, within(t, 5*time.Second); busy == 0; {
		err := dbtest.DB(t).GetContext(ctx, &busy,
			`SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info LIKE 'DO SLEEP%'`, id)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// kill ends connection id and waits until it is gone.
func kill(t *testing.T, id int64) {
	t.Helper()
	if _, err := dbtest.DB(t).Exec(fmt.Sprintf(`KILL %d`, id)); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, id)
}

// awaitGone returns when the server has no connection id.
func awaitGone(t *testing.T, id int64) {
	t.Helper()
	for left, ctx := 1, within(t, 5*time.Second); left > 0; {
		err := dbtest.DB(t).GetContext(ctx, &left, `SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?`, id)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A server that stops under a statement leaves it unknown; once it is gone
// there is nothing unknown about the next.
func TestClassify_ServerStops(t *testing.T) {
	ctx := within(t, 20*time.Second)
	server, err := mysqld.Start(ctx, mysqld.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(ctx)
	pool := open(t, db.Config{DSN: server.DSN("information_schema")})
	done := make(chan error)
	go func() {
		_, err := pool.ExecContext(ctx, `DO SLEEP(10)`)
		done <- err
	}()
	for pool.Stats().InUse == 0 {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
	if err := server.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(db.Wrap(err), repo.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}
	_, err = pool.ExecContext(ctx, `DO 1`)
	want(t, err, db.Unavailable, repo.ErrUnavailable)
	if db.OutcomeUnknown(err) {
		t.Error("the outcome is unknown, want known: there was no connection")
	}
}

func TestClassify_TooLarge(t *testing.T) {
	id := rowsOf(t, 1)[0]
	pool := open(t, db.Config{MaxOpen: 1})
	for name, n := range map[string]int{"as text": 65, "prepared": 65 << 10} {
		t.Run("Column, "+name, func(t *testing.T) {
			_, err := pool.Exec(`INSERT INTO username (bucket, name, account_id) VALUES (1, ?, ?)`, strings.Repeat("x", n), id)
			want(t, err, db.TooLarge, repo.ErrTooLarge)
		})
	}
	limit := packet(t, pool)
	t.Run("Statement", func(t *testing.T) {
		_, err := pool.Exec(`DO ` + strings.Repeat(" ", limit) + `1`)
		want(t, err, db.TooLarge, repo.ErrTooLarge)
		want(t, touch(t.Context(), pool, id), db.OK, nil)
	})
	t.Run("Value", func(t *testing.T) {
		_, err := pool.Exec(`UPDATE relation SET list = ? WHERE bucket = ? AND account_id = ?`, make([]byte, limit+1), repo.Bucket(id), id)
		want(t, err, db.TooLarge, repo.ErrTooLarge)
		want(t, touch(t.Context(), pool, id), db.OK, nil)
	})
}

// packet returns the largest packet the server takes.
func packet(t *testing.T, pool *sqlx.DB) (limit int) {
	t.Helper()
	if err := pool.Get(&limit, `SELECT @@max_allowed_packet`); err != nil {
		t.Fatal(err)
	}
	if limit > 64<<20 {
		t.Skipf("the server takes packets of %d bytes", limit)
	}
	return limit
}

func TestClassify_Missing(t *testing.T) {
	_, err := dbtest.DB(t).Exec(`SELECT id FROM no_such_table`)
	want(t, err, db.Missing, nil)
}

func TestClassify_Other(t *testing.T) {
	_, err := dbtest.DB(t).Exec(`SELEKT`)
	want(t, err, db.Other, nil)
	want(t, errors.New("something"), db.Other, nil)
}

func TestClassify_TooManyConnections(t *testing.T) {
	admin := dbtest.DB(t)
	var limit int
	if err := admin.Get(&limit, `SELECT @@GLOBAL.max_connections`); err != nil {
		t.Fatal(err)
	}
	// Opened before: other tests may have left more connections than that.
	pool, err := open(t, db.Config{}), error(nil)
	if _, err := admin.Exec(`SET GLOBAL max_connections = 10`); err != nil {
		t.Fatal(err)
	}
	defer admin.Exec(fmt.Sprintf(`SET GLOBAL max_connections = %d`, limit))
	for range 40 {
		var conn *sql.Conn
		if conn, err = pool.Conn(within(t, 5*time.Second)); err != nil {
			break
		}
		defer conn.Close()
	}
	want(t, err, db.Unavailable, repo.ErrUnavailable)
	if db.OutcomeUnknown(err) {
		t.Error("the outcome is unknown, want known: there was no connection")
	}
}

func TestClassify_DeadlinePassed(t *testing.T) {
	_, err := dbtest.DB(t).ExecContext(within(t, 50*time.Millisecond), `DO SLEEP(3)`)
	want(t, err, db.Unavailable, repo.ErrUnavailable)
	if !db.OutcomeUnknown(err) {
		t.Error("the outcome is known, want unknown: the statement was under way")
	}
}

func TestClassify_ByValue(t *testing.T) {
	number := func(n uint16) error { return fmt.Errorf("swap: %w", &mysql.MySQLError{Number: n}) }
	for _, c := range []struct {
		err   error
		class db.Class
		kind  error
	}{
		{nil, db.OK, nil},
		{number(1690), db.LostSwap, repo.ErrConflict},
		{number(1053), db.LostConnection, repo.ErrUnavailable},
		{number(1927), db.LostConnection, repo.ErrUnavailable},
		{number(3032), db.Unavailable, repo.ErrUnavailable},
		{number(3101), db.Deadlock, repo.ErrConflict},
		{number(4031), db.LostConnection, repo.ErrUnavailable},
		{number(2006), db.LostConnection, repo.ErrUnavailable},
		{number(2013), db.LostConnection, repo.ErrUnavailable},
		{number(1290), db.Unavailable, repo.ErrUnavailable},
		{number(1836), db.Unavailable, repo.ErrUnavailable},
		{number(1040), db.Unavailable, repo.ErrUnavailable},
		{number(1317), db.LostConnection, repo.ErrUnavailable},
		{number(3572), db.LockWait, repo.ErrConflict},
		{number(1153), db.TooLarge, repo.ErrTooLarge},
		{number(1049), db.Missing, nil},
		{number(1045), db.Other, nil},
		{mysql.ErrPktTooLarge, db.TooLarge, repo.ErrTooLarge},
		{driver.ErrBadConn, db.LostConnection, repo.ErrUnavailable},
		{mysql.ErrInvalidConn, db.LostConnection, repo.ErrUnavailable},
		{sql.ErrConnDone, db.LostConnection, repo.ErrUnavailable},
		{io.ErrUnexpectedEOF, db.LostConnection, repo.ErrUnavailable},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, db.LostConnection, repo.ErrUnavailable},
		{context.DeadlineExceeded, db.Unavailable, repo.ErrUnavailable},
		{context.Canceled, db.Unavailable, repo.ErrUnavailable},
		{sql.ErrNoRows, db.Other, repo.ErrNotFound},
		{sql.ErrTxDone, db.Other, nil},
		{repo.ErrTooLarge, db.Other, nil},
	} {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) { want(t, c.err, c.class, c.kind) })
	}
}

// sharded is what Vitess and TiDB say, in their words.
var sharded = []struct {
	number uint16
	text   string
	class  db.Class
}{
	{1105, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes", db.TooLarge},
	{1105, "target: kith.-80.primary: vttablet: rpc error: code = ResourceExhausted desc = grpc: trying to send message larger than max (17000000 vs. 16777216)", db.TooLarge},
	{1105, "target: kith.-80.primary: primary is not serving, there is a reparent operation in progress", db.LostConnection},
	{1105, "target: kith.-80.primary: no healthy tablet available for 'keyspace:\"kith\" shard:\"-80\" tablet_type:PRIMARY'", db.LostConnection},
	{1105, "transaction rolled back to reverse changes of partial DML execution: target: kith.-80.primary: current keyspace is being resharded", db.LostConnection},
	{1105, "target: kith.80-.primary: vttablet: Connection Closed", db.LostConnection},
	{1105, "vttablet: rpc error: code = FailedPrecondition desc = wrong tablet type: REPLICA, want: PRIMARY or []", db.LostConnection},
	{1105, "target: kith.80-.primary: vttablet: rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing\"", db.LostConnection},
	{1105, "rpc error: code = Unavailable desc = error reading from server: EOF", db.LostConnection},
	{1105, "target: kith.-80.primary: vttablet: rpc error: code = InvalidArgument desc = missing bind var", db.Other},
	{1105, "VT03024: '5' user defined variable does not exists", db.Other},
	{1105, "execution result undetermined", db.LostConnection},
	{1105, "other error: unknown error Wire Error(InvalidEnumValue(4004))", db.Other},
	{1317, "target: kith.-80.primary: vttablet: rpc error: code = Aborted desc = transaction 1703182545849001001: ended at 2023-12-21 14:07:41.515 EST (exceeded timeout: 30s)", db.LostConnection},
	{1690, "target: kith.-80.primary: vttablet: BIGINT UNSIGNED value is out of range in '(`ver` - 1)' (errno 1690) (sqlstate 22003)", db.LostSwap},
	{1203, "target: kith.-80.primary: vttablet: rpc error: code = ResourceExhausted desc = transaction pool connection limit exceeded", db.Unavailable},
	{8001, "Out Of Memory Quota!", db.Unavailable},
	{8002, "can not retry select for update statement", db.Deadlock},
	{8004, "Transaction is too large", db.TooLarge},
	{8005, "Write Conflict, txnStartTS is stale", db.Deadlock},
	{8020, "Table 'relation' was locked in WRITE", db.LockWait},
	{8022, "Error: KV error safe to retry", db.Deadlock},
	{8025, "entry too large", db.TooLarge},
	{8027, "Information schema is out of date", db.LostConnection},
	{8028, "Information schema is changed during the execution of the statement", db.Deadlock},
	{8055, "snapshot is older than GC safe point", db.Deadlock},
	{8120, "Failed to get timestamp", db.Unavailable},
	{8175, "Your query has been cancelled due to exceeding the allowed memory limit", db.Unavailable},
	{8229, "TTL manager has timed out, pessimistic locks may expire", db.Deadlock},
	{8252, "Exceeded resource group quota limitation", db.Unavailable},
	{9001, "PD server timeout", db.Unavailable},
	{9002, "TiKV server timeout", db.Unavailable},
	{9003, "TiKV server is busy", db.Unavailable},
	{9004, "Resolve lock timeout", db.LockWait},
	{9005, "Region is unavailable", db.Unavailable},
	{9006, "GC life time is shorter than transaction duration", db.Deadlock},
	{9007, "Write conflict, reason=Optimistic", db.Deadlock},
	{9008, "TiKV store token is up to the limit", db.Unavailable},
	{9010, "TiKV raft entry too large", db.Unavailable},
	{9500, "Transaction is too large", db.TooLarge},
}

func TestClassify_Sharded(t *testing.T) {
	for _, c := range sharded {
		t.Run(fmt.Sprint(c.number, " ", c.text), func(t *testing.T) {
			kind := map[db.Class]error{db.TooLarge: repo.ErrTooLarge, db.LostConnection: repo.ErrUnavailable, db.Unavailable: repo.ErrUnavailable,
				db.Deadlock: repo.ErrConflict, db.LockWait: repo.ErrConflict, db.LostSwap: repo.ErrConflict}[c.class]
			err := fmt.Errorf("swap: %w", &mysql.MySQLError{Number: c.number, Message: c.text})
			want(t, err, c.class, kind)
			if db.OutcomeUnknown(err) != (c.class == db.LostConnection) {
				t.Errorf("outcome unknown: %v", db.OutcomeUnknown(err))
			}
		})
	}
	for n, notPrepared := range map[uint16]bool{1461: true, 1243: true, 1615: true, 8111: true, 8113: true, 8112: false, 1105: false} {
		if db.NotPrepared(&mysql.MySQLError{Number: n}) != notPrepared {
			t.Errorf("%d: got the other answer than %v", n, notPrepared)
		}
	}
}

func TestLost(t *testing.T) {
	for n, want := range map[uint16]bool{1690: true, 1213: true, 1205: true, 1062: false, 2013: false, 1146: false} {
		if got := db.Lost(fmt.Errorf("swap: %w", &mysql.MySQLError{Number: n})); got != want {
			t.Errorf("%d: got %v", n, got)
		}
	}
	if db.Lost(nil) {
		t.Error("what went well was lost")
	}
}
