package interaction

import "github.com/prometheus/client_golang/prometheus"

// Metrics count what was recorded. None of them names accounts or scores.
type Metrics struct {
	recorded, written prometheus.Counter
	dropped           *prometheus.CounterVec
	waiting           prometheus.Gauge
}

// Why an interaction is dropped.
const (
	full    = "full"    // the buffer was
	ended   = "ended"   // the process did, before it was written
	unknown = "unknown" // there is no such actor or target
	refused = "refused" // by the database, which would do so again
)

// NewMetrics makes the metrics and registers them, unless reg is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		recorded: prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_interactions_recorded_total", Help: "Interactions taken into the buffer."}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_interactions_dropped_total",
			Help: "Interactions lost, by reason: full (the buffer), ended (the process), unknown (no such account), refused (by the database)."}, []string{"reason"}),
		written: prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_interactions_written_total", Help: "Interactions written to the log."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_interactions_waiting", Help: "Interactions that the last flush left in the buffer."}),
	}
	for _, reason := range []string{full, ended, unknown, refused} {
		m.dropped.WithLabelValues(reason) // begins at 0, so that the first increase shows
	}
	if reg != nil {
		reg.MustRegister(m.recorded, m.dropped, m.written, m.waiting)
	}
	return m
}

func (m *Metrics) drop(reason string, n int) {
	m.dropped.WithLabelValues(reason).Add(float64(n))
}
