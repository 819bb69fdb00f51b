// Package socket bounds the connections of an HTTP server. When all are taken, or the
// process may open no more files, the connection that has waited longest for a request is
// closed to let the next in, so that a client that holds many keeps no other out. A
// connection with a request under way is never closed: while all have one, the next waits.
//
// It also puts into JSON what net/http answers by itself in plain text, or, to an unknown
// Expect, without a body. There is no hook for that. Each of these answers is one write
// of its own and begins like none of ours, so the connection can recognise it.
package socket

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/api/core"
)

const warnEvery = 10 * time.Second

// Listener accepts a bounded number of connections. It is safe for concurrent use.
type Listener struct {
	net.Listener
	most int
	log  *slog.Logger

	mu        sync.Mutex
	open      int
	waiting   list.List // of *conn without a request under way, the oldest first
	reclaimed int
	warned    time.Time

	room   chan struct{} // has an element when there may be room
	ended  chan struct{} // closed when the listener is
	ending sync.Once
}

var _ net.Listener = (*Listener)(nil)

// New accepts from l, most connections at a time.
func New(l net.Listener, most int, log *slog.Logger) *Listener {
	return &Listener{Listener: l, most: most, log: log, room: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Server makes a server of h with limits on the time and the headers of a request. Call
// its Serve with l, and Shutdown to let requests under way end.
func Server(h http.Handler, l *Listener) *http.Server {
	return &http.Server{
		Handler:           h,
		ConnState:         l.changed,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// OPTIONS * is an unknown path, too.
		DisableGeneralOptionsHandler: true,
	}
}

// Register registers the metrics of the connections.
func (l *Listener) Register(reg prometheus.Registerer) error {
	read := func(what func() int) func() float64 {
		return func() float64 {
			l.mu.Lock()
			defer l.mu.Unlock()
			return float64(what())
		}
	}
	for _, c := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_http_connections", Help: "Open connections of clients."}, read(func() int { return l.open })),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_http_connections_max", Help: "How many there may be."}, read(func() int { return l.most })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "kith_http_connections_reclaimed_total",
			Help: "Idle connections closed to let others in."}, read(func() int { return l.reclaimed })),
	} {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("api: register metrics: %w", err)
		}
	}
	return nil
}

// Accept returns the next connection when there is room for it.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case err == nil:
			return l.admit(raw)
		case !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE):
			return nil, err
		}
		reclaimed := l.reclaim()
		l.warn("no more files can be opened: connections that wait longest for a request are closed", "err", err)
		if !reclaimed {
			return nil, err // the server waits a little and tries again
		}
	}
}

// admit counts raw once there is room for it.
func (l *Listener) admit(raw net.Conn) (net.Conn, error) {
	for {
		l.mu.Lock()
		if l.open < l.most {
			defer l.mu.Unlock()
			l.open++
			c := &conn{Conn: raw, of: l}
			c.waiting = l.waiting.PushBack(c)
			return c, nil
		}
		l.mu.Unlock()
		if l.reclaim() {
			l.warn("all connections are taken: those that wait longest for a request are closed")
			continue
		}
		l.warn("all connections are taken by requests under way: new ones wait")
		select {
		case <-l.room:
		case <-l.ended:
			raw.Close()
			return nil, net.ErrClosed
		}
	}
}

// reclaim closes the connection that has waited longest for a request, if any does.
func (l *Listener) reclaim() bool {
	l.mu.Lock()
	oldest := l.waiting.Front()
	if oldest == nil {
		l.mu.Unlock()
		return false
	}
	l.reclaimed++
	l.mu.Unlock()
	oldest.Value.(*conn).Close()
	return true
}

// changed notes which connections have a request under way; it is http.Server.ConnState.
func (l *Listener) changed(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case state == http.StateIdle && c.waiting == nil:
		c.waiting = l.waiting.PushBack(c)
		select {
		case l.room <- struct{}{}:
		default:
		}
	case c.waiting != nil && (state == http.StateActive || state == http.StateHijacked):
		l.waiting.Remove(c.waiting)
		c.waiting = nil
	}
}

// warn logs that connections are scarce, at most once in warnEvery.
func (l *Listener) warn(what string, args ...any) {
	l.mu.Lock()
	now, reclaimed := time.Now(), l.reclaimed
	quiet := now.Sub(l.warned) < warnEvery
	if !quiet {
		l.warned = now
	}
	l.mu.Unlock()
	if !quiet {
		l.log.Warn(what, append(args, "max", l.most, "closed_so_far", reclaimed)...)
	}
}

// Close stops listening. What was accepted stays.
func (l *Listener) Close() error {
	l.ending.Do(func() { close(l.ended) })
	return l.Listener.Close()
}

// conn is a connection that counts.
type conn struct {
	net.Conn
	of      *Listener
	waiting *list.Element // in of.waiting, nil while a request is under way
	closed  bool
}

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	err := c.Conn.Close()
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return err
	}
	c.closed = true
	if c.waiting != nil {
		l.waiting.Remove(c.waiting)
		c.waiting = nil
	}
	l.open--
	select {
	case l.room <- struct{}{}:
	default:
	}
	return err
}

// CloseWrite ends the answer. net/http calls it before it closes a connection on which
// the client may still be sending, so that the client reads the answer to its end.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

const (
	// plainHead follows the status line of net/http's answers in plain text.
	plainHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	// emptyTail ends its answer to an Expect.
	emptyTail = "\r\nContent-Length: 0\r\n\r\n"
)

// plainAnswers are the statuses that net/http answers with, and our answers.
var plainAnswers = map[int]*core.Refusal{
	http.StatusBadRequest:                  core.Refuse("invalid_request", "The request is not valid HTTP"),
	http.StatusExpectationFailed:           core.Refuse("expectation_failed", "This expectation cannot be met"),
	http.StatusRequestHeaderFieldsTooLarge: core.Refuse("headers_too_large", "The path and headers of the request are too long"),
	http.StatusNotImplemented:              core.Refuse("unknown_transfer_encoding", "This transfer encoding is unknown"),
	http.StatusHTTPVersionNotSupported:     core.Refuse("unknown_http_version", "This version of HTTP is unknown"),
}

// Write sends p, or our JSON where p is an answer of net/http itself.
func (c *conn) Write(p []byte) (int, error) {
	const version, digits = "HTTP/1.1 ", 3
	if len(p) < len(version)+digits || p[len(version)] < '4' || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return c.Conn.Write(p)
	}
	status, _ := strconv.Atoi(string(p[len(version) : len(version)+digits])) // 0 where it is no number
	ours, end := plainAnswers[status], bytes.Index(p, []byte("\r\n"))
	empty := status == http.StatusExpectationFailed && bytes.HasSuffix(p, []byte(emptyTail))
	if ours == nil || end < 0 || !empty && !bytes.HasPrefix(p[end:], []byte(plainHead)) {
		return c.Conn.Write(p)
	}
	body := ours.Body()
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\nX-Content-Type-Options: nosniff\r\n"+
		"Cache-Control: private, no-store\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
