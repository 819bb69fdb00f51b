package core

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

func newTestServer(t *testing.T, routes ...Route) *Server {
	t.Helper()
	s, err := New(Config{Tokens: &counted{}, Accounts: who()}, routes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Echo must know no route that the table does not.
func TestServer_NoOtherRoutes(t *testing.T) {
	answer := func(_ context.Context, c *Call) error { return c.OK("{}") }
	s := newTestServer(t, Get("/a", Public, answer), Post("/a/:id", Public, answer))
	for _, have := range s.echo.Routes() {
		if !slices.ContainsFunc(s.routes, func(r Route) bool {
			return r.Path == have.Path && (r.Method == have.Method || r.Method == http.MethodGet && have.Method == http.MethodHead)
		}) && have.Method != echo.RouteNotFound {
			t.Errorf("%s %s is not in the table", have.Method, have.Path)
		}
	}
}

// lifted is an answer on a connection whose deadlines can be set.
type lifted struct {
	*httptest.ResponseRecorder
	read, write *time.Time
}

func (l *lifted) SetReadDeadline(at time.Time) error  { l.read = &at; return nil }
func (l *lifted) SetWriteDeadline(at time.Time) error { l.write = &at; return nil }

// What is long-lived has no time limit, neither its own nor that of the connection;
// everything else has its own.
func TestServer_LongLived(t *testing.T) {
	var limited bool
	look := func(ctx context.Context, c *Call) error {
		_, limited = ctx.Deadline()
		_, also := c.Request.Context().Deadline()
		if limited != also {
			t.Error("the request and its context disagree")
		}
		return c.OK("{}")
	}
	s := newTestServer(t, Get("/usual", Public, look), Get("/stream", Needs{LongLived: true}, look))
	w := &lifted{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/usual", nil))
	if !limited || w.read != nil || w.write != nil {
		t.Errorf("usual: limited %v, deadlines %v and %v; want a limit and deadlines as they were", limited, w.read, w.write)
	}
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/stream", nil))
	if limited || w.read == nil || !w.read.IsZero() || w.write == nil || !w.write.IsZero() {
		t.Errorf("long-lived: limited %v, deadlines %v and %v; want none", limited, w.read, w.write)
	}
}

// A route that reads a body says so, or it has none to read.
func TestServer_BodyUndeclared(t *testing.T) {
	read := func(_ context.Context, c *Call) error {
		_, err := c.Body()
		return err
	}
	s := newTestServer(t, Post("/undeclared", Public, read))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/undeclared", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("got %d %s, want 500", w.Code, w.Body)
	}
}
