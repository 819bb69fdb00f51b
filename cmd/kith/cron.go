package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"kith/app/graph"
	"kith/config"
	"kith/cron"
	"kith/repo/job"
)

type cronCmd struct {
	Start cronStartCmd `cmd:"" default:"withargs" help:"Run all jobs on their schedules; the same as kith cron alone."`
	Run   cronRunCmd   `cmd:"" help:"Run one job now and print what it did."`
	List  cronListCmd  `cmd:"" help:"Show all jobs: schedule, last run, next run."`
}

// cronOn are the settings of all three.
type cronOn struct {
	database
	Cache    config.Cache    `embed:"" group:"Cache"`
	Relation config.Relation `embed:"" group:"Relations"`
	Affinity config.Affinity `embed:"" group:"Affinity"`
	Cron     config.Cron     `embed:"" group:"Jobs"`
	Log      config.Log      `embed:"" group:"Log"`
	// Term is for tests: processes that share a job may have different terms.
	Term time.Duration `name:"lease-term" hidden:"" default:"30s"`
}

// jobs are what the commands work with.
type jobs struct {
	*stack
	runner *cron.Runner
	plans  []cron.Plan
	log    *slog.Logger
}

// with runs fn on the database.
func (c *cronOn) with(ctx context.Context, fn func(jobs) error) error {
	if err := c.check(c.Cache, c.Relation, c.Affinity, c.Cron); err != nil {
		return err
	}
	log := newLog(os.Stderr, c.Log)
	return withStack(ctx, parts{mysql: c.MySQL, cache: c.Cache, relation: c.Relation, affinity: c.Affinity}, log, func(s *stack) error {
		return fn(jobs{stack: s, runner: s.runner(c.Cron, c.Term, log), plans: s.plans(c.Cron, c.Relation.ListCap), log: log})
	})
}

type cronStartCmd struct {
	cronOn
	Admin config.Admin `embed:"" group:"Operations"`
}

// Help is the text above the settings.
func (cronStartCmd) Help() string {
	return "Any number of processes may run this: each job runs in one of them at a time, and another goes on with it when that one ends. " +
		"It runs until SIGINT or SIGTERM; jobs under way stop at their next step and are taken up later."
}

// Run runs the jobs until ctx ends.
func (c *cronStartCmd) Run(ctx context.Context) error {
	if err := config.Check(c.Admin); err != nil {
		return err
	}
	return c.with(ctx, func(j jobs) error {
		scheduler := cron.NewScheduler(j.runner, j.plans)
		done, err := j.admin(c.Admin.Listen, j.readiness(j.log), j.log)
		if err != nil {
			return err
		}
		defer done()
		args := []any{"process", processName(), "version", versionName(), "database", c.MySQL.DSN}
		for _, p := range j.plans {
			args = append(args, p.Job.Name, p.Schedule.String())
		}
		j.log.Info("running jobs", args...)
		scheduler.Run(ctx)
		j.log.Info("stopped")
		return nil
	})
}

type cronRunCmd struct {
	cronOn
	Name    string  `arg:"" help:"The job: kith cron list shows them all."`
	DryRun  bool    `help:"Say what would be done and write nothing. It begins at the beginning and needs no lease."`
	Account *uint64 `placeholder:"ID" help:"Work on this account only."`
	Wait    bool    `help:"Wait while another process runs the job."`
}

// Run runs one job now.
func (c *cronRunCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(j jobs) error {
		p, err := planOf(j.plans, c.Name)
		if err != nil {
			return err
		}
		only, err := j.only(ctx, c.Account)
		if err != nil {
			return err
		}
		show, end := jobProgress(os.Stderr, c.Name)
		run, err := j.runner.Run(ctx, p.Job, cron.Options{
			DryRun: c.DryRun, Account: only, Wait: c.Wait, Waiting: c.waiting,
			Show: show,
		})
		end()
		return c.tell(ctx, run, err)
	})
}

// jobProgress draws a bar on a terminal. Elsewhere the line at the end is enough.
func jobProgress(to *os.File, name string) (show func(cron.Step), end func()) {
	bar := newProgress(to, time.Now)
	if bar.bar == nil {
		return nil, func() {}
	}
	return func(s cron.Step) { bar.report(shown(name, s)) }, bar.end
}

// waiting says why nothing happens yet.
func (c *cronRunCmd) waiting(busy *cron.BusyError) {
	if c.Wait {
		fmt.Fprintf(os.Stderr, "kith: %v: waiting\n", busy)
		return
	}
	fmt.Fprintf(os.Stderr, "kith: %v, and does not answer: waiting %v for it\n", busy, c.Term)
}

// shown is a step as the progress shows it. How many rows there are is often
// a guess, and must not end the bar before the job ends.
func shown(name string, s cron.Step) graph.Progress {
	total := s.Total
	if total > 0 && s.Cursor != "" {
		total = max(total, s.Rows+1)
	}
	return graph.Progress{Phase: name, Done: s.Rows, Total: total}
}

// tell prints what the run did.
func (c *cronRunCmd) tell(ctx context.Context, run job.Run, err error) error {
	busy := (*cron.BusyError)(nil)
	switch {
	case errors.As(err, &busy):
		return fmt.Errorf("%w: try again later, or wait for it with --wait", busy)
	case run.Started == 0:
		return err
	}
	verb, took := "changed", time.Duration(run.Ended-run.Started)*time.Millisecond
	if c.DryRun {
		verb = "would be changed"
	}
	fmt.Printf("%s: %d rows looked at, %d %s, in %v\n", c.Name, run.Rows, run.Done, verb, took)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && c.DryRun, ctx.Err() != nil && c.Account != nil:
		return fmt.Errorf("%s was stopped", c.Name)
	case ctx.Err() != nil:
		return fmt.Errorf("%s was stopped, the next run goes on from there", c.Name)
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}
