package committer

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts what a committer does. A nil Metrics counts nothing.
type Metrics struct {
	swaps   *prometheus.CounterVec
	edits   prometheus.Histogram
	rows    prometheus.Histogram
	seconds prometheus.Histogram
	waiting prometheus.Gauge
	full    prometheus.Counter
	given   prometheus.Counter
}

// NewMetrics registers the metrics of the committer.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	sizes := prometheus.ExponentialBuckets(1, 2, 11)
	m := &Metrics{
		swaps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_swaps_total", Help: "Commits sent, by whether their swaps won or lost."}, []string{"result"}),
		edits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_edits", Help: "Edits in one commit.", Buckets: sizes}),
		rows:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_rows", Help: "Rows swapped by one commit.", Buckets: sizes}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_seconds",
			Help:    "How long commits took from the moment they were gathered, lost swaps included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_edits_waiting", Help: "Edits that wait for a commit."}),
		full:    prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_edits_refused_total", Help: "Edits refused because too many were waiting."}),
		given:   prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_edits_conflict_total", Help: "Edits given up after too many lost swaps."}),
	}
	m.swaps.WithLabelValues("won")
	m.swaps.WithLabelValues("lost")
	reg.MustRegister(m.swaps, m.edits, m.rows, m.seconds, m.waiting, m.full, m.given)
	return m
}

func (m *Metrics) swapped(won bool, rows, edits int) {
	if m == nil {
		return
	}
	if !won {
		m.swaps.WithLabelValues("lost").Inc()
		return
	}
	m.swaps.WithLabelValues("won").Inc()
	m.edits.Observe(float64(edits))
	m.rows.Observe(float64(rows))
}

func (m *Metrics) took(d time.Duration) {
	if m != nil {
		m.seconds.Observe(d.Seconds())
	}
}

func (m *Metrics) queued(n int) {
	if m != nil {
		m.waiting.Set(float64(n))
	}
}

func (m *Metrics) refused() {
	if m != nil {
		m.full.Inc()
	}
}

func (m *Metrics) gaveUp(edits int) {
	if m != nil {
		m.given.Add(float64(edits))
	}
}
