package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"
)

// The bounds of what is kept.
const (
	// keptFrom is how many bytes of blobs and text a statement has at least to be
	// prepared and kept. What has less travels within the text.
	keptFrom = 1 << 10
	// keptBytes is what the statements of one connection take of the server's memory,
	// and four connections together. It is enough for the swaps of 1 to 48 rows.
	keptBytes = 10 << 20
	// A statement takes 32 to 64 KiB and some 400 bytes for each parameter (MariaDB
	// 10.11, Memory_used of the session).
	statementBytes = 48 << 10
	paramBytes     = 400
	// keptLargest is how many parameters one may have to be kept. Larger ones would
	// push out many that come more often.
	keptLargest = 48*12 + 2
	// keptArgument is the longest argument, in bytes, of a kept statement. Long ones go
	// ahead of their execution, and one above max_allowed_packet would leave the
	// statement broken.
	keptArgument = 512 << 10
)

// driverConn is what package sql asks of a connection of the driver.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	driver.NamedValueChecker
}

// driverStmt is what a conn asks of a statement of the driver.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is a connection that chooses for each statement how its arguments travel, see
// the package doc, and counts how long the server takes. It keeps what it prepared. (A
// sql.Stmt belongs to the pool, which prepares it again on the connection that a
// transaction happens to have.) One goroutine at a time uses it.
type conn struct {
	driverConn
	metrics *Metrics
	budget  *budget
	kept    map[string]*kept // by text
	bytes   int64            // of all kept
	uses    uint64
}

var _ driverConn = (*conn)(nil)

// kept is a statement that is prepared on the server.
type kept struct {
	driverStmt
	bytes int64  // of the server's memory
	used  uint64 // when, as a number of the connection's uses
}

// budget is how many bytes of the server's memory the connections of a pool may still
// take for the statements they keep.
type budget struct{ left atomic.Int64 }

func newBudget(connections int) *budget {
	b := &budget{}
	b.left.Store(int64(max(1, connections/4)) * keptBytes)
	return b
}

// take reports whether there were n bytes to take.
func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

func newConn(c driverConn, b *budget, m *Metrics) *conn {
	return &conn{driverConn: c, metrics: m, budget: b, kept: map[string]*kept{}}
}

// Close is that of the driver. The server forgets what it prepared.
func (c *conn) Close() error {
	c.budget.left.Add(c.bytes)
	return c.driverConn.Close()
}

// ExecContext answers driver.ErrSkip where the driver does: then package sql prepares,
// executes and closes the statement.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return send(ctx, c, query, args, c.driverConn.ExecContext, driverStmt.ExecContext)
}

// QueryContext answers driver.ErrSkip as ExecContext does.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return send(ctx, c, query, args, c.driverConn.QueryContext, driverStmt.QueryContext)
}

// send sends a statement in the way that is best for its arguments. Where there is no
// room to keep it, here or on the server, it goes as text: nothing was executed.
func send[R any](ctx context.Context, c *conn, query string, args []driver.NamedValue,
	asText func(context.Context, string, []driver.NamedValue) (R, error),
	prepared func(driverStmt, context.Context, []driver.NamedValue) (R, error)) (out R, err error) {
	if keepable(args) {
		out, err = sendKept(ctx, c, query, args, prepared)
		if !NotPrepared(err) && !errors.Is(err, errNoRoom) {
			return out, err
		}
	}
	start := time.Now()
	out, err = asText(ctx, query, args)
	c.metrics.called(kindOfCall(query), start, err)
	return out, err
}

// keepable reports whether a statement with these arguments is for keeping.
func keepable(args []driver.NamedValue) bool {
	bytes := 0
	for _, a := range args {
		n := 0
		switch v := a.Value.(type) {
		case []byte:
			n = len(v)
		case string:
			n = len(v)
		}
		if n > keptArgument {
			return false
		}
		bytes += n
	}
	return bytes >= keptFrom && len(args) <= keptLargest
}

// sendKept runs a statement that is kept, or is from now on. One that the server has
// forgotten is prepared again, once: nothing was executed.
func sendKept[R any](ctx context.Context, c *conn, query string, args []driver.NamedValue,
	run func(driverStmt, context.Context, []driver.NamedValue) (R, error)) (out R, err error) {
	s, before := c.kept[query]
	if !before {
		if s, err = c.keep(ctx, query, len(args)); err != nil {
			return out, err
		}
	}
	c.uses++
	s.used = c.uses
	start := time.Now()
	out, err = run(s.driverStmt, ctx, args)
	c.metrics.called(kindOfCall(query), start, err)
	if err != nil && !sound(err) {
		c.drop(query)
	}
	if before && NotPrepared(err) {
		return sendKept(ctx, c, query, args, run)
	}
	return out, err
}

// sound reports the errors after which a statement is as good as before. Others may
// come before its arguments were used up, and leave long ones in it.
func sound(err error) bool { return Lost(err) || Classify(err) == Duplicate }

// errNoRoom says that the other connections of the pool keep all that it may keep.
var errNoRoom = errors.New("no room to keep a statement")

// keep prepares a statement, and makes room for it first: what was not used for longest
// is closed.
func (c *conn) keep(ctx context.Context, query string, params int) (*kept, error) {
	s := &kept{bytes: statementBytes + int64(params)*paramBytes}
	for c.bytes+s.bytes > keptBytes || !c.budget.take(s.bytes) {
		if len(c.kept) == 0 {
			return nil, errNoRoom
		}
		oldest, least := "", c.uses+1
		for text, s := range c.kept {
			if s.used < least {
				oldest, least = text, s.used
			}
		}
		c.drop(oldest)
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		c.budget.left.Add(s.bytes)
		return nil, err
	}
	s.driverStmt = prepared.(driverStmt)
	c.kept[query] = s
	c.bytes += s.bytes
	return s, nil
}

// drop closes a statement. A server that cannot be reached forgets it together with
// the connection.
func (c *conn) drop(query string) {
	s := c.kept[query]
	delete(c.kept, query)
	c.bytes -= s.bytes
	c.budget.left.Add(s.bytes)
	s.Close()
}

// PrepareContext is that of the driver, counted.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	start := time.Now()
	s, err := c.driverConn.PrepareContext(ctx, query)
	c.metrics.called(prepareCall, start, err)
	return s, err
}

// BeginTx is that of the driver, counted.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	start := time.Now()
	tx, err := c.driverConn.BeginTx(ctx, o)
	c.metrics.called(beginCall, start, err)
	return &timedTx{tx, c.metrics}, err
}

// timedTx is a transaction whose end is counted.
type timedTx struct {
	driver.Tx
	metrics *Metrics
}

// Commit is that of the transaction.
func (t *timedTx) Commit() error {
	start := time.Now()
	err := t.Tx.Commit()
	t.metrics.called(commitCall, start, err)
	return err
}

// Rollback is that of the transaction.
func (t *timedTx) Rollback() error {
	start := time.Now()
	err := t.Tx.Rollback()
	t.metrics.called(rollbackCall, start, err)
	return err
}
