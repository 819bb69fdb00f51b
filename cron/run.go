package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// Job is one kind of maintenance work. One file of this package makes each.
type Job struct {
	// Name is what the job is called everywhere: command, table, metric.
	Name string
	// About says in one line what it does.
	About string
	// Work does all there is to do, in small steps.
	Work func(ctx context.Context, run *Run) error
}

// Run is one run of a job. Its methods belong to the goroutine of the job.
//
// A job works in small bounded steps and calls Step after each: Step pauses so
// that no more rows a second are looked at than the settings allow, draws the
// progress, saves the cursor, and returns an error when the job has to stop: the
// lease is lost or ctx is done. A job then stops before its next write, and
// leaves nothing half done.
type Run struct {
	// DryRun asks for a report of what would be done; nothing is written.
	DryRun bool
	// Account restricts the run to one account; 0 for all. Such a run neither
	// reads nor moves the cursor.
	Account uint64
	// Log is for what an operator wants to read about this run.
	Log *slog.Logger

	cfg    *RunnerConfig
	job    Job
	show   func(Step)
	lease  *lease.Lease // nil in a dry run
	row    job.Run
	cursor string
	saved  time.Time // when the cursor was; zero: not yet
	due    time.Time // before it, the rows so far are more than Rate allows

	skipped int64 // accounts whose rows had errors
	first   error // the first of these
}

// Step is what a job has done since its last Step.
type Step struct {
	Rows   int64  // rows looked at
	Done   int64  // rows changed, or that would be in a dry run
	Total  int64  // rows there are to look at, 0 unknown
	Cursor string // where to continue after a stop; empty when all is done
}

const (
	// savePause is the time between two steps whose cursor is saved.
	savePause = time.Second
	// endTime bounds the writes at the end of a run, also when ctx has ended.
	endTime = 5 * time.Second
)

func (r *Runner) begin(j Job, o Options, l *lease.Lease) *Run {
	now := r.cfg.Now()
	x := &Run{DryRun: o.DryRun, Account: o.Account, Log: r.cfg.Log.With("job", j.Name),
		cfg: &r.cfg, job: j, show: o.Show, lease: l, due: now,
		row: job.Run{Name: j.Name, Started: now.UnixMilli(), Result: job.Running}}
	if o.Account != 0 {
		x.row.Name = job.OfOne(j.Name)
	}
	if !o.Tick.IsZero() {
		x.row.Tick = o.Tick.UnixMilli()
	}
	if l != nil {
		x.row.Holder = l.Holder()
	}
	return x
}

// work runs the job to its end and records the result. ctx of the job ends when
// the lease is lost.
func (x *Run) work(ctx context.Context) (job.Run, error) {
	working, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	if x.lease != nil {
		watching.Go(func() {
			select {
			case <-x.lease.Lost():
				cancel(lease.ErrLost)
			case <-working.Done():
			}
		})
	}
	begun := x.cfg.Now()
	err := x.job.Work(working, x)
	switch {
	case err != nil && working.Err() != nil:
		err = context.Cause(working) // the error of the job is a consequence
	case err == nil && x.skipped > 0:
		err = fmt.Errorf("%s failed for %s, the first: %w", x.job.Name, counted(x.skipped, "account"), x.first)
	}
	cancel(nil)
	watching.Wait()
	x.end(ctx, err, x.cfg.Now().Sub(begun))
	return x.row, err
}

// counted writes how many there are of something.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Cursor is where an earlier run stopped, empty to begin at the beginning.
func (x *Run) Cursor() string { return x.cursor }

// Step counts what has been done and may pause. An error means: stop now.
func (x *Run) Step(ctx context.Context, s Step) error {
	x.row.Rows += s.Rows
	x.row.Done += s.Done
	x.cursor = s.Cursor
	x.cfg.Metrics.rows.WithLabelValues(x.job.Name).Add(float64(s.Rows))
	if x.show != nil {
		x.show(Step{Rows: x.row.Rows, Done: x.row.Done, Total: s.Total, Cursor: s.Cursor})
	}
	if err := x.stopped(ctx); err != nil {
		return err
	}
	pause := x.owed(s.Rows)
	// A run that is killed loses the numbers of its last second only: if the second
	// would end during the pause, they are saved before it. A save that fails is tried
	// again a second later.
	if now := x.cfg.Now(); x.lease != nil && now.Add(pause).Sub(x.saved) >= savePause {
		x.saved = now
		if err := x.save(ctx); err != nil {
			x.cfg.Log.Warn("save the cursor of a job", "job", x.job.Name, "error", err)
		}
	}
	if pause > 0 {
		if err := x.cfg.Sleep(ctx, pause); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	return x.stopped(ctx)
}

// Skip logs the error of one account, if there is one, so that a bad row does not keep
// the job from the others; the run counts as failed at its end. It returns errors that
// the others would have too: then the job has to stop.
func (x *Run) Skip(ctx context.Context, account uint64, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, repo.ErrUnavailable):
		return err
	}
	x.Log.Error(x.job.Name+" failed for an account", "account", account, "error", err)
	x.skipped++
	x.first = cmp.Or(x.first, err)
	return nil
}

// stopped returns why the job has to stop, if it has.
func (x *Run) stopped(ctx context.Context) error {
	if x.lease != nil {
		if err := x.lease.Check(); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// owed returns how long to pause after so many rows. The time of the work itself counts;
// a slow time does not allow more rows later.
func (x *Run) owed(rows int64) time.Duration {
	if x.cfg.Rate <= 0 || rows <= 0 {
		return 0
	}
	now := x.cfg.Now()
	x.due = x.due.Add(time.Duration(float64(rows) / float64(x.cfg.Rate) * float64(time.Second)))
	if x.due.Before(now) {
		x.due = now
	}
	return x.due.Sub(now)
}

// save writes the numbers of the run and, if it is for all accounts, the cursor.
func (x *Run) save(ctx context.Context) error {
	err := x.cfg.Runs.Save(ctx, x.row)
	if x.Account != 0 {
		return err
	}
	return errors.Join(err, x.cfg.Runs.SaveCursor(ctx, x.job.Name, x.cursor, x.lease.Ver(), x.cfg.Now().UnixMilli()))
}

// end records how the run ended.
func (x *Run) end(ctx context.Context, err error, took time.Duration) {
	x.row.Result, x.row.Failure = result(ctx, err)
	x.row.Ended = x.row.Started + took.Milliseconds()
	if x.row.Result == job.OK {
		x.cursor = ""
	}
	if x.lease == nil {
		return
	}
	if x.Account == 0 {
		x.cfg.Metrics.ended(x.row, took)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := x.save(ctx); err != nil {
		x.cfg.Log.Warn("record the end of a job", "job", x.job.Name, "error", err)
	}
}

// result gives the end of a run its result and sentence.
func result(ctx context.Context, err error) (job.Result, string) {
	switch {
	case err == nil:
		return job.OK, ""
	case errors.Is(err, lease.ErrLost):
		return job.Stopped, lease.ErrLost.Error()
	case ctx.Err() != nil:
		return job.Stopped, "the process was stopped"
	}
	line := strings.Join(strings.Fields(err.Error()), " ")
	if errors.Is(err, repo.ErrUnavailable) {
		return job.Stopped, line
	}
	return job.Failed, line
}
