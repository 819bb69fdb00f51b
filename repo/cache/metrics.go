package cache

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts what a cache does. The labels are resolved once.
type metrics struct {
	registerer prometheus.Registerer // nil: count, but show nobody
	all        *prometheus.Registry

	hit, miss, away                        prometheus.Counter // of kith_cache_gets_total
	stored, newer, failed, tooLarge        prometheus.Counter // of kith_cache_puts_total
	filled, held, fillFailed, fillTooLarge prometheus.Counter // of kith_cache_fills_total
	disowned, refused                      prometheus.Counter // kith_cache_disowned_total, kith_cache_refused_total
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"result"})
	}
	gets := counter("kith_cache_gets_total", "Keys asked for, by result: hit, miss, or away where the server is away.")
	puts := counter("kith_cache_puts_total",
		"Committed rows put into the cache, by result: stored, newer where it held the same or a higher ver, failed, too_large.")
	fills := counter("kith_cache_fills_total",
		"Rows offered by readers, by result: stored, held where there was an entry, failed, too_large.")
	disowned := prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_disowned_total",
		Help: "Cached rows of a history that the database has lost, found and dropped. After a failover or a restore: type kith cache renew."})
	refused := prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_cache_refused_total",
		Help: "Cached items whose checksum or layout is wrong: they were changed, or put by others. They are dropped and read afresh."})
	m := &metrics{
		registerer: r, all: prometheus.NewRegistry(),
		hit: gets.WithLabelValues("hit"), miss: gets.WithLabelValues("miss"), away: gets.WithLabelValues("away"),
		stored: puts.WithLabelValues("stored"), newer: puts.WithLabelValues("newer"),
		failed: puts.WithLabelValues("failed"), tooLarge: puts.WithLabelValues("too_large"),
		filled: fills.WithLabelValues("stored"), held: fills.WithLabelValues("held"),
		fillFailed: fills.WithLabelValues("failed"), fillTooLarge: fills.WithLabelValues("too_large"),
		disowned: disowned, refused: refused,
	}
	m.all.MustRegister(gets, puts, fills, disowned, refused)
	if r != nil {
		if err := r.Register(m.all); err != nil {
			return nil, fmt.Errorf("register cache metrics: %w", err)
		}
	}
	return m, nil
}

// count counts what was asked for, of which away keys had no server.
func (m *metrics) count(all []Held, away int) {
	found := 0
	for i := range all {
		if all[i].Found {
			found++
		}
	}
	m.hit.Add(float64(found))
	m.miss.Add(float64(max(0, len(all)-found-away)))
	if away > 0 {
		m.away.Add(float64(away))
	}
}

// close takes the metrics off the page.
func (m *metrics) close() {
	if m.registerer != nil {
		m.registerer.Unregister(m.all)
	}
}
