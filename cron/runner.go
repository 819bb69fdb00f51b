package cron

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// RunnerConfig is what a Runner works with.
type RunnerConfig struct {
	Leases *lease.Store
	Runs   *job.Store
	// Rate is how many rows a second a run may look at, 0 for any number.
	Rate    int
	Now     func() time.Time                                 // nil: time.Now
	Sleep   func(ctx context.Context, d time.Duration) error // nil: a timer
	Log     *slog.Logger
	Metrics *Metrics
}

// Runner runs jobs under their leases, one run at a time for each job. It is
// safe for concurrent use.
type Runner struct{ cfg RunnerConfig }

// NewRunner makes a Runner.
func NewRunner(cfg RunnerConfig) *Runner {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{cfg: cfg}
}

// Options say how one run differs from the next.
type Options struct {
	DryRun  bool
	Account uint64
	// Tick is the time on the schedule that the run serves, zero by hand.
	Tick time.Time
	// Wait has the run wait for the lease while somebody else has it. Without
	// it, it waits only for a holder that seems to be dead.
	Wait bool
	// Waiting is told once why the run waits.
	Waiting func(*BusyError)
	// Show is told after each step how far the run is: sums, not differences.
	Show func(Step)
}

// BusyError says who runs the job already.
type BusyError struct {
	Job   string
	Who   string    // host:pid
	Since time.Time // zero: not known
}

// Error names the job and who runs it.
func (e *BusyError) Error() string {
	text := fmt.Sprintf("%s is being run by %s", e.Job, e.Who)
	if !e.Since.IsZero() {
		text += " since " + e.Since.UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return text
}

// ErrServed says that another process has served the tick.
var ErrServed = errors.New("the tick has been served")

// Run runs a job and returns what it did. Errors are those of the job; a
// *BusyError where somebody else runs it, ErrServed where somebody else did at
// this tick, lease.ErrLost where somebody else may run it by now, and that of
// ctx.
func (r *Runner) Run(ctx context.Context, j Job, o Options) (job.Run, error) {
	if o.DryRun {
		x := r.begin(j, o, nil)
		return x.work(ctx)
	}
	l, err := r.take(ctx, j, o)
	if err != nil {
		return job.Run{}, err
	}
	defer func() {
		if err := l.Release(ctx); err != nil {
			r.cfg.Log.Warn("release the lease of a job", "job", j.Name, "error", err)
		}
	}()
	if err := r.settle(ctx, j, o.Tick); err != nil {
		return job.Run{}, err
	}
	x := r.begin(j, o, l)
	if o.Account == 0 {
		if x.place, err = r.cfg.Runs.Place(ctx, j.Name); err != nil {
			return job.Run{}, err
		}
	}
	if err := r.cfg.Runs.Save(ctx, x.row); err != nil {
		return job.Run{}, err
	}
	return x.work(ctx)
}

// take takes the job's lease, after a while if it may. Who waits also waits
// for a database that is away.
func (r *Runner) take(ctx context.Context, j Job, o Options) (*lease.Lease, error) {
	told, warned := false, false
	for {
		l, err := r.cfg.Leases.Take(ctx, j.Name)
		held := (*lease.HeldError)(nil)
		switch {
		case err == nil:
			return l, nil
		case errors.As(err, &held):
			if !o.Wait && !held.Late() {
				return nil, r.busy(ctx, j, held)
			}
			if !told && o.Waiting != nil {
				o.Waiting(r.busy(ctx, j, held))
				told = true
			}
		case !o.Wait || !errors.Is(err, repo.ErrUnavailable):
			return nil, err
		case !warned:
			r.cfg.Log.Warn("wait for the database", "job", j.Name, "error", err)
			warned = true
		}
		if err := r.cfg.Sleep(ctx, r.cfg.Leases.Term()/10); err != nil {
			return nil, fmt.Errorf("wait for the lease of %s: %w", j.Name, err)
		}
	}
}

// busy says who holds the lease, and since when if that can be found out.
func (r *Runner) busy(ctx context.Context, j Job, held *lease.HeldError) *BusyError {
	e := &BusyError{Job: j.Name, Who: lease.Who(held.Row.Holder)}
	runs, err := r.last(ctx, j)
	if err != nil {
		return e // the sentence is good without it
	}
	for _, run := range runs {
		if run.Holder == held.Row.Holder {
			e.Since = time.UnixMilli(run.Started)
		}
	}
	return e
}

// last returns the latest runs of a job, those of one account after the others.
func (r *Runner) last(ctx context.Context, j Job) ([]job.Run, error) {
	whole, err := r.cfg.Runs.Last(ctx, j.Name, recent)
	if err != nil {
		return nil, err
	}
	ofOne, err := r.cfg.Runs.Last(ctx, job.OfOne(j.Name), recent)
	return append(whole, ofOne...), err
}

// recent is how many earlier runs a run looks at.
const recent = 20

// noteSuccess shows when the newest of runs that ended well did.
func (r *Runner) noteSuccess(j Job, runs []job.Run) {
	if at := slices.IndexFunc(runs, func(run job.Run) bool { return run.Name == j.Name && run.Result == job.OK }); at >= 0 {
		r.cfg.Metrics.succeeded(runs[at])
	}
}

// settle looks at the runs before this one: those that never ended were
// killed, since the lease is ours. ErrServed where one of them served the tick.
func (r *Runner) settle(ctx context.Context, j Job, tick time.Time) error {
	runs, err := r.last(ctx, j)
	if err != nil {
		return err
	}
	served := false
	r.noteSuccess(j, runs)
	for _, run := range runs {
		if run.Ended == 0 {
			if err := r.cfg.Runs.Bury(ctx, run, r.cfg.Now().UnixMilli()); err != nil {
				return err
			}
		}
		whole := run.Result == job.OK || run.Result == job.Failed
		served = served || whole && !tick.IsZero() && run.Tick >= tick.UnixMilli()
	}
	if served {
		return ErrServed
	}
	return nil
}
