package db

import (
	"context"
	"database/sql/driver"
)

// The bounds of what one connection keeps.
const (
	// keptStatements is how many statements. A server spends 32 to 64 KiB on each.
	keptStatements = 128
	// keptParams is how many parameters they have together. A server spends some
	// 400 bytes on each.
	keptParams = 14_400
	// keptLargest is how many parameters one may have to be kept. One that has more
	// would push out many that come more often.
	keptLargest = 48*12 + 2
	// keptArgument is the longest argument, in bytes, that goes through a kept
	// statement. Long ones go ahead of their execution, and one that is longer than
	// the server takes (max_allowed_packet) would leave the statement broken, for
	// all that come after it.
	keptArgument = 512 << 10
)

// conn is what package sql asks of a connection of the driver.
type conn interface {
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

// stmt is what a keeper asks of a statement of the driver.
type stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keeper is a connection that keeps the statements it prepared: from the second
// time on a statement with arguments takes one round trip, within a transaction and
// outside. (A sql.Stmt would not do: it belongs to the pool, which prepares it anew
// on whatever connection a transaction happens to have.) Where one more would be
// too many, the one that was not used for longest is closed.
//
// Like every connection it is one goroutine's at a time.
type keeper struct {
	conn
	kept   map[string]*kept // by text
	params int              // of all kept
	uses   uint64
}

var _ conn = (*keeper)(nil)

// kept is a statement that is prepared on the server.
type kept struct {
	stmt
	params int
	used   uint64 // when, as a number of the keeper's uses
}

func newKeeper(c conn) *keeper { return &keeper{conn: c, kept: map[string]*kept{}} }

// ExecContext answers driver.ErrSkip where the statement is not for keeping: it is
// then prepared, executed and closed by package sql.
func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	switch {
	case len(args) == 0:
		return k.conn.ExecContext(ctx, query, args)
	case !keepable(args):
		return nil, driver.ErrSkip
	}
	return through(ctx, k, query, args, stmt.ExecContext)
}

// QueryContext answers driver.ErrSkip as ExecContext does.
func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	switch {
	case len(args) == 0:
		return k.conn.QueryContext(ctx, query, args)
	case !keepable(args):
		return nil, driver.ErrSkip
	}
	return through(ctx, k, query, args, stmt.QueryContext)
}

func keepable(args []driver.NamedValue) bool {
	if len(args) > keptLargest {
		return false
	}
	for _, a := range args {
		switch v := a.Value.(type) {
		case []byte:
			if len(v) > keptArgument {
				return false
			}
		case string:
			if len(v) > keptArgument {
				return false
			}
		}
	}
	return true
}

// through runs a statement that is kept, or is from now on. One that the server
// turns out not to have any more is prepared anew: nothing was executed.
func through[R any](ctx context.Context, k *keeper, query string, args []driver.NamedValue, run func(stmt, context.Context, []driver.NamedValue) (R, error)) (out R, err error) {
	s, before := k.kept[query]
	if !before {
		if s, err = k.prepare(ctx, query, len(args)); err != nil {
			return out, err
		}
	}
	k.uses++
	s.used = k.uses
	out, err = run(s.stmt, ctx, args)
	if err != nil && !sound(err) {
		k.drop(query)
	}
	if before && NotPrepared(err) {
		return through(ctx, k, query, args, run)
	}
	return out, err
}

// sound tells the errors after which a statement is as good as before. Others may
// come before its arguments were used up, and leave long ones in it.
func sound(err error) bool { return Lost(err) || Classify(err) == Duplicate }

// prepare keeps a new statement, and makes room for it first.
func (k *keeper) prepare(ctx context.Context, query string, params int) (*kept, error) {
	for len(k.kept) >= keptStatements || k.params+params > keptParams {
		k.drop(k.oldest())
	}
	prepared, err := k.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := &kept{stmt: prepared.(stmt), params: params}
	k.kept[query] = s
	k.params += params
	return s, nil
}

// oldest returns the text of the statement that was not used for longest.
func (k *keeper) oldest() (query string) {
	least := k.uses + 1
	for text, s := range k.kept {
		if s.used < least {
			query, least = text, s.used
		}
	}
	return query
}

// drop closes a statement. A server that cannot be told forgets it together with
// the connection.
func (k *keeper) drop(query string) {
	s := k.kept[query]
	delete(k.kept, query)
	k.params -= s.params
	s.Close()
}
