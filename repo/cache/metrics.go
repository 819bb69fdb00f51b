package cache

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what a cache does. The labels are resolved once.
type metrics struct {
	registerer prometheus.Registerer // nil: count, but show nobody
	registered []prometheus.Collector

	hit, miss, away                        prometheus.Counter // of kith_cache_gets_total
	stored, newer, failed, tooLarge        prometheus.Counter // of kith_cache_puts_total
	filled, held, fillFailed, fillTooLarge prometheus.Counter // of kith_cache_fills_total
	forgotten                              prometheus.Counter // kith_cache_forgotten_keys_total
	disowned, refused                      prometheus.Counter // kith_cache_disowned_total, kith_cache_refused_total
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"result"})
	}
	gets := counter("kith_cache_gets_total", "Keys asked for, by result: hit, miss, or away where the server is away.")
	puts := counter("kith_cache_puts_total",
		"Committed rows told to the cache, by result: stored, newer where it held the same or a higher ver, failed, too_large.")
	fills := counter("kith_cache_fills_total",
		"Rows offered by readers, by result: stored, held where there was an entry, failed, too_large.")
	forgotten := prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_forgotten_keys_total",
		Help: "Untold keys beyond what a node remembers: their rows may be stale until they expire."})
	disowned := prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_disowned_total",
		Help: "Cached rows of a history that the database has lost, found and dropped. After a failover or a restore: type kith cache renew."})
	refused := prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_refused_total",
		Help: "Cached items whose checksum or layout is wrong: they were changed, or put by others. They are dropped and read afresh."})
	m := &metrics{
		registerer: r,
		hit:        gets.WithLabelValues("hit"), miss: gets.WithLabelValues("miss"), away: gets.WithLabelValues("away"),
		stored: puts.WithLabelValues("stored"), newer: puts.WithLabelValues("newer"),
		failed: puts.WithLabelValues("failed"), tooLarge: puts.WithLabelValues("too_large"),
		filled: fills.WithLabelValues("stored"), held: fills.WithLabelValues("held"),
		fillFailed: fills.WithLabelValues("failed"), fillTooLarge: fills.WithLabelValues("too_large"),
		forgotten: forgotten, disowned: disowned, refused: refused,
	}
	return m, m.register(gets, puts, fills, forgotten, disowned, refused)
}

// registerNodes shows the state of servers.
func (m *metrics) registerNodes(nodes []*node) error {
	all := []prometheus.Collector{prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_cache_untold_keys",
		Help: "Keys to be dropped from servers that are away before anything is read from them."},
		func() (sum float64) {
			for _, n := range nodes {
				sum += float64(n.untoldKeys())
			}
			return sum
		})}
	for _, n := range nodes {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kith_cache_server_up",
			Help: "1 while the server is in use, 0 while it is away.", ConstLabels: prometheus.Labels{"server": n.name}},
			func() float64 {
				if s := n.session.Load(); s != nil && s.open.Load() {
					return 1
				}
				return 0
			}))
	}
	return m.register(all...)
}

// register shows collectors; if one cannot be shown, none of m's are.
func (m *metrics) register(collectors ...prometheus.Collector) error {
	if m.registerer == nil {
		return nil
	}
	for _, c := range collectors {
		if err := m.registerer.Register(c); err != nil {
			m.close()
			return fmt.Errorf("register cache metrics: %w", err)
		}
		m.registered = append(m.registered, c)
	}
	return nil
}

// close takes the metrics off the page.
func (m *metrics) close() {
	for _, c := range m.registered {
		m.registerer.Unregister(c)
	}
	m.registered = nil
}
