// Package core takes a request to the handler of its route, and the answer or the error
// back.
//
//	Server.serve ─► pass: CORS, session, rate, size, scope ─► Route.Handle
//	                                                                │
//	log line, metrics ◄── fail: error to code and sentence ◄────────┘
//
// A Route says what it needs (see Needs); resources declare theirs in tables, and
// app/api puts the tables together. A Call is one request: who calls, what was sent
// (ID, Query, Body) and how to answer (Render, JSON, Link). Resources do not know HTTP's
// status codes: errors get theirs in error.go.
package core

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// The pictures that every account has, under Mastodon's paths for accounts without one.
const (
	AvatarPath = "/avatars/original/missing.png"
	HeaderPath = "/headers/original/missing.png"
)

// Server answers its routes. It is safe for concurrent use.
type Server struct {
	cfg      Config
	echo     *echo.Echo
	routes   []Route
	byPath   map[endpoint]*Route
	sessions *sessions
	rate     *rate

	process  string // begins the ids of requests
	lastID   atomic.Uint64
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// endpoint is a method and the pattern of a path; the empty method stands for those that
// the path does not have.
type endpoint struct{ method, path string }

var _ http.Handler = (*Server)(nil)

// New checks the configuration and makes a Server of the routes. It starts nothing.
func New(cfg Config, routes ...[]Route) (*Server, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, echo: echo.New(), routes: slices.Concat(routes...), byPath: map[endpoint]*Route{},
		sessions: newSessions(cfg), rate: newRate(cfg.RateLimit, cfg.TrustedProxies), process: strings.ToLower(rand.Text()[:12]) + "-"}
	if err := s.addMetrics(); err != nil {
		return nil, err
	}
	s.echo.Use(s.serve)
	for i := range s.routes {
		r := &s.routes[i]
		s.add(r.Method, r)
		if r.Method == http.MethodGet {
			s.add(http.MethodHead, r)
		}
		s.byPath[endpoint{path: r.Path}] = &Route{Path: r.Path, Needs: Needs{Body: r.Body, Rate: r.Rate, Quiet: r.Quiet}}
	}
	return s, nil
}

// add registers a route. Echo only finds the pattern of a path: pass calls the handler.
func (s *Server) add(method string, r *Route) {
	s.echo.Add(method, r.Path, echo.NotFoundHandler)
	s.byPath[endpoint{method, r.Path}] = r
}

// Routes returns all routes.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// serve handles every request: id, time limit, pass, and at the end errors, log line and
// metrics. next is Echo's answer to a path or a method that is in no table.
func (s *Server) serve(next echo.HandlerFunc) echo.HandlerFunc {
	return func(ec echo.Context) error {
		c := &Call{Request: ec.Request(), Response: ec.Response(), server: s, begun: s.cfg.Now(), echo: ec, next: next, pattern: cmp.Or(ec.Path(), "none")}
		known := false
		if c.route, known = s.byPath[endpoint{c.Request.Method, ec.Path()}]; !known {
			if c.route, known = s.byPath[endpoint{path: ec.Path()}]; !known {
				c.route = &Route{}
			}
		}
		c.id = c.Request.Header.Get(echo.HeaderXRequestID) // of the caller or a proxy
		if c.id == "" || len(c.id) > maxRequestID || strings.Trim(c.id, idChars) != "" {
			c.id = s.process + strconv.FormatUint(s.lastID.Add(1), 10)
		}
		c.Response.Header().Set(echo.HeaderXRequestID, c.id)
		Protect(c.Response.Header())
		ctx := c.Request.Context()
		if c.route.LongLived {
			// Lift the server's deadlines, where the connection has any.
			conn := http.NewResponseController(c.Response.Writer)
			_, _ = conn.SetReadDeadline(time.Time{}), conn.SetWriteDeadline(time.Time{})
		} else {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.cfg.RequestTimeout)
			defer cancel()
			c.Request = c.Request.WithContext(ctx)
		}
		defer s.done(c)
		if err := s.pass(ctx, c); err != nil {
			s.fail(c, err)
		}
		return nil
	}
}

// pass checks a call, CORS, session, rate, size, scope and id, and calls its handler. A
// panic becomes an error.
func (s *Server) pass(ctx context.Context, c *Call) (err error) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			panic(p)
		} else if p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	r, h := c.Request, c.Response.Header()
	ours := strings.HasPrefix(r.URL.Path, "/api/")
	shared := ours || strings.HasPrefix(r.URL.Path, "/.well-known/") || strings.HasPrefix(r.URL.Path, "/nodeinfo/") ||
		r.URL.Path == AvatarPath || r.URL.Path == HeaderPath
	if shared {
		// Pages of every origin may read the answer. There are no cookies, so a page
		// can do no more than its visitor's token allows.
		h["Access-Control-Allow-Origin"] = anyOrigin
		h["Access-Control-Expose-Headers"] = exposed
	}
	preflight := shared && r.Method == http.MethodOptions
	var tokenErr error
	if ours && !preflight {
		c.claims, tokenErr = s.sessions.of(ctx, r.Header["Authorization"])
		c.Account = c.claims.Account
	}
	if c.route.Rate == Counted {
		if err := s.rate.count(c, s.cfg.Now()); err != nil {
			return err
		}
	}
	if preflight {
		allowMethods(h, r.Header.Get("Access-Control-Request-Headers"))
		c.Response.WriteHeader(http.StatusNoContent)
		return nil
	}
	if tokenErr != nil {
		return tokenErr
	}
	most := max(s.cfg.MaxBody, c.route.Body)
	if r.ContentLength > most {
		return errTooLong
	}
	if r.ContentLength != 0 && c.route.Body != NoBody {
		r.Body = http.MaxBytesReader(c.Response.Writer, r.Body, most)
	}
	c.ID, _ = ParseID(c.echo.Param("id"))
	if !c.route.SignedIn && !c.allowed() {
		c.Account = 0
	}
	switch {
	case c.route.SignedIn && c.Account == 0:
		return errToken
	case c.route.SignedIn && !c.allowed():
		return errScope
	case c.route.Handle == nil:
		return c.next(c.echo)
	case c.ID == 0 && !c.route.AnyID && strings.Contains(c.route.Path, ":id"):
		return ErrNotFound
	}
	return c.route.Handle(ctx, c)
}

// allowed reports whether the token covers what the route asks for.
func (c *Call) allowed() bool {
	r := c.route
	return (len(r.Scopes) == 0 || c.claims.Allows(r.Scopes...)) && (r.Also == "" || c.claims.Allows(r.Also))
}

const (
	maxRequestID  = 64  // a longer id of a caller is replaced
	maxLoggedPath = 200 // a log line has no more of an unknown path
)

// done counts and logs a call that was answered.
func (s *Server) done(c *Call) {
	took, status, route := s.cfg.Now().Sub(c.begun), c.Response.Status, c.pattern
	method := c.Request.Method
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other" // a made up method must not become a time series
	}
	code := strconv.Itoa(status)
	s.requests.WithLabelValues(route, method, code).Inc()
	s.seconds.WithLabelValues(route, method, code).Observe(took.Seconds())

	level := slog.LevelInfo
	if c.route.Quiet {
		level = slog.LevelDebug
	}
	ctx := c.Request.Context()
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", method), slog.String("route", route),
		slog.Int("status", status), slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes", c.Response.Size), slog.String("request_id", c.id),
	}
	if c.claims.Account != 0 {
		attrs = append(attrs, slog.Uint64("account", c.claims.Account))
	}
	if status == http.StatusNotFound {
		path := c.Request.URL.Path
		attrs = append(attrs, slog.String("path", path[:min(len(path), maxLoggedPath)]))
	}
	s.cfg.Log.LogAttrs(ctx, level, "request", attrs...)
}

// Answers share these values of headers: they must not be changed.
var (
	anyOrigin = []string{"*"}
	exposed   = []string{"Kith-Marker, Link, Mastodon-Async-Refresh, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"}
	noStore   = []string{"private, no-store"}
	jsonType  = []string{"application/json; charset=utf-8"}
	noSniff   = []string{"nosniff"}
	noPage    = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// Protect sets the headers of every answer, unless a route sets others. Caches on the way
// keep nothing: callers see different things, and without a BaseURL an answer has the
// name that its caller used for us. Browsers take no answer for a page or a script.
func Protect(h http.Header) {
	h[echo.HeaderCacheControl] = noStore
	h[echo.HeaderXContentTypeOptions] = noSniff
	h[echo.HeaderContentSecurityPolicy] = noPage
}

// allowMethods answers a preflight. A star would not cover Authorization, so it names
// the headers that were asked for.
func allowMethods(h http.Header, wanted string) {
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	h.Set("Access-Control-Max-Age", "7200")
	h.Add("Vary", "Access-Control-Request-Headers")
	if wanted != "" {
		h.Set("Access-Control-Allow-Headers", wanted)
	}
}

// addMetrics makes the metrics of requests, by the pattern of their route.
func (s *Server) addMetrics() error {
	labels := []string{"route", "method", "status"}
	s.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_http_requests_total", Help: "Requests answered."}, labels)
	s.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kith_http_request_seconds", Help: "Time to answer a request.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}, labels)
	for _, c := range []prometheus.Collector{s.requests, s.seconds} {
		if err := s.cfg.Registry.Register(c); err != nil {
			return fmt.Errorf("api: register metrics: %w", err)
		}
	}
	return nil
}
