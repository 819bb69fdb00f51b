package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
	"kith/repo/waittest"
)

// However many ask, the database is asked once a second, and those who come while it
// is wait for its answer.
func TestReadiness_OneLook(t *testing.T) {
	var looks atomic.Int32
	begun, answer := make(chan struct{}), make(chan error, 1)
	now := time.Unix(1_700_000_000, 0)
	r := &readiness{now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler), check: func(context.Context) error {
		looks.Add(1)
		close(begun)
		return <-answer
	}}
	var all sync.WaitGroup
	gone, leave := context.WithCancel(t.Context())
	for i := range 64 {
		ctx := t.Context()
		if i == 0 {
			ctx = gone
		}
		all.Go(func() {
			if got := r.missing(ctx); fmt.Sprint(got) != "[mysql_read_only]" {
				t.Errorf("got %v, want mysql_read_only", got)
			}
		})
	}
	waittest.Receive(t, patience, "beginning", begun)
	leave() // whoever asked first may be the one whose question is on its way
	answer <- fmt.Errorf("x: %w", db.ErrReadOnly)
	all.Wait()
	if n := looks.Load(); n != 1 {
		t.Errorf("the database was asked %d times, want once", n)
	}
	r.draining.Store(true)
	if got := r.missing(t.Context()); fmt.Sprint(got) != "[draining mysql_read_only]" {
		t.Errorf("draining: got %v, want to hear of it at once", got)
	}
	now = now.Add(checkEvery)
	r.check = func(context.Context) error { return errors.New("away") }
	if got := r.missing(t.Context()); fmt.Sprint(got) != "[draining mysql]" {
		t.Errorf("a second later: got %v, want what is so now", got)
	}
}

// readyz asks /readyz.
func readyz(t *testing.T, address string) (status int, body string) {
	t.Helper()
	answer, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// waitReady asks /readyz until it answers so.
func waitReady(t *testing.T, address string, status int) string {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		got, body := readyz(t, address)
		if got == status {
			return body
		}
		if time.Now().After(late) {
			t.Fatalf("in %v /readyz is not %d but %d %s", patience, status, got, body)
		}
	}
}

// A primary that was demoted is not ready, and is again when it is promoted.
func TestServe_ReadOnly(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	server, err := mysqld.Start(ctx, mysqld.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(ctx, "kith"); err != nil {
		t.Fatal(err)
	}
	env := on(server.DSN("kith"))
	runKith(t, t.TempDir(), env, nil, "migrate", "up").wants(t)
	p := startKith(t, t.TempDir(), append(env, "KITH_ADMIN_LISTEN=127.0.0.1:0"), "serve")
	admin, _, _ := strings.Cut(p.waitFor(t, "msg=admin address="), " ")
	address, _, _ := strings.Cut(p.waitFor(t, "msg=serving address="), " ")
	pool := dbtest.Open(t, db.Config{DSN: server.DSN("kith")})
	for _, at := range []string{address, admin} {
		waitReady(t, at, http.StatusOK)
		if _, err := pool.Exec("SET GLOBAL read_only = 1"); err != nil {
			t.Fatal(err)
		}
		if body := waitReady(t, at, http.StatusServiceUnavailable); !strings.Contains(body, `"not_ready":["mysql_read_only"]`) {
			t.Errorf("%s says %s", at, body)
		}
		if _, err := pool.Exec("SET GLOBAL read_only = 0"); err != nil {
			t.Fatal(err)
		}
		waitReady(t, at, http.StatusOK)
	}
	p.waitFor(t, "read_only=ON")
	if status := statusOf(t, "http://"+address+"/metrics"); status != http.StatusNotFound {
		t.Errorf("/metrics for clients is %d, want 404: it has an address of its own", status)
	}
	if !strings.Contains(metrics(t, admin), "kith_http_requests_total") {
		t.Error("the metrics are not on the admin address")
	}
	for _, setting := range []string{"KITH_LISTEN=" + address, "KITH_ADMIN_LISTEN=" + admin} {
		runKith(t, t.TempDir(), []string{setting}, nil, "health").wants(t)
	}
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
