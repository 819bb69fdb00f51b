package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// call is one request on its way. Handlers get it as their Echo context.
type call struct {
	echo.Context
	server  *Server
	id      string // request id
	session session
	begun   time.Time
}

// account returns who calls, 0 for nobody.
func (c *call) account() uint64 { return c.session.claims.Account }

// route returns the pattern that matched, for logs and metrics.
func (c *call) route() string {
	if p := c.Path(); p != "" {
		return p
	}
	return "none"
}

// send writes a whole answer.
func (c *call) send(status int, body []byte) error {
	h := c.Response().Header()
	h[echo.HeaderContentType] = jsonType
	h.Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	c.Response().WriteHeader(status)
	_, err := c.Response().Write(body)
	return err
}

// base returns the public address of the server.
func (c *call) base() string {
	if c.server.cfg.BaseURL != "" {
		return c.server.cfg.BaseURL
	}
	host := c.Request().Host
	if host == "" || strings.ContainsFunc(host, notOfHost) {
		host = c.server.cfg.Domain
	}
	if c.Request().TLS != nil {
		return "https://" + host
	}
	return "http://" + host
}

// domain is the name after the @ of our accounts: as configured, or what the
// caller calls us.
func (c *call) domain() string {
	cfg := &c.server.cfg
	if cfg.BaseURL != "" || cfg.Domain != localName {
		return cfg.Domain
	}
	if _, host, ok := strings.Cut(c.base(), "://"); ok {
		return host
	}
	return cfg.Domain
}

// place returns where the caller reached us.
func (c *call) place() *place {
	if c.server.place != nil {
		return c.server.place
	}
	return newPlace(c.base())
}

// notOfHost tells what cannot stand in a host with a port. A comma could, but
// would break Link headers.
func notOfHost(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune(".-_:[]", r)
}

// around is what every request passes through: id, time limit, panics, the
// gate, and in the end errors, log line and metrics.
func (s *Server) around(next echo.HandlerFunc) echo.HandlerFunc {
	return func(ec echo.Context) error {
		c := &call{Context: ec, server: s, begun: s.cfg.Now()}
		c.id = s.ids.of(ec.Request())
		ec.Response().Header().Set(echo.HeaderXRequestID, c.id)
		protect(ec.Response().Header())
		ctx, cancel := context.WithTimeout(ec.Request().Context(), s.cfg.RequestTimeout)
		defer cancel()
		ec.SetRequest(ec.Request().WithContext(ctx))
		defer s.done(c)
		if err := s.guarded(ctx, c, next); err != nil {
			s.fail(c, err)
		}
		return nil
	}
}

// guarded runs the rest of the request and turns a panic into an error.
func (s *Server) guarded(ctx context.Context, c *call, next echo.HandlerFunc) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = panicked(p)
		}
	}()
	if preflight, err := s.gate(ctx, c); preflight || err != nil {
		return err
	}
	return next(c)
}
