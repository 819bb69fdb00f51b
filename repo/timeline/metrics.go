package timeline

import "github.com/prometheus/client_golang/prometheus"

// Metrics count what is done with hot lines.
type Metrics struct {
	hit, miss, away, bad   prometheus.Counter // of kith_timeline_loads_total
	appended, absent, gone prometheus.Counter // of kith_timeline_pushes_total
}

// NewMetrics returns the metrics, registered with r unless it is nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	loads := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_timeline_loads_total",
		Help: "Hot timelines asked for, by result: hit, miss, away where memcached is away, bad where the bytes cannot be read."}, []string{"result"})
	pushes := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_timeline_pushes_total",
		Help: "Followers that events were pushed to, by result: appended, absent where the follower is not around, dropped where the timeline could not take them and is built anew."}, []string{"result"})
	if r != nil {
		r.MustRegister(loads, pushes)
	}
	return &Metrics{
		hit: loads.WithLabelValues("hit"), miss: loads.WithLabelValues("miss"), away: loads.WithLabelValues("away"), bad: loads.WithLabelValues("bad"),
		appended: pushes.WithLabelValues("appended"), absent: pushes.WithLabelValues("absent"), gone: pushes.WithLabelValues("dropped"),
	}
}

// load counts an answer.
func (m *Metrics) load(ok bool, err error) {
	switch {
	case ok:
		m.hit.Inc()
	case err != nil:
		m.bad.Inc()
	default:
		m.miss.Inc()
	}
}
