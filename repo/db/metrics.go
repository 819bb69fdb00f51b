package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are about the calls of a pool's connections. A nil *Metrics counts nothing.
type Metrics struct {
	calls map[callKind]prometheus.Observer
}

// callKind is what a call is for. Waits for a connection of the pool are no calls.
type callKind string

const (
	readCall     callKind = "read"
	lockCall     callKind = "lock" // SELECT … FOR UPDATE, which waits for others
	writeCall    callKind = "write"
	prepareCall  callKind = "prepare"
	beginCall    callKind = "begin"
	commitCall   callKind = "commit"
	rollbackCall callKind = "rollback"
)

// NewMetrics registers the metrics, which several pools may share.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kith_mysql_call_seconds",
		Help:    "How long the server took to answer a call, by kind: read, lock, write, prepare, begin, commit, rollback.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}, []string{"kind"})
	reg.MustRegister(seconds)
	m := &Metrics{calls: map[callKind]prometheus.Observer{}}
	for _, k := range []callKind{readCall, lockCall, writeCall, prepareCall, beginCall, commitCall, rollbackCall} {
		m.calls[k] = seconds.WithLabelValues(string(k))
	}
	return m
}

// called counts a call that began at start, unless the connection left it to others.
func (m *Metrics) called(k callKind, start time.Time, err error) {
	if !errors.Is(err, driver.ErrSkip) {
		m.calls[k].Observe(time.Since(start).Seconds())
	}
}

func kindOfCall(query string) callKind {
	const read = "SELECT"
	switch {
	case len(query) < len(read) || !strings.EqualFold(query[:len(read)], read):
		return writeCall
	case strings.HasSuffix(query, "FOR UPDATE"):
		return lockCall
	}
	return readCall
}

// timed is a connection whose calls are counted.
type timed struct {
	conn
	metrics *Metrics
}

var _ conn = (*timed)(nil)

// ExecContext is that of the connection.
func (t *timed) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	start := time.Now()
	r, err := t.conn.ExecContext(ctx, query, args)
	t.metrics.called(kindOfCall(query), start, err)
	return r, err
}

// QueryContext is that of the connection.
func (t *timed) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	start := time.Now()
	r, err := t.conn.QueryContext(ctx, query, args)
	t.metrics.called(kindOfCall(query), start, err)
	return r, err
}

// PrepareContext is that of the connection.
func (t *timed) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	start := time.Now()
	s, err := t.conn.PrepareContext(ctx, query)
	t.metrics.called(prepareCall, start, err)
	if err != nil {
		return nil, err
	}
	return &timedStmt{stmt: s.(stmt), kind: kindOfCall(query), metrics: t.metrics}, nil
}

// BeginTx is that of the connection.
func (t *timed) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	start := time.Now()
	tx, err := t.conn.BeginTx(ctx, o)
	t.metrics.called(beginCall, start, err)
	if err != nil {
		return nil, err
	}
	return &timedTx{tx, t.metrics}, nil
}

// timedStmt is a statement whose executions are counted.
type timedStmt struct {
	stmt
	kind    callKind
	metrics *Metrics
}

// ExecContext is that of the statement.
func (s *timedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	start := time.Now()
	r, err := s.stmt.ExecContext(ctx, args)
	s.metrics.called(s.kind, start, err)
	return r, err
}

// QueryContext is that of the statement.
func (s *timedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	start := time.Now()
	r, err := s.stmt.QueryContext(ctx, args)
	s.metrics.called(s.kind, start, err)
	return r, err
}

// timedTx is a transaction whose end is counted.
type timedTx struct {
	tx      driver.Tx
	metrics *Metrics
}

// Commit is that of the transaction.
func (t *timedTx) Commit() error {
	start := time.Now()
	err := t.tx.Commit()
	t.metrics.called(commitCall, start, err)
	return err
}

// Rollback is that of the transaction.
func (t *timedTx) Rollback() error {
	start := time.Now()
	err := t.tx.Rollback()
	t.metrics.called(rollbackCall, start, err)
	return err
}
