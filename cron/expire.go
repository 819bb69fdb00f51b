package cron

import (
	"context"
	"slices"
	"time"

	apprelation "kith/app/relation"
	"kith/repo/job"
	"kith/repo/list"
	"kith/repo/relation"
)

// ExpireConfig is what the job expire works with.
type ExpireConfig struct {
	Rows      ExpireRows
	Relations Expirer
	// Requests is how long a request to follow waits for an answer, 0: for ever.
	Requests time.Duration
	Runs     ExpireRuns
	// Jobs are the jobs whose runs are kept for Keep.
	Jobs []string
	Keep time.Duration
	Now  func() time.Time
}

// ExpireRows reads relation rows.
type ExpireRows interface {
	WalkOutlines(ctx context.Context, after uint64, limit int) ([]relation.Outline, error)
	Outlines(ctx context.Context, ids []uint64) ([]relation.Outline, error)
	Fresh(ctx context.Context, ids []uint64) (map[uint64]relation.Row, error)
}

// Expirer drops what has passed from the lists of one account.
type Expirer interface {
	Expire(ctx context.Context, row relation.Row, e apprelation.Expiry) (apprelation.Expired, error)
}

// ExpireRuns deletes old runs of jobs.
type ExpireRuns interface {
	Old(ctx context.Context, name string, before int64) (int64, error)
	Expire(ctx context.Context, name string, before int64, limit int) (int64, error)
}

var (
	_ ExpireRows = (*relation.Store)(nil)
	_ Expirer    = (*apprelation.Service)(nil)
	_ ExpireRuns = (*job.Store)(nil)
)

const (
	expirePage  = 500  // outlines read at once
	expireLists = 20   // whole rows read at once
	expireRuns  = 1000 // runs deleted at once
)

// Expire makes the job that drops what has passed: mutes past their end,
// requests that nobody answered, and old runs of jobs. No index knows who
// mutes until when, so it walks all rows; it reads the lengths of their
// sections first and only of few the lists.
//
// The walk is cheap enough to do without an index, which every write would pay
// for. A graph of 81,306 accounts and 1.4 million edges, all in memory, on 2 cores
// with MariaDB 10.11, took kith cron run expire --cron-rate 0
//
//	nobody mutes                           0.15 s   540,000 rows a second
//	every tenth account mutes somebody     0.23 s   350,000 rows a second
//	and 813 of these mutes have ended      0.66 s   half a millisecond each
//
// so that at the default pace of 5,000 rows a second it is at work for one or two
// hundredths of its time: 16 s for these, 33 minutes for 10 million accounts, once
// a day.
func Expire(cfg *ExpireConfig) Job {
	e := expiring{cfg}
	return Job{Name: "expire", About: "ends mutes and requests whose time has passed, and deletes old runs of jobs", Work: e.work}
}

type expiring struct{ *ExpireConfig }

func (e expiring) work(ctx context.Context, run *Run) error {
	bad := &faults{run: run, what: "expire"}
	w := &walk{}
	if run.Account != 0 {
		page, err := e.Rows.Outlines(ctx, []uint64{run.Account})
		if err == nil && len(page) > 0 {
			err = e.page(ctx, run, bad, w, page)
		}
		if err != nil {
			return err
		}
		return bad.err()
	}
	if err := w.resume(run.Cursor()); err != nil {
		return err
	}
	for {
		page, err := e.Rows.WalkOutlines(ctx, w.at, expirePage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		w.last(len(page), expirePage)
		if err := e.page(ctx, run, bad, w, page); err != nil {
			return err
		}
	}
	if err := e.runs(ctx, run, w); err != nil {
		return err
	}
	if err := run.Step(ctx, Step{Total: w.rows}); err != nil {
		return err
	}
	return bad.err()
}

// page goes through outlines and, in small groups, the rows that may have
// something to expire.
func (e expiring) page(ctx context.Context, run *Run, bad *faults, w *walk, page []relation.Outline) error {
	var group []uint64
	looked := int64(0)
	for i, o := range page {
		looked++
		if err := bad.note(ctx, o.AccountID, o.Err); err != nil {
			return err
		}
		if e.concerns(o) {
			group = append(group, o.AccountID)
		}
		if len(group) < expireLists && i < len(page)-1 {
			continue
		}
		done, err := e.group(ctx, run, bad, group)
		if err != nil {
			return err
		}
		if err := run.Step(ctx, w.pass(o.AccountID, looked, done)); err != nil {
			return err
		}
		group, looked = group[:0], 0
	}
	return nil
}

// concerns reports that a row has a section from which something may expire.
func (e expiring) concerns(o relation.Outline) bool {
	return o.Err == nil && (o.Has(list.Muting) || e.Requests > 0 && (o.Has(list.Requests) || o.Has(list.Requested)))
}

// group expires what there is to expire in a few rows.
func (e expiring) group(ctx context.Context, run *Run, bad *faults, ids []uint64) (done int64, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	rows, err := e.Rows.Fresh(ctx, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		got, err := e.Relations.Expire(ctx, rows[id], apprelation.Expiry{Requests: e.Requests, Dry: run.DryRun})
		if got != (apprelation.Expired{}) {
			done++
			run.Log.Debug("expired", "account", id, "mutes", got.Mutes, "requests", got.Requests)
		}
		if err := bad.note(ctx, id, err); err != nil {
			return done, err
		}
	}
	return done, nil
}

// runs deletes old runs of all jobs.
func (e expiring) runs(ctx context.Context, run *Run, w *walk) error {
	before := e.Now().Add(-e.Keep).UnixMilli()
	var names []string
	for _, name := range slices.Sorted(slices.Values(e.Jobs)) {
		names = append(names, name, job.OfOne(name))
	}
	for _, name := range names {
		if run.DryRun {
			n, err := e.Runs.Old(ctx, name, before)
			if err != nil {
				return err
			}
			if err := run.Step(ctx, w.pass(w.at, n, n)); err != nil {
				return err
			}
			continue
		}
		for {
			n, err := e.Runs.Expire(ctx, name, before, expireRuns)
			if err != nil {
				return err
			}
			if err := run.Step(ctx, w.pass(w.at, n, n)); err != nil {
				return err
			}
			if n < expireRuns {
				break
			}
		}
	}
	return nil
}
