package api

import (
	"context"
	_ "embed"
	"slices"

	"github.com/labstack/echo/v4"
)

// What those ask who run the server.
const (
	livezPath   = "/livez"
	readyzPath  = "/readyz"
	healthPath  = "/health"
	metricsPath = "/metrics"
)

// The pictures of everybody, under the paths that Mastodon has for accounts
// without one.
const (
	avatarPath = "/avatars/original/missing.png"
	headerPath = "/headers/original/missing.png"
)

var (
	//go:embed static/avatar.png
	avatarPNG []byte
	//go:embed static/header.png
	headerPNG []byte
)

func image(png []byte) handler {
	return func(_ context.Context, c *call) error {
		c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=86400")
		return c.picture(png)
	}
}

// livez says that the process runs, whatever else does not.
func livez(_ context.Context, c *call) error { return c.ok([]byte(`{"status":"ok"}`)) }

// health is what Mastodon calls readiness.
func (s *Server) health(ctx context.Context, c *call) error {
	return s.ready(ctx, c, `{"status":"UP"}`)
}

// readyz says whether requests should be sent here.
func (s *Server) readyz(ctx context.Context, c *call) error {
	return s.ready(ctx, c, `{"status":"ok"}`)
}

// ready answers with good, or names what is not ready; why goes to the log.
func (s *Server) ready(ctx context.Context, c *call, good string) error {
	missing := []string{}
	if s.cfg.Ready != nil {
		for name, err := range s.cfg.Ready(ctx) {
			missing = append(missing, name)
			s.cfg.Log.WarnContext(ctx, "not ready", "what", name, "request_id", c.id, "err", err)
		}
	}
	if len(missing) == 0 {
		return c.ok([]byte(good))
	}
	slices.Sort(missing)
	b := append(appendError(nil, codeNotReady, "Not ready"), `,"not_ready":`...)
	return c.notReady(append(appendArray(b, missing, appendString), '}'))
}
