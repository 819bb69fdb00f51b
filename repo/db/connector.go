package db

import (
	"context"
	"database/sql/driver"
	"time"
)

// connector makes connections whose isolation is READ COMMITTED. The variable
// behind it is tx_isolation on MariaDB 10.11 and transaction_isolation on
// MySQL 8, so it cannot be a parameter of the DSN; the statement is the same
// everywhere.
type connector struct {
	driver.Connector
	timeout time.Duration
	keep    bool // statements
}

var _ driver.Connector = (*connector)(nil)

const setIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

// Connect dials, shakes hands and sets the session, all within the timeout:
// the driver's own bounds dialling alone.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, &connectError{err}
	}
	session := made.(conn)
	if _, err := session.ExecContext(ctx, setIsolation, nil); err != nil {
		session.Close()
		return nil, &connectError{err}
	}
	if c.keep {
		return newKeeper(session), nil
	}
	return session, nil
}

// connectError is a failure before any statement was sent: whatever its cause,
// nothing was done.
type connectError struct{ cause error }

func (e *connectError) Error() string { return "connect: " + e.cause.Error() }
func (e *connectError) Unwrap() error { return e.cause }
