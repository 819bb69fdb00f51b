package cron

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// running is one run on its way. Its methods belong to the goroutine of the job.
type running struct {
	r     *Runner
	job   Job
	o     Options
	lease *lease.Lease // nil in a dry run
	row   job.Run
	total int64
	place string
	saved time.Time // zero: not yet
	pace  pacer
}

// savePause is the time between two looks at the cursor that are kept.
const savePause = time.Second

// endTime bounds what is written when a run has ended, however little time its
// caller has left.
const endTime = 5 * time.Second

func (r *Runner) begin(j Job, o Options, l *lease.Lease) *running {
	now := r.cfg.Now()
	x := &running{r: r, job: j, o: o, lease: l,
		pace: pacer{rate: r.cfg.Rate, now: r.cfg.Now, sleep: r.cfg.Sleep},
		row:  job.Run{Name: runName(j, o), Started: now.UnixMilli(), Result: job.Running}}
	if !o.Tick.IsZero() {
		x.row.Tick = o.Tick.UnixMilli()
	}
	if l != nil {
		x.row.Holder = l.Holder()
	}
	return x
}

// runName is what a run is noted under.
func runName(j Job, o Options) string {
	if o.Account != 0 {
		return job.OfOne(j.Name)
	}
	return j.Name
}

// work runs the job to its end and notes what came of it.
func (x *running) work(ctx context.Context) (job.Run, error) {
	working, cancel := context.WithCancelCause(ctx)
	defer x.watch(working, cancel)()
	begun := x.r.cfg.Now()
	x.pace.begin()
	run := &Run{DryRun: x.o.DryRun, Account: x.o.Account, Log: x.r.cfg.Log.With("job", x.job.Name), cursor: x.place, step: x.step}
	err := x.job.Work(working, run)
	if err != nil && working.Err() != nil {
		err = context.Cause(working) // what the job saw is a consequence
	}
	x.end(ctx, err, x.r.cfg.Now().Sub(begun))
	return x.row, err
}

// watch ends ctx when the lease is lost. What it returns ends ctx and the
// watching.
func (x *running) watch(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	if x.lease == nil {
		return func() { cancel(nil) }
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-x.lease.Lost():
			cancel(lease.ErrLost)
		case <-ctx.Done():
		}
	})
	return func() {
		cancel(nil)
		watching.Wait()
	}
}

// step is Run.Step.
func (x *running) step(ctx context.Context, s Step) error {
	x.row.Rows += s.Rows
	x.row.Done += s.Done
	x.total, x.place = s.Total, s.Cursor
	x.r.cfg.Metrics.looked(x.job.Name, s.Rows)
	if x.o.Show != nil {
		x.o.Show(Step{Rows: x.row.Rows, Done: x.row.Done, Total: x.total, Cursor: x.place})
	}
	if err := x.may(ctx); err != nil {
		return err
	}
	pause := x.pace.owe(s.Rows)
	x.save(ctx, pause)
	if err := x.pace.pause(ctx, pause); err != nil {
		return x.why(ctx, err)
	}
	return x.may(ctx)
}

// may returns why the job has to stop, if it has.
func (x *running) may(ctx context.Context) error {
	if x.lease != nil {
		if err := x.lease.Check(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return x.why(ctx, err)
	}
	return nil
}

// why prefers the cause of an ended ctx.
func (x *running) why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// save keeps the cursor and the numbers: after the first step and then from time
// to time, where a second would go by in the pause that comes, before that. So
// a run that is killed has told of all but its last second. What fails is tried
// again a second later: the job's own work tells whether the database is away.
func (x *running) save(ctx context.Context, pause time.Duration) {
	now := x.r.cfg.Now()
	if x.lease == nil || now.Add(pause).Sub(x.saved) < savePause {
		return
	}
	x.saved = now
	if err := x.keep(ctx); err != nil {
		x.r.cfg.Log.Warn("save the cursor of a job", "job", x.job.Name, "error", err)
	}
}

func (x *running) keep(ctx context.Context) error {
	err := x.r.cfg.Runs.Save(ctx, x.row)
	if x.o.Account != 0 {
		return err
	}
	return errors.Join(err, x.r.cfg.Runs.SavePlace(ctx, x.job.Name, x.place, x.lease.Ver(), x.r.cfg.Now().UnixMilli()))
}

// end notes how the run ended.
func (x *running) end(ctx context.Context, err error, took time.Duration) {
	x.row.Result, x.row.Failure = judge(ctx, err)
	x.row.Ended = x.row.Started + took.Milliseconds()
	if x.row.Result == job.OK {
		x.place = ""
	}
	if x.lease == nil {
		return
	}
	if x.o.Account == 0 {
		x.r.cfg.Metrics.ended(x.row, took)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := x.keep(ctx); err != nil {
		x.r.cfg.Log.Warn("note the end of a job", "job", x.job.Name, "error", err)
	}
}

// judge gives the end of a run its result and sentence.
func judge(ctx context.Context, err error) (job.Result, string) {
	switch {
	case err == nil:
		return job.OK, ""
	case errors.Is(err, lease.ErrLost):
		return job.Stopped, lease.ErrLost.Error()
	case ctx.Err() != nil:
		return job.Stopped, "the process was stopped"
	case errors.Is(err, repo.ErrUnavailable):
		return job.Stopped, oneLine(err)
	}
	return job.Failed, oneLine(err)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
