package cron

import (
	"context"
	"errors"
	"sync"
	"time"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// Plan is a job and when it runs.
type Plan struct {
	Job      Job
	Schedule Schedule
}

// Schedule says when a job runs. The settings parse it, tests put in another.
type Schedule interface {
	// Next returns the first tick after t, zero for none.
	Next(t time.Time) time.Time
	// String shows it to an operator.
	String() string
}

// Scheduler runs jobs on their schedules.
type Scheduler struct {
	*Runner
	plans []Plan
}

// NewScheduler makes a Scheduler.
func NewScheduler(r *Runner, plans []Plan) *Scheduler {
	s := &Scheduler{Runner: r}
	for _, p := range plans {
		off := p.Schedule.Next(r.cfg.Now()).IsZero()
		r.cfg.Metrics.expect(p.Job.Name, !off)
		if !off {
			s.plans = append(s.plans, p)
		}
	}
	return s
}

// Run runs the jobs until ctx ends, and returns when they have stopped.
func (s *Scheduler) Run(ctx context.Context) {
	var jobs sync.WaitGroup
	for _, p := range s.plans {
		jobs.Go(func() { s.keep(ctx, p) })
	}
	<-ctx.Done()
	jobs.Wait()
}

// keep runs one job until ctx ends: first a run that did not end, then at each tick that
// comes while the job does not run.
func (s *Scheduler) keep(ctx context.Context, p Plan) {
	if begun := s.unfinished(ctx, p.Job); !begun.IsZero() {
		s.serve(ctx, p.Job, begun)
	}
	for ctx.Err() == nil {
		// Round(0) drops the monotonic part, so that the clock of the machine counts. A
		// timer does not notice when that clock is set: hence the short sleeps.
		tick := p.Schedule.Next(s.cfg.Now()).Round(0)
		if tick.IsZero() {
			return
		}
		for left := tick.Sub(s.cfg.Now()); left > 0; left = tick.Sub(s.cfg.Now()) {
			if s.cfg.Sleep(ctx, min(left, time.Minute)) != nil {
				return
			}
		}
		s.serve(ctx, p.Job, tick)
	}
}

// unfinished returns the tick of the last run on the schedule if that was stopped or
// killed, or is under way in another process; else zero. It shows the last success in the
// metrics.
func (s *Scheduler) unfinished(ctx context.Context, j Job) time.Time {
	runs, err := s.cfg.Runs.Last(ctx, j.Name, recent)
	if err != nil {
		s.cfg.Log.Warn("read the runs of a job", "job", j.Name, "error", err)
	}
	s.cfg.Metrics.succeeded(j.Name, runs...)
	for _, run := range runs {
		switch {
		case run.Tick == 0:
		case run.Result == job.OK, run.Result == job.Failed:
			return time.Time{}
		default:
			return time.UnixMilli(run.Tick)
		}
	}
	return time.Time{}
}

// serve runs the job for a tick, unless another process does: then it waits until
// that one has ended.
func (s *Scheduler) serve(ctx context.Context, j Job, tick time.Time) {
	for {
		run, err := s.Runner.Run(ctx, j, Options{Tick: tick, Wait: true})
		s.logEnd(ctx, j, run, err)
		if ctx.Err() != nil || !errors.Is(err, lease.ErrLost) && !errors.Is(err, repo.ErrUnavailable) {
			return
		}
		// Another process may have continued the job; else this one does.
		if s.cfg.Sleep(ctx, s.cfg.Leases.Term()/10) != nil {
			return
		}
	}
}

func (s *Scheduler) logEnd(ctx context.Context, j Job, run job.Run, err error) {
	log := s.cfg.Log.With("job", j.Name, "rows", run.Rows, "done", run.Done, "duration_ms", run.Ended-run.Started)
	switch {
	case err == nil && run.Done > 0:
		log.Info("job done")
	case err == nil:
		log.Debug("job done")
	case errors.Is(err, ErrServed):
		s.cfg.Log.Debug("another process has run the job", "job", j.Name)
	case ctx.Err() != nil:
		s.cfg.Log.Debug("job stopped", "job", j.Name, "rows", run.Rows)
	case errors.Is(err, lease.ErrLost), errors.Is(err, repo.ErrUnavailable):
		log.Warn("job stopped, to be continued", "error", err)
	default:
		log.Error("job failed", "error", err)
	}
}

// Status is a job as an operator sees it.
type Status struct {
	Plan
	Last *job.Run  // of all accounts, not of one; nil: it never ran
	Next time.Time // zero: it is not scheduled
	// Cursor is where the job continues, empty for the beginning.
	Cursor string
	// Dead says that the last run has not ended and no process works on it.
	Dead bool
}

// List returns the status of jobs, in their order.
func (r *Runner) List(ctx context.Context, plans []Plan) ([]Status, error) {
	out := make([]Status, len(plans))
	for i, p := range plans {
		s := Status{Plan: p, Next: p.Schedule.Next(r.cfg.Now())}
		runs, err := r.cfg.Runs.Last(ctx, p.Job.Name, 1)
		if err != nil {
			return nil, err
		}
		if s.Cursor, err = r.cfg.Runs.Cursor(ctx, p.Job.Name); err != nil {
			return nil, err
		}
		if len(runs) > 0 {
			s.Last = &runs[0]
			if s.Dead, err = r.dead(ctx, runs[0]); err != nil {
				return nil, err
			}
		}
		out[i] = s
	}
	return out, nil
}

// dead reports whether a run has not ended though the process that began it no longer
// renews the lease.
func (r *Runner) dead(ctx context.Context, run job.Run) (bool, error) {
	if run.Result != job.Running {
		return false, nil
	}
	row, err := r.cfg.Leases.Show(ctx, run.Name)
	if err != nil && !errors.Is(err, repo.ErrNotFound) {
		return false, err
	}
	held := lease.HeldError{Row: row}
	return row.Holder != run.Holder || held.Late(), nil
}
