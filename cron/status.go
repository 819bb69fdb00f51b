package cron

import (
	"context"
	"errors"
	"time"

	"kith/repo"
	"kith/repo/job"
	"kith/repo/lease"
)

// Status is a job as an operator sees it.
type Status struct {
	Plan
	Last *job.Run  // of the whole, not of one account; nil: it never ran
	Next time.Time // zero: it is not scheduled
	// Place is where the job goes on, empty for the beginning.
	Place string
	// Dead says that the last run has not ended and nobody is at it.
	Dead bool
}

// List returns the status of jobs, in their order.
func (r *Runner) List(ctx context.Context, plans []Plan) ([]Status, error) {
	out := make([]Status, 0, len(plans))
	for _, p := range plans {
		s := Status{Plan: p, Next: p.Schedule.Next(r.cfg.Now())}
		runs, err := r.cfg.Runs.Last(ctx, p.Job.Name, 1)
		if err != nil {
			return nil, err
		}
		if len(runs) > 0 {
			s.Last = &runs[0]
		}
		if s.Place, err = r.cfg.Runs.Place(ctx, p.Job.Name); err != nil {
			return nil, err
		}
		if s.Last != nil && s.Last.Result == job.Running {
			if s.Dead, err = r.dead(ctx, *s.Last); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// dead reports that whoever began a run does not renew its lease.
func (r *Runner) dead(ctx context.Context, run job.Run) (bool, error) {
	row, err := r.cfg.Leases.Show(ctx, run.Name)
	if err != nil && !errors.Is(err, repo.ErrNotFound) {
		return false, err
	}
	held := lease.HeldError{Row: row}
	return row.Holder != run.Holder || held.Late(), nil
}
