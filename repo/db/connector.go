package db

import (
	"context"
	"database/sql/driver"
	"time"
)

// connector makes connections with the session of the package doc.
type connector struct {
	driver.Connector
	timeout time.Duration
	session []assignment
	keep    bool // statements
	metrics *Metrics
}

var _ driver.Connector = (*connector)(nil)

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
	if err := begin(ctx, session, c.session); err != nil {
		session.Close()
		return nil, &connectError{err}
	}
	if c.keep {
		session = newKeeper(session)
	}
	if c.metrics != nil {
		session = &timed{session, c.metrics}
	}
	return session, nil
}

// connectError is a failure before any statement was sent: whatever its cause,
// nothing was done.
type connectError struct{ cause error }

func (e *connectError) Error() string { return "connect: " + e.cause.Error() }
func (e *connectError) Unwrap() error { return e.cause }
