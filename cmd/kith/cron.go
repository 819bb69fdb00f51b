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
	"kith/repo/lease"
)

type cronCmd struct {
	Start cronStartCmd `cmd:"" default:"withargs" help:"Run all jobs on their schedules; the same as kith cron alone."`
	Run   cronRunCmd   `cmd:"" help:"Run one job now and print what it did."`
	List  cronListCmd  `cmd:"" help:"Show all jobs: schedule, last run, next run."`
}

// cronOn has the settings of all three commands.
type cronOn struct {
	database
	Cache    config.Cache    `embed:"" group:"Cache"`
	Relation config.Relation `embed:"" group:"Relations"`
	Affinity config.Affinity `embed:"" group:"Affinity"`
	Cron     config.Cron     `embed:"" group:"Jobs"`
	Log      config.Log      `embed:"" group:"Log"`
	// Term is for tests. Processes that share a job may have different terms.
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
	return withStack(ctx, config.Settings{MySQL: c.MySQL, Cache: c.Cache, Relation: c.Relation, Affinity: c.Affinity}, log, func(s *stack) error {
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
	Name    string    `arg:"" help:"The job: kith cron list shows them all."`
	DryRun  bool      `help:"Say what would be done and write nothing. It begins at the beginning and needs no lease."`
	Account accountID `placeholder:"ID" help:"Work on this account only."`
	Wait    bool      `help:"Wait while another process runs the job."`
}

// Run runs one job now.
func (c *cronRunCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(j jobs) error {
		p, err := planOf(j.plans, c.Name)
		if err != nil {
			return err
		}
		if err := j.checkAccount(ctx, c.Account); err != nil {
			return err
		}
		show, end := jobProgress(os.Stderr, c.Name)
		run, err := j.runner.Run(ctx, p.Job, cron.Options{
			DryRun: c.DryRun, Account: uint64(c.Account), Wait: c.Wait, Waiting: c.waiting,
			Show: show,
		})
		end()
		return c.report(ctx, run, err)
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
	fmt.Fprintf(os.Stderr, "kith: %v, and does not answer: waiting up to %v for it\n", busy, c.Term)
}

// shown is a step as the progress shows it. The total is often a guess, and must not
// end the bar before the job ends.
func shown(name string, s cron.Step) graph.Progress {
	total := s.Total
	if total > 0 && s.Cursor != "" {
		total = max(total, s.Rows+1)
	}
	return graph.Progress{Phase: name, Done: s.Rows, Total: total}
}

// report prints what the run did.
func (c *cronRunCmd) report(ctx context.Context, run job.Run, err error) error {
	var busy *cron.BusyError
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
	case ctx.Err() != nil && c.DryRun, ctx.Err() != nil && c.Account != 0:
		return fmt.Errorf("%s was stopped", c.Name)
	case ctx.Err() != nil:
		return fmt.Errorf("%s was stopped: the next run continues from there", c.Name)
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

type cronListCmd struct {
	cronOn
	asJSON
}

// Run shows the jobs.
func (c *cronListCmd) Run(ctx context.Context) error {
	return c.with(ctx, func(j jobs) error {
		all, err := j.runner.List(ctx, j.plans)
		if err != nil {
			return err
		}
		now := time.Now()
		return printAll(c.asJSON, "JOB\tSCHEDULE (UTC)\tLAST RUN (UTC)\tTOOK\tROWS\tCHANGED\tRESULT\tNEXT RUN (UTC)\tWHAT IT DOES", all,
			func(s cron.Status) any { return jobLine(s) }, func(s cron.Status) string { return listed(s, now) })
	})
}

// listed is the line of a job in the table.
func listed(s cron.Status, now time.Time) string {
	next := "-"
	if !s.Next.IsZero() {
		next = clock(s.Next)
	}
	last := "never\t-\t-\t-\t-"
	if r := s.Last; r != nil {
		last = fmt.Sprintf("%s\t%v\t%d\t%d\t%s", clock(time.UnixMilli(r.Started)), took(*r, s.Dead, now), r.Rows, r.Done, outcome(s))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", s.Job.Name, s.Schedule, last, next, s.Job.About)
}

// outcome is the result of the last run in words.
func outcome(s cron.Status) string {
	r := s.Last
	text := string(r.Result)
	switch {
	case s.Dead:
		text = "killed on " + lease.Who(r.Holder)
	case r.Result == job.Running:
		text = "running on " + lease.Who(r.Holder)
	case r.Failure != "":
		text += ": " + r.Failure
	}
	if s.Cursor != "" && (s.Dead || r.Result != job.Running) {
		text += " (goes on at " + s.Cursor + ")"
	}
	return text
}

// took is how long a run took, or has taken so far.
func took(r job.Run, dead bool, now time.Time) string {
	switch {
	case r.Ended != 0:
		return (time.Duration(r.Ended-r.Started) * time.Millisecond).String()
	case dead:
		return "-"
	}
	return now.Sub(time.UnixMilli(r.Started)).Round(time.Second).String()
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// jobObject is a job as a JSON object.
type jobObject struct {
	Job      string     `json:"job"`
	About    string     `json:"about"`
	Schedule string     `json:"schedule"` // off: never
	NextRun  moment     `json:"next_run_at"`
	GoesOn   string     `json:"goes_on_at"` // empty: at the beginning
	Last     *runObject `json:"last_run"`
}

// runObject is the last run of a job.
type runObject struct {
	Started moment `json:"started_at"`
	Ended   moment `json:"ended_at"`
	Rows    int64  `json:"rows"`
	Changed int64  `json:"changed"`
	Result  string `json:"result"` // ok, failed, stopped, lost, running, or killed
	Failure string `json:"failure"`
	Holder  string `json:"holder"` // host:process
}

func jobLine(s cron.Status) jobObject {
	out := jobObject{Job: s.Job.Name, About: s.Job.About, Schedule: s.Schedule.String(), NextRun: moment{s.Next}, GoesOn: s.Cursor}
	if r := s.Last; r != nil {
		out.Last = &runObject{atMilli(r.Started), atMilli(r.Ended), r.Rows, r.Done, string(r.Result), r.Failure, lease.Who(r.Holder)}
		if s.Dead {
			out.Last.Result = "killed"
		}
	}
	return out
}
