package cron_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	robfig "github.com/robfig/cron/v3"

	"kith/cron"
	"kith/repo/job"
	"kith/repo/waittest"
)

// ticks is a schedule of tests.
type ticks struct{ robfig.Schedule }

func (ticks) String() string { return "of the tests" }

var (
	everySecond = ticks{robfig.Every(time.Second)} // tests need not wait long for it
	yearly      = ticks{robfig.ConstantDelaySchedule{Delay: 8760 * time.Hour}}
	off         = ticks{never{}}
)

type never struct{}

func (never) Next(time.Time) time.Time { return time.Time{} }

// schedule runs a scheduler until the test calls stop.
func (w worker) schedule(t *testing.T, plans ...cron.Plan) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cron.NewScheduler(w.Runner, plans).Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("the scheduler does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

// Two schedulers: each tick is served once, by one of them.
func TestScheduler_OncePerTick(t *testing.T) {
	a, b, name := newWorker(t, "a:1"), newWorker(t, "b:2"), jobName(t)
	done := make(chan struct{}, 100)
	j := cron.Job{Name: name, Work: func(context.Context, *cron.Run) error {
		done <- struct{}{}
		return nil
	}}
	plan := cron.Plan{Job: j, Schedule: everySecond}
	stopA, stopB := a.schedule(t, plan), b.schedule(t, plan)
	for range 4 {
		waittest.Receive(t, patience, "run", done)
	}
	stopA()
	stopB()
	runs, ticks := a.last(t, name), map[int64]bool{}
	for _, r := range runs {
		if ticks[r.Tick] || r.Tick == 0 || r.Tick%1000 != 0 {
			t.Errorf("tick %d was served twice, or is none: %+v", r.Tick, runs)
		}
		ticks[r.Tick] = true
	}
	if len(runs) < 4 {
		t.Errorf("%d runs, want 4 or more", len(runs))
	}
}

// One of two schedulers dies in the middle of a job: the other, which stood
// by, goes on with it.
func TestScheduler_TakesOver(t *testing.T) {
	a, b, name := newWorker(t, "a:1"), newWorker(t, "b:2"), jobName(t)
	begun, finished := make(chan struct{}), make(chan struct{})
	first := count(name, func(ctx context.Context, n int) error {
		if n == 10 {
			close(begun)
			<-ctx.Done()
		}
		return ctx.Err()
	})
	second := count(name, func(_ context.Context, n int) error {
		if n == 100 {
			select {
			case <-finished:
			default:
				close(finished)
			}
		}
		return nil
	})
	a.schedule(t, cron.Plan{Job: first, Schedule: everySecond})
	waittest.Receive(t, patience, "beginning", begun)
	b.schedule(t, cron.Plan{Job: second, Schedule: everySecond})
	a.pool.Close() // dead
	start := time.Now()
	waittest.Receive(t, patience, "end", finished)
	if took := time.Since(start); took > 4*term {
		t.Errorf("taking over took %v with a term of %v", took, term)
	}
}

// A scheduler that is stopped in the middle leaves the job to one that starts
// later, which takes it up without waiting for a tick.
func TestScheduler_TakesUp(t *testing.T) {
	a, b, name := newWorker(t, "a:1"), newWorker(t, "b:2"), jobName(t)
	begun := make(chan struct{})
	stop := a.schedule(t, cron.Plan{Job: count(name, func(ctx context.Context, n int) error {
		if n == 10 {
			close(begun)
			<-ctx.Done()
		}
		return nil
	}), Schedule: everySecond})
	waittest.Receive(t, patience, "beginning", begun)
	stop()
	if runs := a.last(t, name); len(runs) != 1 || runs[0].Result != job.Stopped {
		t.Fatalf("runs %+v, want one that was stopped", runs)
	}
	rows := make(chan struct{}, 100)
	b.schedule(t, cron.Plan{Job: count(name, func(context.Context, int) error { rows <- struct{}{}; return nil }), Schedule: yearly})
	for range 90 {
		waittest.Receive(t, patience, "row", rows)
	}
	if len(rows) > 0 {
		t.Error("more rows than were left")
	}
}

// A job that is off does not run, and a scheduler without jobs ends as others.
func TestScheduler_Off(t *testing.T) {
	w := newWorker(t, "a:1")
	stop := w.schedule(t, cron.Plan{Schedule: off, Job: cron.Job{Name: jobName(t), Work: func(context.Context, *cron.Run) error {
		t.Error("it runs")
		return nil
	}}})
	stop()
}

// An alert on a success that grows old sees jobs that never ran, and after a start
// those that ran before.
func TestScheduler_LastSuccess(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) { c.Metrics = cron.NewMetrics(reg) })
	done := make(chan struct{}, 100)
	idle := func(name string) cron.Job {
		return cron.Job{Name: name, Work: func(context.Context, *cron.Run) error { done <- struct{}{}; return nil }}
	}
	untried, ran, switchedOff, last := jobName(t), jobName(t), jobName(t), jobName(t)
	for _, run := range []job.Run{
		{Name: ran, Started: 1_600_000_000_000, Ended: 1_600_000_001_500, Tick: 1, Result: job.OK},
		{Name: ran, Started: 1_600_000_002_000, Ended: 1_600_000_003_000, Tick: 1, Result: job.Failed},
		{Name: switchedOff, Started: 1_600_000_000_000, Ended: 1_600_000_001_500, Tick: 1, Result: job.Failed},
	} {
		if err := w.runs.Save(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	stop := w.schedule(t, cron.Plan{Job: idle(untried), Schedule: yearly}, cron.Plan{Job: idle(ran), Schedule: yearly},
		cron.Plan{Job: idle(switchedOff), Schedule: off}, cron.Plan{Job: idle(last), Schedule: everySecond})
	waittest.Receive(t, patience, "run", done)
	stop()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "kith_job_last_success_timestamp_seconds" {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	delete(got, last)
	if want := map[string]float64{untried: 0, ran: 1_600_000_001.5}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
