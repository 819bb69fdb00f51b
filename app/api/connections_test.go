package api_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo/waittest"
)

// lines is a log that a test can wait for.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// next is the next line of the log.
func (l lines) next(t *testing.T) string {
	t.Helper()
	return waittest.Receive(t, time.Minute, "line of the log", l)
}

// visitor is a client on a connection of its own.
type visitor struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func visit(t *testing.T, address string) *visitor {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	return &visitor{t, conn, bufio.NewReader(conn)}
}

func (v *visitor) say(format string, args ...any) {
	v.t.Helper()
	if _, err := fmt.Fprintf(v.conn, format, args...); err != nil {
		v.t.Fatal(err)
	}
}

// hears reads an answer.
func (v *visitor) hears(status int) {
	v.t.Helper()
	resp, err := http.ReadResponse(v.in, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != status {
		v.t.Fatalf("got %s, want %d", resp.Status, status)
	}
}

func (v *visitor) asks() { v.say("GET /livez HTTP/1.1\r\nHost: kith.test\r\n\r\n") }

// gone reports whether the server has closed the connection.
func (v *visitor) gone() bool {
	v.t.Helper()
	if _, err := v.conn.Write([]byte("GET /livez HTTP/1.1\r\nHost: kith.test\r\n\r\n")); err != nil {
		return true
	}
	_, err := http.ReadResponse(v.in, nil)
	return err != nil
}

// A client that holds many connections keeps no other out: those without a request
// under way are closed.
func TestListener_Idle(t *testing.T) {
	for _, talks := range []bool{true, false} {
		t.Run(fmt.Sprintf("having asked %v", talks), func(t *testing.T) {
			const most, sitters = 3, 20
			log := make(lines, 100)
			l, address := listening(t, newWorld(t), most, slog.New(slog.NewTextHandler(log, nil)))
			reg := prometheus.NewRegistry()
			if err := l.Register(reg); err != nil {
				t.Fatal(err)
			}
			var all []*visitor
			for range sitters {
				v := visit(t, address)
				if all = append(all, v); talks {
					v.asks()
					v.hears(http.StatusOK)
				}
			}
			last := visit(t, address)
			last.asks()
			last.hears(http.StatusOK)
			gone := 0
			for _, v := range all {
				if v.gone() {
					gone++
				}
			}
			if gone < sitters-most+1 || gone > sitters {
				t.Errorf("%d of %d connections were closed, want all but %d", gone, sitters, most-1)
			}
			if got := log.next(t); !strings.Contains(got, "all connections are taken") || !strings.Contains(got, "max=3") {
				t.Errorf("the log says %q", got)
			}
			want := fmt.Sprintf("# HELP kith_http_connections_max How many there may be.\n# TYPE kith_http_connections_max gauge\nkith_http_connections_max %d\n", most)
			if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "kith_http_connections_max"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A request under way is never cut off for somebody else, who waits.
func TestListener_AllBusy(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	log := make(lines, 100)
	_, address := listening(t, w, 2, slog.New(slog.NewTextHandler(log, nil)))
	var busy []*visitor
	for range 2 {
		v := visit(t, address)
		v.say("POST %s HTTP/1.1\r\nHost: kith.test\r\nAuthorization: Bearer %s\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
			"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n", at(you, "/note"), w.as(me).token)
		v.hears(http.StatusContinue) // the handler reads the body
		busy = append(busy, v)
	}
	third := visit(t, address)
	third.asks()
	if got := log.next(t); !strings.Contains(got, "new ones wait") {
		t.Errorf("the log says %q", got)
	}
	for _, v := range busy {
		v.say("comment=x")
		v.hears(http.StatusOK)
	}
	third.hears(http.StatusOK)
}
