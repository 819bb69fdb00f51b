package cron

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/job"
)

// Metrics are about the runs of jobs.
type Metrics struct {
	rows    *prometheus.CounterVec
	runs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	success *prometheus.GaugeVec
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	byJob := []string{"job"}
	m := &Metrics{
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_job_rows_total", Help: "Rows that jobs looked at in this process."}, byJob),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_job_runs_total", Help: "Runs of jobs in this process that ended, by result: ok, failed, stopped."}, []string{"job", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "kith_job_seconds", Help: "How long runs of jobs took.",
			Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600}}, byJob),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kith_job_last_success_timestamp_seconds",
			Help: "When a run of the job last ended well in any process, as unix seconds; 0 where none ever did. Jobs that are off have none."}, byJob),
	}
	reg.MustRegister(m.rows, m.runs, m.seconds, m.success)
	return m
}

// expect shows the counts of a job as 0: without a 0 before it Prometheus does not see
// the first increase. The last success of a job on a schedule is shown, too, as 0 if it
// never ran.
func (m *Metrics) expect(name string, scheduled bool) {
	m.rows.WithLabelValues(name)
	if scheduled {
		m.success.WithLabelValues(name)
	}
	for _, result := range []job.Result{job.OK, job.Failed, job.Stopped} {
		m.runs.WithLabelValues(name, string(result))
	}
}

func (m *Metrics) ended(r job.Run, took time.Duration) {
	m.runs.WithLabelValues(r.Name, string(r.Result)).Inc()
	m.seconds.WithLabelValues(r.Name).Observe(took.Seconds())
	m.succeeded(r.Name, r)
}

// succeeded shows when a job last ended well, in this process or another. The newest of
// its runs come first.
func (m *Metrics) succeeded(name string, runs ...job.Run) {
	for _, r := range runs {
		if r.Name == name && r.Result == job.OK {
			m.success.WithLabelValues(name).Set(float64(r.Ended) / 1000)
			return
		}
	}
}
