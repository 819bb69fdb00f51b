package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// Plan is a job and when it runs.
type Plan struct {
	Job      Job
	Schedule Schedule
}

// Scheduler runs jobs on their schedules.
type Scheduler struct {
	runner *Runner
	plans  []Plan
	log    *slog.Logger
}

// NewScheduler makes a Scheduler.
func NewScheduler(r *Runner, plans []Plan) *Scheduler {
	for _, p := range plans {
		r.cfg.Metrics.expect(p.Job.Name, !p.Schedule.Off())
	}
	return &Scheduler{runner: r, plans: plans, log: r.cfg.Log}
}

// stopTimeout bounds how long jobs may take to stop when ctx has ended.
const stopTimeout = 30 * time.Second

// Run runs the jobs until ctx ends, and returns when they have stopped.
func (s *Scheduler) Run(ctx context.Context) error {
	clock, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(stopTimeout))
	if err != nil {
		return fmt.Errorf("make the scheduler: %w", err)
	}
	var begun []gocron.Job
	for _, p := range s.plans {
		if p.Schedule.Off() {
			continue
		}
		j, err := clock.NewJob(gocron.CronJob(p.Schedule.text, strings.Count(p.Schedule.text, " ") > 4),
			gocron.NewTask(func() { s.tick(ctx, p) }), gocron.WithName(p.Job.Name), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		if err != nil {
			return errors.Join(fmt.Errorf("schedule %s at %s: %w", p.Job.Name, p.Schedule, err), clock.Shutdown())
		}
		if s.unfinished(ctx, p.Job) {
			begun = append(begun, j)
		}
	}
	clock.Start()
	for _, j := range begun {
		if err := j.RunNow(); err != nil {
			s.log.Warn("take up a job", "job", j.Name(), "error", err)
		}
	}
	<-ctx.Done()
	if err := clock.Shutdown(); err != nil {
		return fmt.Errorf("stop the jobs: %w", err)
	}
	return nil
}

// unfinished reports that the last run on the schedule did not come to its
// end: it was stopped, or killed, or is under way elsewhere and may be. It notes the
// last success for the metrics.
func (s *Scheduler) unfinished(ctx context.Context, j Job) bool {
	runs, err := s.runner.cfg.Runs.Last(ctx, j.Name, recent)
	if err != nil {
		s.log.Warn("read the runs of a job", "job", j.Name, "error", err)
		return false
	}
	s.runner.noteSuccess(j, runs)
	for _, run := range runs {
		if run.Tick != 0 {
			return run.Result != job.OK && run.Result != job.Failed
		}
	}
	return false
}

// early is how much before its tick a timer may fire.
const early = 500 * time.Millisecond

// tick serves the tick that has just come, unless another process does: then
// it stands by until that has come to an end.
func (s *Scheduler) tick(ctx context.Context, p Plan) {
	at := p.Schedule.Last(s.runner.cfg.Now().Add(early))
	for {
		run, err := s.runner.Run(ctx, p.Job, Options{Tick: at, Wait: true})
		s.say(ctx, p.Job, run, err)
		if ctx.Err() != nil || !errors.Is(err, lease.ErrLost) && !errors.Is(err, repo.ErrUnavailable) {
			return
		}
		// Whoever has the lease now goes on; if nobody does it is us.
		if s.runner.cfg.Sleep(ctx, s.runner.cfg.Leases.Term()/10) != nil {
			return
		}
	}
}

// say logs how a run ended.
func (s *Scheduler) say(ctx context.Context, j Job, run job.Run, err error) {
	log := s.log.With("job", j.Name, "rows", run.Rows, "done", run.Done, "duration_ms", run.Ended-run.Started)
	switch {
	case err == nil && run.Done > 0:
		log.Info("job done")
	case err == nil:
		log.Debug("job done")
	case errors.Is(err, ErrServed):
		s.log.Debug("another process has run the job", "job", j.Name)
	case ctx.Err() != nil:
		s.log.Debug("job stopped", "job", j.Name, "rows", run.Rows)
	case errors.Is(err, lease.ErrLost), errors.Is(err, repo.ErrUnavailable):
		log.Warn("job stopped, to be taken up", "error", err)
	default:
		log.Error("job failed", "error", err)
	}
}
