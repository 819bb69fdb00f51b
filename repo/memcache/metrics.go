package memcache

import "github.com/prometheus/client_golang/prometheus"

var (
	descUp = prometheus.NewDesc("kith_cache_server_up", "1 while the server is in use, 0 while it is away.",
		[]string{"server"}, nil)
	descDirty = prometheus.NewDesc("kith_cache_dirty_keys",
		"Keys to be deleted from servers that are away before anything is read from them.", nil, nil)
)

// metrics are what is counted, and a view of the servers.
type metrics struct {
	client           *Client
	trips, forgotten prometheus.Counter
}

var _ prometheus.Collector = (*metrics)(nil)

func newMetrics(c *Client) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		client: c,
		trips:  counter("kith_cache_trips_total", "Exchanges with memcached: a question of one or many callers, or a batch of commands."),
		forgotten: counter("kith_cache_forgotten_keys_total",
			"Dirty keys beyond what is remembered of a server: their rows may be stale until they expire."),
	}
}

// Describe says what there is.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	to <- descUp
	to <- descDirty
	m.trips.Describe(to)
	m.forgotten.Describe(to)
}

// Collect says how it is.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	dirty := 0
	for _, s := range m.client.servers {
		up := 0.0
		if s.isUp() {
			up = 1
		}
		to <- prometheus.MustNewConstMetric(descUp, prometheus.GaugeValue, up, s.name)
		s.mu.Lock()
		dirty += len(s.dirty)
		s.mu.Unlock()
	}
	to <- prometheus.MustNewConstMetric(descDirty, prometheus.GaugeValue, float64(dirty))
	m.trips.Collect(to)
	m.forgotten.Collect(to)
}
