package api

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
func livez(_ context.Context, c *call) error { return c.ok([]byte(alive)) }

// health is what Mastodon calls readiness.
func (s *Server) health(ctx context.Context, c *call) error {
	return c.send(readiness(s.cfg.Ready(ctx), `{"status":"UP"}`))
}

// readyz says whether requests should be sent here.
func (s *Server) readyz(ctx context.Context, c *call) error {
	return c.send(readiness(s.cfg.Ready(ctx), alive))
}

// alive is what a process says of itself that has nothing to complain of.
const alive = `{"status":"ok"}`

// readiness answers with good, or names what is not ready.
func readiness(missing []string, good string) (status int, body []byte) {
	if len(missing) == 0 {
		return http.StatusOK, []byte(good)
	}
	b := append(appendError(nil, codeNotReady, "Not ready"), `,"not_ready":`...)
	return meanings[codeNotReady].status, append(appendArray(b, missing, appendString), '}')
}

// NewOperations makes the pages for whoever runs a process, whatever it does: /livez,
// /readyz and /metrics. They are for an address of their own.
func NewOperations(reg prometheus.Gatherer, ready func(context.Context) []string) http.Handler {
	metrics := promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	answer := func(w http.ResponseWriter, status int, body []byte) {
		w.Header()[echo.HeaderContentType] = jsonType
		w.WriteHeader(status)
		w.Write(body)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		switch r.URL.Path {
		case livezPath:
			answer(w, http.StatusOK, []byte(alive))
		case readyzPath:
			status, body := readiness(ready(r.Context()), alive)
			answer(w, status, body)
		case metricsPath:
			metrics.ServeHTTP(w, r)
		default:
			answer(w, meanings[codeEndpoint].status, append(appendError(nil, codeEndpoint, sentenceEndpoint), '}'))
		}
	})
}
