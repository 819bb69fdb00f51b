package api

import (
	"container/list"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// warnEvery is how often the log says that connections are scarce.
const warnEvery = 10 * time.Second

// Listener bounds the connections of an HTTP server. When they are all taken, or
// the process may open no more files, the one that has waited longest for a request
// is closed to let the next in; one with a request under way never is. While all
// have one, who comes next waits. It is safe for concurrent use.
//
// What net/http answers by itself leaves its connections as JSON, see plain.go.
type Listener struct {
	net.Listener
	most int
	log  *slog.Logger

	mu        sync.Mutex
	open      int
	waiting   list.List // of *conn without a request under way, the oldest first
	reclaimed int64
	warned    time.Time

	room   chan struct{} // has an element when there may be room again
	ended  chan struct{} // closed when the listener is
	ending sync.Once
}

var _ net.Listener = (*Listener)(nil)

// NewListener lets through what l accepts, most connections at a time.
func NewListener(l net.Listener, most int, log *slog.Logger) *Listener {
	return &Listener{Listener: l, most: most, log: log, room: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Register shows the metrics of the connections.
func (l *Listener) Register(reg prometheus.Registerer) error {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	for _, c := range []prometheus.Collector{
		gauge("kith_http_connections", "Open connections of clients.", func() float64 { return float64(l.count(&l.open)) }),
		gauge("kith_http_connections_max", "How many there may be.", func() float64 { return float64(l.most) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "kith_http_connections_reclaimed_total",
			Help: "Idle connections closed to let others in."}, func() float64 {
			l.mu.Lock()
			defer l.mu.Unlock()
			return float64(l.reclaimed)
		}),
	} {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("api: register metrics: %w", err)
		}
	}
	return nil
}

func (l *Listener) count(n *int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *n
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
			return nil, err // the server waits a little and comes again
		}
	}
}

// admit waits for room.
func (l *Listener) admit(raw net.Conn) (net.Conn, error) {
	for {
		if c := l.take(raw); c != nil {
			return c, nil
		}
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

// take makes raw one of ours where there is room, else it returns nil.
func (l *Listener) take(raw net.Conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		return nil
	}
	l.open++
	c := &conn{Conn: raw, of: l}
	c.place = l.waiting.PushBack(c)
	return c
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

// changed follows the life of a connection, as http.Server.ConnState.
func (l *Listener) changed(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case state == http.StateIdle && c.place == nil:
		c.place = l.waiting.PushBack(c)
		l.tell()
	case state == http.StateActive, state == http.StateHijacked:
		c.unlist()
	}
}

// tell wakes who waits for room.
func (l *Listener) tell() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// warn logs, now and then, that connections are scarce.
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
	of     *Listener
	place  *list.Element // in of.waiting, nil while a request is under way
	closed bool
}

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.unlist()
		c.of.open--
		c.of.tell()
	}
	return err
}

func (c *conn) unlist() {
	if c.place != nil {
		c.of.waiting.Remove(c.place)
		c.place = nil
	}
}

// Write sends p, and in place of what net/http says itself what we would.
func (c *conn) Write(p []byte) (int, error) {
	own := jsonOf(p)
	if own == nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(own); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite tells the client that nothing more comes. net/http does so before it
// closes a connection on which the client may still be sending, so that the client
// reads the answer to its end.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
