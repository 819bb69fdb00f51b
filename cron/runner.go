package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// RunnerConfig has the parts and settings of a Runner.
type RunnerConfig struct {
	Leases *lease.Store
	Runs   *job.Store
	// Rate is how many rows a second a run may read, 0 for any number.
	Rate int
	// Keep is how long the record of a run is kept, 0 for ever.
	Keep    time.Duration
	Now     func() time.Time                                 // nil: time.Now
	Sleep   func(ctx context.Context, d time.Duration) error // nil: a timer
	Log     *slog.Logger                                     // nil: none
	Metrics *Metrics                                         // nil: not shown
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
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return &Runner{cfg: cfg}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Options are those of one run.
type Options struct {
	DryRun  bool
	Account uint64
	// Tick is the time on the schedule that the run serves, zero by hand.
	Tick time.Time
	// Wait makes the run wait while another process has the lease. Without Wait it
	// waits only for a holder that seems to be dead.
	Wait bool
	// Waiting is called once, with the reason, if the run waits.
	Waiting func(*BusyError)
	// Show is called after each step with how far the run is: sums, not differences.
	Show func(Step)
}

// BusyError says which process runs the job already.
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

// Run runs a job and returns what it did. Errors are those of the job and of ctx;
// *BusyError if another process runs it, ErrServed if another process has served the
// tick, lease.ErrLost if another process may run it by now.
func (r *Runner) Run(ctx context.Context, j Job, o Options) (job.Run, error) {
	if o.DryRun {
		return r.begin(j, o, nil).work(ctx)
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
		if x.cursor, err = r.cfg.Runs.Cursor(ctx, j.Name); err != nil {
			return job.Run{}, err
		}
	}
	if err := r.cfg.Runs.Save(ctx, x.row); err != nil {
		return job.Run{}, err
	}
	return x.work(ctx)
}

// take takes the job's lease. With Wait it waits for the lease, and for a database that
// is away.
func (r *Runner) take(ctx context.Context, j Job, o Options) (*lease.Lease, error) {
	warned := false
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
			if o.Waiting != nil {
				o.Waiting(r.busy(ctx, j, held))
				o.Waiting = nil
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

// busy says who holds the lease, and since when if that is known.
func (r *Runner) busy(ctx context.Context, j Job, held *lease.HeldError) *BusyError {
	e := &BusyError{Job: j.Name, Who: lease.Who(held.Row.Holder)}
	runs, err := r.last(ctx, j)
	if err != nil {
		return e // without the time
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

// recent is how many earlier runs a run reads.
const recent = 20

// settle records that earlier runs were killed: those that never ended, since this
// process has the lease. ErrServed if an earlier run served the tick.
func (r *Runner) settle(ctx context.Context, j Job, tick time.Time) error {
	runs, err := r.last(ctx, j)
	if err != nil {
		return err
	}
	r.cfg.Metrics.succeeded(j.Name, runs...)
	served := false
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
	return r.forget(ctx, j)
}

// forget deletes the old records of a job, a bounded number each time. The newest stays.
func (r *Runner) forget(ctx context.Context, j Job) error {
	if r.cfg.Keep <= 0 {
		return nil
	}
	before := r.cfg.Now().Add(-r.cfg.Keep).UnixMilli()
	_, whole := r.cfg.Runs.Expire(ctx, j.Name, before, job.MaxRuns)
	_, ofOne := r.cfg.Runs.Expire(ctx, job.OfOne(j.Name), before, job.MaxRuns)
	return cmp.Or(whole, ofOne)
}
