package cron

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	apprelation "kith/app/relation"
	"kith/repo/list"
	"kith/repo/relation"
)

const (
	expirePage  = 500 // outlines read at once
	expireLists = 20  // whole rows read at once
)

// Expire makes the job that drops mutes past their end, and requests that were not
// answered within requests (0: they never expire). It walks all rows: an index of the
// ends of mutes would cost every write. It reads the lengths of the sections first, and
// only few lists. For a graph of 81,306 accounts and 1.4 million edges, all in memory, on
// 2 cores with MariaDB 10.11, kith cron run expire --cron-rate 0 took
//
//	without any mute                       0.15 s   540,000 rows a second
//	every tenth account mutes somebody     0.23 s   350,000 rows a second
//	and 813 of these mutes have ended      0.66 s   half a millisecond each
//
// At the default pace of 5,000 rows a second 10 million accounts take 33 minutes, once a
// day, and the job waits for nearly all of that.
func Expire(rows *relation.Store, relations *apprelation.Service, requests time.Duration) Job {
	e := expiring{rows: rows, relations: relations, requests: requests}
	return Job{Name: "expire", About: "ends mutes and requests whose time has passed", Work: e.work}
}

type expiring struct {
	rows      *relation.Store
	relations *apprelation.Service
	requests  time.Duration
}

func (e expiring) work(ctx context.Context, run *Run) error {
	if run.Account != 0 {
		found, err := e.rows.Outlines(ctx, []uint64{run.Account})
		if err != nil {
			return err
		}
		return e.page(ctx, run, slices.Collect(maps.Values(found)), 1)
	}
	after, _ := strconv.ParseUint(run.Cursor(), 10, 64) // one that cannot be read counts as none
	total, err := e.rows.About(ctx)
	if err != nil {
		return err
	}
	for rows := int64(0); ; {
		page, err := e.rows.WalkOutlines(ctx, after, expirePage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return run.Step(ctx, Step{Total: rows})
		}
		if rows += int64(len(page)); len(page) < expirePage {
			total = rows
		}
		if err := e.page(ctx, run, page, total); err != nil {
			return err
		}
		after = page[len(page)-1].AccountID
	}
}

// page goes through outlines and, in small groups, the rows that may have
// something to expire.
func (e expiring) page(ctx context.Context, run *Run, page []relation.Outline, total int64) error {
	var group []uint64
	looked := int64(0)
	for i, o := range page {
		looked++
		if err := run.Skip(ctx, o.AccountID, o.Err); err != nil {
			return err
		}
		if o.Err == nil && (o.Has(list.Muting) || e.requests > 0 && (o.Has(list.Requests) || o.Has(list.Requested))) {
			group = append(group, o.AccountID)
		}
		if len(group) < expireLists && i < len(page)-1 {
			continue
		}
		done, err := e.group(ctx, run, group)
		if err != nil {
			return err
		}
		if err := run.Step(ctx, Step{Rows: looked, Done: done, Total: total, Cursor: strconv.FormatUint(o.AccountID, 10)}); err != nil {
			return err
		}
		group, looked = group[:0], 0
	}
	return nil
}

// group expires what there is to expire in a few rows.
func (e expiring) group(ctx context.Context, run *Run, ids []uint64) (done int64, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	rows, err := e.rows.Fresh(ctx, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		got, err := e.relations.Expire(ctx, rows[id], apprelation.Expiry{Requests: e.requests, Dry: run.DryRun})
		if got != (apprelation.Expired{}) {
			done++
			run.Log.Debug("expired", "account", id, "mutes", got.Mutes, "requests", got.Requests)
		}
		if err := run.Skip(ctx, id, err); err != nil {
			return done, err
		}
	}
	return done, nil
}
