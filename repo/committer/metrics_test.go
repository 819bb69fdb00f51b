package committer_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/committer"
)

// A commit is timed once, with the swaps it lost; one that failed is not.
func TestMetrics_Seconds(t *testing.T) {
	reg, f := prometheus.NewRegistry(), newFake()
	c := start(t, f, committer.Config{Metrics: committer.NewMetrics(reg)})
	f.lose = 1
	if err := c.Do(t.Context(), []uint64{1}, add(1, 1)); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.away = true
	f.mu.Unlock()
	if err := c.Do(t.Context(), []uint64{1}, add(2, 1)); err == nil {
		t.Fatal("a commit without a database succeeded")
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "kith_commit_seconds" {
			if n := family.GetMetric()[0].GetHistogram().GetSampleCount(); n != 1 {
				t.Errorf("%d commits were timed, want 1", n)
			}
			return
		}
	}
	t.Error("there is no kith_commit_seconds")
}
