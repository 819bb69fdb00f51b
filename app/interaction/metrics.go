package interaction

import "github.com/prometheus/client_golang/prometheus"

// Metrics count what was recorded. None of them tells of accounts or scores.
type Metrics struct {
	recorded, dropped, written prometheus.Counter
	waiting                    prometheus.Gauge
}

// NewMetrics makes the metrics and registers them; reg nil keeps them unseen.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		recorded: prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_interactions_recorded_total", Help: "Interactions taken into the buffer."}),
		dropped:  prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_interactions_dropped_total", Help: "Interactions lost because the buffer was full or the process ended."}),
		written:  prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_interactions_written_total", Help: "Interactions written to the log."}),
		waiting:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_interactions_waiting", Help: "Interactions that the last flush left in the buffer."}),
	}
	if reg != nil {
		reg.MustRegister(m.recorded, m.dropped, m.written, m.waiting)
	}
	return m
}
