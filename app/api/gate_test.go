package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/api"
	"kith/app/api/core"
	"kith/app/api/operations"
)

func TestCORS(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	t.Run("preflight", func(t *testing.T) {
		r, _ := http.NewRequest(http.MethodOptions, w.http.URL+at(me, "/follow"), nil)
		r.Header.Set("Origin", "https://elk.zone")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		a := w.anonymous().do(r).want(http.StatusNoContent)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization,content-type",
			"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	})
	for _, path := range []string{"/api/v1/instance", "/api/v1/blocks", "/api/v1/unknown", "/.well-known/nodeinfo", "/nodeinfo/2.0"} {
		a := w.anonymous().get(path)
		if strings.HasPrefix(path, "/api/") && a.header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: got Cache-Control %q", path, a.header.Get("Cache-Control"))
		}
		if a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Link") {
			t.Errorf("%s: got headers %v", path, a.header)
		}
	}
	if a := w.anonymous().get("/metrics"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("metrics may be read by every page")
	}
}

func TestRate(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.RateLimit = 3 })
	me, you := w.add(false), w.add(false)
	for i, left := range []string{"2", "1", "0"} {
		a := w.as(me).get("/api/v1/blocks").want(http.StatusOK)
		h := a.header
		if h.Get("X-RateLimit-Limit") != "3" || h.Get("X-RateLimit-Remaining") != left || h.Get("X-RateLimit-Reset") != "2026-05-01T10:05:00.000000Z" {
			t.Fatalf("%d: got %v", i, h)
		}
	}
	a := w.as(me).get("/api/v1/unknown")
	a.refused(http.StatusTooManyRequests, "Too many requests")
	if a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("Retry-After") != "300" {
		t.Fatalf("got %v", a.header)
	}
	w.as(you).get("/api/v1/blocks").want(http.StatusOK)
	w.anonymous().get("/api/v1/instance").want(http.StatusOK)
	bad := client{w: w, token: "x"}
	bad.get("/api/v1/instance").refused(http.StatusUnauthorized, "The access token is invalid")
	bad.get("/api/v1/instance").refused(http.StatusUnauthorized, "The access token is invalid")
	w.anonymous().get("/api/v1/instance").refused(http.StatusTooManyRequests, "Too many requests")
	w.anonymous().get("/livez").want(http.StatusOK)
	w.clock.pass(5 * time.Minute)
	w.as(me).get("/api/v1/blocks").want(http.StatusOK)
	w.anonymous().get("/api/v1/instance").want(http.StatusOK)
}

// Everything counts but what balancers ask.
func TestRate_Everything(t *testing.T) {
	for _, ask := range []struct{ method, path string }{
		{"OPTIONS", "/api/v1/blocks"}, {"OPTIONS", "/nothing"}, {"GET", "/metrics"}, {"GET", "/nothing"}, {"GET", "/.well-known/nodeinfo"},
		{"GET", "/api/v1/nothing"}, {"GET", core.AvatarPath}, {"POST", "/api/v1/blocks"},
	} {
		w := newWorld(t, func(c *api.Config) { c.RateLimit = 1 })
		first := w.anonymous().send(ask.method, ask.path, "", "")
		second := w.anonymous().send(ask.method, ask.path, "", "")
		if first.status == http.StatusTooManyRequests || second.status != http.StatusTooManyRequests {
			t.Errorf("%s %s: got %d, then %d; want a refusal of the second", ask.method, ask.path, first.status, second.status)
		}
		for _, path := range []string{"/livez", "/readyz", "/health"} {
			w.anonymous().get(path).want(http.StatusOK)
		}
	}
}

func TestHeaders(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	for _, path := range []string{at(me, ""), "/api/v1/blocks", "/nothing", "/.well-known/nodeinfo", "/nodeinfo/2.0", core.AvatarPath, "/livez", "/readyz", "/metrics"} {
		h := w.anonymous().get(path).header
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: got headers %v", path, h)
		}
		if want := map[bool]string{true: "public, max-age=86400", false: "private, no-store"}[path == core.AvatarPath]; h.Get("Cache-Control") != want {
			t.Errorf("%s: got Cache-Control %q, want %q", path, h.Get("Cache-Control"), want)
		}
	}
}

func TestRequestID(t *testing.T) {
	w := newWorld(t)
	for given, kept := range map[string]bool{"abc-123_X.y": true, "": false, "a b": false, strings.Repeat("x", 65): false, "a\"b": false} {
		r, _ := http.NewRequest(http.MethodGet, w.http.URL+"/livez", nil)
		r.Header.Set("X-Request-Id", given)
		got := w.anonymous().do(r).header.Get("X-Request-Id")
		if got == "" || (got == given) != kept {
			t.Errorf("%q: got %q", given, got)
		}
	}
}

func TestLog(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	c := w.as(me)
	c.form(at(you, "/note?secret=hunter2"), "comment=private").want(http.StatusOK)
	w.anonymous().get("/api/v1/no/such/thing?secret=hunter2").want(http.StatusNotFound)
	w.http.Close()
	logged := w.log.String()
	for _, secret := range []string{"hunter2", "private", c.token} {
		if strings.Contains(logged, secret) {
			t.Errorf("the log has %q: %s", secret, logged)
		}
	}
	lines := strings.Split(logged, "\n")
	var line struct {
		Level, Method, Route string
		Duration             *float64 `json:"duration_ms"`
		Status, Account      int
		Bytes                int
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.Level != "INFO" || line.Route != "/api/v1/accounts/:id/note" || line.Method != "POST" || line.Status != 200 || line.Account != int(me) || line.Bytes == 0 || line.Duration == nil {
		t.Errorf("got %+v in %s", line, lines[0])
	}
	if strings.Contains(lines[0], "path") {
		t.Errorf("what was found is logged with its path: %s", lines[0])
	}
	if strings.Contains(lines[1], "account") || !strings.Contains(lines[1], `"path":"/api/v1/no/such/thing"`) {
		t.Errorf("an unknown path: got %s, want the path and no account", lines[1])
	}
}

func TestOperations(t *testing.T) {
	w := newWorld(t, func(c *api.Config) {
		c.Ready = func(context.Context) []string { return []string{"draining", "mysql"} }
	})
	w.anonymous().get("/livez").want(http.StatusOK)
	for _, path := range []string{"/readyz", "/health"} {
		a := w.anonymous().get(path).want(http.StatusServiceUnavailable)
		if want := `{"error":"Not ready","code":"not_ready","not_ready":["draining","mysql"]}`; a.body != want {
			t.Errorf("%s: got %s, want %s", path, a.body, want)
		}
	}
	w.anonymous().get("/api/v1/accounts/7/followers")
	w.anonymous().get("/api/v1/whatever/8")
	w.anonymous().send("BREW", "/api/v1/instance", "", "")
	got := w.anonymous().get("/metrics").want(http.StatusOK).body
	for _, want := range []string{
		`kith_http_requests_total{method="GET",route="/api/v1/accounts/:id/followers",status="404"} 1`,
		`kith_http_requests_total{method="GET",route="none",status="404"} 1`,
		`kith_http_requests_total{method="other",route="/api/v1/instance",status="405"} 1`,
		`kith_http_request_seconds_count{method="GET",route="/livez",status="200"} 1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("metrics lack %s:\n%s", want, got)
		}
	}
	ready := newWorld(t)
	if a := ready.anonymous().get("/health"); a.body != `{"status":"UP"}` {
		t.Errorf("got %s", a.body)
	}
	ready.anonymous().get("/readyz").want(http.StatusOK)
}

// The pages of operators on an address of their own are those of the server, which
// then keeps its metrics to itself.
func TestOperations_Apart(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(c *api.Config) { c.HideMetrics, c.Registry = true, reg })
	w.anonymous().get("/metrics").refused(http.StatusNotFound, "There is no such endpoint")
	w.anonymous().get("/livez").want(http.StatusOK)
	w.anonymous().get("/readyz").want(http.StatusOK)
	var missing []string
	h := operations.Handler(reg, func(context.Context) []string { return missing })
	ask := func(path string) (int, string) {
		got := httptest.NewRecorder()
		h.ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
		if got.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got headers %v", path, got.Header())
		}
		return got.Code, got.Body.String()
	}
	if status, body := ask("/metrics"); status != 200 || !strings.Contains(body, `kith_http_requests_total{method="GET",route="/livez",status="200"} 1`) {
		t.Errorf("metrics: got %d %s", status, body)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if status, body := ask(path); status != 200 || body != `{"status":"ok"}` {
			t.Errorf("%s: got %d %s", path, status, body)
		}
	}
	missing = []string{"mysql"}
	if status, body := ask("/readyz"); status != 503 || !strings.Contains(body, `"code":"not_ready","not_ready":["mysql"]`) {
		t.Errorf("not ready: got %d %s", status, body)
	}
	if status, body := ask("/api/v1/blocks"); status != 404 || !strings.Contains(body, `"code":"unknown_endpoint"`) {
		t.Errorf("the API: got %d %s, want none of it", status, body)
	}
}

func TestHead(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	a := w.anonymous().send(http.MethodHead, at(me, ""), "", "").want(http.StatusOK)
	if a.body != "" || a.header.Get("Content-Length") == "0" {
		t.Fatalf("got %q, %v", a.body, a.header)
	}
}

func TestBase(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.BaseURL = ""; c.Domain = "fallback.example" })
	me := w.add(false)
	for host, want := range map[string]string{
		"kith.test:8080": "http://kith.test:8080/", "a,b": "http://fallback.example/", "[::1]:80": "http://[::1]:80/",
	} {
		r := httptest.NewRequest(http.MethodGet, at(me, ""), nil)
		r.Host = host
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("X-Forwarded-Proto", "https")
		got := httptest.NewRecorder()
		w.server.ServeHTTP(got, r)
		if want := fmt.Sprintf(`"url":"%s@Name%d"`, want, me); !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: got %s, want %s", host, got.Body, want)
		}
	}
}

func TestNew_Refuses(t *testing.T) {
	var good api.Config
	newWorld(t, func(c *api.Config) { good = *c })
	for name, change := range map[string]func(*api.Config){
		"no relations": func(c *api.Config) { c.Relations = nil },
		"no accounts":  func(c *api.Config) { c.Accounts = nil },
		"no tokens":    func(c *api.Config) { c.Tokens = nil },
		"no scheme":    func(c *api.Config) { c.BaseURL = "kith.example" },
		"a comma":      func(c *api.Config) { c.BaseURL = "https://kith.example/a,b" },
		"a query":      func(c *api.Config) { c.BaseURL = "https://kith.example?x" },
		"a password":   func(c *api.Config) { c.BaseURL = "https://a:b@kith.example" },
	} {
		cfg := good
		change(&cfg)
		if _, err := api.New(cfg); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if _, err := api.New(good); err != nil {
		t.Fatal(err)
	}
}
