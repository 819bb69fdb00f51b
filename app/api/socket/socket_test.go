package socket

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// scripted is a listener that accepts what a test wrote down.
type scripted struct {
	net.Listener
	next []func() (net.Conn, error)
}

func (s *scripted) Accept() (net.Conn, error) {
	next := s.next[0]
	s.next = s.next[1:]
	return next()
}

func arrives() (net.Conn, error) {
	c, _ := net.Pipe()
	return c, nil
}

func noFiles() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// The one that has waited longest goes first, also where it is files that are scarce.
func TestListener_OldestFirst(t *testing.T) {
	s := &scripted{next: []func() (net.Conn, error){arrives, arrives, arrives, arrives, noFiles, arrives, noFiles, noFiles}}
	l := New(s, 3, slog.New(slog.DiscardHandler))
	accept := func() *conn {
		t.Helper()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c.(*conn)
	}
	a, b, c := accept(), accept(), accept()
	l.changed(b, http.StateActive)
	l.changed(a, http.StateActive)
	l.changed(a, http.StateIdle) // c has waited longest now, then a
	d := accept()
	if !c.closed || a.closed || b.closed {
		t.Errorf("closed: a %v, b %v, c %v; want c", a.closed, b.closed, c.closed)
	}
	e := accept()
	if !a.closed || b.closed || d.closed {
		t.Errorf("out of files, closed: a %v, b %v, d %v; want a", a.closed, b.closed, d.closed)
	}
	l.changed(d, http.StateActive)
	l.changed(e, http.StateActive)
	if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("out of files and all busy: got %v, want that error", err)
	}
	for _, one := range []*conn{b, d, e} {
		one.Close()
		one.Close()
	}
	if l.open != 0 || l.waiting.Len() != 0 {
		t.Errorf("%d open and %d waiting, want none", l.open, l.waiting.Len())
	}
}

// recorded is a connection that keeps what is written.
type recorded struct {
	net.Conn
	sent []byte
}

func (r *recorded) Write(p []byte) (int, error) {
	r.sent = append(r.sent, p...)
	return len(p), nil
}

// What a handler sends is never taken for what net/http says.
func TestPlain_OthersAreLeftAlone(t *testing.T) {
	for _, text := range []string{
		"", "HTTP/1.1 4", "HTTP/1.1 400 Bad Request\r\nCache-Control: x\r\n\r\n", "HTTP/1.1 200 OK" + plainHead + "fine",
		"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n\r\n", "HTTP/1.1 4x0 y" + plainHead, `{"error":"HTTP/1.1 400 Bad Request"}`,
		"HTTP/1.1 400 Bad Request", "HTTP/1.1 404 Not Found" + plainHead + "404 page not found",
	} {
		var wire recorded
		if _, err := (&conn{Conn: &wire}).Write([]byte(text)); err != nil || string(wire.sent) != text {
			t.Errorf("%q becomes %q, %v", text, wire.sent, err)
		}
	}
}
