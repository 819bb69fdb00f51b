// Package operations answers whoever runs the process: is it alive, is it ready, and its
// metrics.
package operations

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kith/app/api/core"
)

const (
	livezPath   = "/livez"
	readyzPath  = "/readyz"
	healthPath  = "/health"
	metricsPath = "/metrics"
)

// The good answers. Mastodon calls readiness health, with another answer.
const (
	alive   = `{"status":"ok"}`
	healthy = `{"status":"UP"}`
)

// Ready names what is not ready. It is called for each probe.
type Ready func(context.Context) []string

// Routes returns the routes; without a registry there are no metrics among them.
func Routes(ready Ready, metrics *prometheus.Registry) []core.Route {
	probe := core.Needs{Rate: core.Free, Quiet: true}
	all := []core.Route{
		core.Get(livezPath, probe, func(_ context.Context, c *core.Call) error { return c.OK(alive) }),
		core.Get(readyzPath, probe, func(ctx context.Context, c *core.Call) error { return ready.answer(ctx, c.Response, alive) }),
		core.Get(healthPath, probe, func(ctx context.Context, c *core.Call) error { return ready.answer(ctx, c.Response, healthy) }),
	}
	if metrics == nil {
		return all
	}
	show := promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})
	return append(all, core.Get(metricsPath, core.Needs{Quiet: true}, func(_ context.Context, c *core.Call) error {
		show.ServeHTTP(c.Response, c.Request)
		return nil
	}))
}

// answer answers good, or names what is not ready.
func (ready Ready) answer(ctx context.Context, w http.ResponseWriter, good string) error {
	if missing := ready(ctx); len(missing) > 0 {
		return core.Send(w, core.ErrNotReady.Status, core.ErrNotReady.Body(missing...))
	}
	return core.Send(w, http.StatusOK, []byte(good))
}

// Handler serves /livez, /readyz and /metrics on an address of their own, in any process.
func Handler(metrics *prometheus.Registry, ready Ready) http.Handler {
	show := promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		core.Protect(w.Header())
		switch r.URL.Path {
		case livezPath:
			core.Send(w, http.StatusOK, []byte(alive))
		case readyzPath:
			ready.answer(r.Context(), w, alive)
		case metricsPath:
			show.ServeHTTP(w, r)
		default:
			core.Send(w, core.ErrEndpoint.Status, core.ErrEndpoint.Body())
		}
	})
}
