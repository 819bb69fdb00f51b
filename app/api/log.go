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
	if c.probe() || c.Path() == metricsPath {
		level = slog.LevelDebug
	}
	ctx := c.Request().Context()
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	status := c.Response().Status
	attrs := []slog.Attr{
		slog.String("method", methodLabel(c.Request().Method)), slog.String("route", c.route()),
		slog.Int("status", status), slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes", c.Response().Size), slog.String("request_id", c.id),
	}
	if account := c.account(); account != 0 {
		attrs = append(attrs, slog.Uint64("account", account))
	}
	if status == meanings[codeNotFound].status {
		path := c.Request().URL.Path
		attrs = append(attrs, slog.String("path", path[:min(len(path), maxLoggedPath)]))
	}
	s.cfg.Log.LogAttrs(ctx, level, "request", attrs...)
}

// maxLoggedPath is how much of the path of what is not there a log line has.
const maxLoggedPath = 200

// probe tells the requests of machines that ask whether we live and are ready.
func (c *call) probe() bool {
	switch c.Path() {
	case livezPath, readyzPath, healthPath:
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
