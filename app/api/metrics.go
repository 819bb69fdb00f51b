package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are about requests, by the pattern of their route.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	gatherer prometheus.Gatherer
	known    sync.Map // series by what they are of
}

// series is what one kind of answer is counted in. Looking a series up by its
// labels takes longer than counting, so it is done once.
type series struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

type seriesKey struct {
	route, method string
	status        int
}

func newMetrics(reg Registry) (*metrics, error) {
	labels := []string{"route", "method", "status"}
	m := &metrics{
		gatherer: reg,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_http_requests_total", Help: "Requests answered."}, labels),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kith_http_request_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}, labels),
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("api: register metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) answered(c *call, took time.Duration) {
	of := m.of(seriesKey{c.route(), methodLabel(c.Request().Method), c.Response().Status})
	of.requests.Inc()
	of.seconds.Observe(took.Seconds())
}

// of returns a series. There are as many as routes, methods and codes allow.
func (m *metrics) of(key seriesKey) *series {
	if known, ok := m.known.Load(key); ok {
		return known.(*series)
	}
	labels := []string{key.route, key.method, strconv.Itoa(key.status)}
	fresh := &series{m.requests.WithLabelValues(labels...), m.seconds.WithLabelValues(labels...)}
	m.known.Store(key, fresh)
	return fresh
}

// methodLabel keeps made up methods from becoming series.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

func (m *metrics) show() handler {
	h := promhttp.HandlerFor(m.gatherer, promhttp.HandlerOpts{})
	return func(_ context.Context, c *call) error {
		h.ServeHTTP(c.Response(), c.Request())
		return nil
	}
}
