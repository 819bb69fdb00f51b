package db

import (
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are about the calls of a pool's connections: how long each took, from the request
// to the first of the answer, by its kind. The statements of a new session are not counted.
// A nil *Metrics counts nothing.
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
	if m != nil && !errors.Is(err, driver.ErrSkip) {
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
