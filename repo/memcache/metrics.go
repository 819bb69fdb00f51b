package memcache

import "github.com/prometheus/client_golang/prometheus"

// metrics are what is counted, and a view of the servers.
type metrics struct {
	all              *prometheus.Registry
	trips, forgotten prometheus.Counter
}

func newMetrics(servers func() []*server) *metrics {
	m := &metrics{
		all: prometheus.NewRegistry(),
		trips: prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_trips_total",
			Help: "Exchanges with memcached: a question of one or many callers, or a batch of commands."}),
		forgotten: prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_forgotten_keys_total",
			Help: "Dirty keys beyond what is remembered of a server: their rows may be stale until they expire."}),
	}
	m.all.MustRegister(m.trips, m.forgotten, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_cache_dirty_keys",
		Help: "Keys to be deleted from servers that are away before anything is read from them."},
		func() (sum float64) {
			for _, s := range servers() {
				s.mu.Lock()
				sum += float64(len(s.dirty))
				s.mu.Unlock()
			}
			return sum
		}))
	return m
}

// show shows whether a server is up.
func (m *metrics) show(s *server) {
	m.all.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_cache_server_up",
		Help: "1 while the server is in use, 0 while it is away.", ConstLabels: prometheus.Labels{"server": s.name}},
		func() float64 {
			if ses := s.session.Load(); ses != nil && ses.open.Load() {
				return 1
			}
			return 0
		}))
}
