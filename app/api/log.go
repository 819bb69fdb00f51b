package api

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/labstack/echo/v4"
)

// done counts and logs a call that was answered.
func (s *Server) done(c *call) {
	took := s.cfg.Now().Sub(c.begun)
	s.metrics.answered(c, took)
	level := slog.LevelInfo
	if c.probe() {
		level = slog.LevelDebug
	}
	ctx := c.Request().Context()
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	s.cfg.Log.LogAttrs(ctx, level, "request",
		slog.String("method", methodLabel(c.Request().Method)), slog.String("route", c.route()),
		slog.Int("status", c.Response().Status), slog.Duration("took", took),
		slog.Int64("bytes", c.Response().Size), slog.String("request_id", c.id), slog.Uint64("account", c.account()))
}

// probe tells the requests of machines that watch us.
func (c *call) probe() bool {
	switch c.Path() {
	case "/livez", "/readyz", "/metrics", "/health":
		return true
	}
	return false
}

// panicked makes an error of a panic, with the stack for the log.
func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// requestIDs names requests: a word for this process and a number.
type requestIDs struct {
	process string
	last    atomic.Uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{process: strings.ToLower(rand.Text()[:12]) + "-"}
}

// of returns the id that the caller or a proxy gave, if it is sane, or a new one.
func (ids *requestIDs) of(r *http.Request) string {
	if id := r.Header.Get(echo.HeaderXRequestID); sane(id) {
		return id
	}
	return ids.process + strconv.FormatUint(ids.last.Add(1), 10)
}

func sane(id string) bool {
	return len(id) > 0 && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return notOfHost(r) || r == '[' || r == ']'
	})
}
