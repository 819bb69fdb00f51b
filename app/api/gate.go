package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// gate is what a request passes before its route: CORS, session, rate and size.
// handled means that it was a preflight and has been answered.
func (s *Server) gate(ctx context.Context, c *call) (handled bool, err error) {
	r := c.Request()
	open := shared(r.URL.Path)
	if open {
		allowOrigins(c.Response().Header())
	}
	preflight := open && r.Method == http.MethodOptions
	var tokenErr error
	if strings.HasPrefix(r.URL.Path, "/api/") && !preflight {
		c.session, tokenErr = s.sessions.of(ctx, r.Header["Authorization"])
	}
	// A balancer that asks often must not lose its server.
	if !c.probe() {
		if err := s.rate.count(c, s.cfg.Now()); err != nil {
			return false, err
		}
	}
	if preflight {
		allowMethods(c.Response().Header(), r.Header.Get("Access-Control-Request-Headers"))
		return true, c.noContent()
	}
	if tokenErr != nil {
		return false, tokenErr
	}
	return false, s.limitBody(c)
}

// limitBody refuses a body that is too long, or will when it turns out to be.
func (s *Server) limitBody(c *call) error {
	r, most := c.Request(), s.maxBody(c)
	if r.ContentLength > most {
		return errTooLong
	}
	if r.ContentLength != 0 {
		r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, most)
	}
	return nil
}

// shared tells which paths pages of other origins may call.
func shared(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") ||
		strings.HasPrefix(path, "/nodeinfo/") || path == avatarPath || path == headerPath
}

// Headers that are the same on every answer share their values, which nobody
// changes.
var (
	anyOrigin = []string{"*"}
	exposed   = []string{"Link, Mastodon-Async-Refresh, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"}
	noStore   = []string{"private, no-store"}
	jsonType  = []string{"application/json; charset=utf-8"}
	noSniff   = []string{"nosniff"}
	noPage    = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// protect sets what holds for every answer unless a route says otherwise. Nothing
// is kept by caches on the way: two callers may see two things, and where no
// public address is configured an answer has the name by which its caller called
// us. Browsers take no answer for a page or a script.
func protect(h http.Header) {
	h[echo.HeaderCacheControl] = noStore
	h[echo.HeaderXContentTypeOptions] = noSniff
	h[echo.HeaderContentSecurityPolicy] = noPage
}

// allowOrigins lets pages of every origin read an answer. There are no
// cookies here, so a page can do no more than its visitor's token allows.
func allowOrigins(h http.Header) {
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposed
}

// allowMethods answers a preflight. A star would not cover Authorization, so
// the headers that were asked for are named.
func allowMethods(h http.Header, wanted string) {
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	h.Set("Access-Control-Max-Age", "7200")
	h.Add("Vary", "Access-Control-Request-Headers")
	if wanted != "" {
		h.Set("Access-Control-Allow-Headers", wanted)
	}
}
