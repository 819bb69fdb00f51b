package cron

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	apprelation "kith/app/relation"
	"kith/repo"
	"kith/repo/feed"
	"kith/repo/list"
	"kith/repo/marker"
	"kith/repo/relation"
	"kith/repo/seen"
	"kith/repo/task"
	"kith/repo/timeline"
)

const (
	expirePage  = 500 // outlines, or rows of other tables, read at once
	expireLists = 20  // whole rows read at once
	expireTasks = 100 // dropped at once
)

// ExpireConfig is what the job expire works with.
type ExpireConfig struct {
	Rows      *relation.Store
	Relations *apprelation.Service
	Keys      *feed.Keys
	Tasks     *task.Store
	Timelines *timeline.Store
	Markers   *marker.Store
	Seen      *seen.Store
	Now       func() time.Time
	// Requests is how long a request to follow may wait for an answer; 0: for ever.
	Requests time.Duration
	// Gone is how long after an account was last seen its home and its read positions are no
	// longer kept; 0: they always are.
	Gone time.Duration
}

// Expire makes the job that drops what has had its time, one thing after the other:
//
//	relations  mutes past their end, and requests that were not answered
//	keys       Idempotency-Keys after their hour
//	tasks      what nobody could carry out for 30 days (task.Life), each with a warning: while
//	           it was there an audit passed over what it should have settled
//	timelines  warm home timelines of accounts that were not seen for long. One that was
//	           never seen counts from when its row was written
//	markers    read positions of such accounts
//
// The cursor says which of them, and how far. A run for one account is for its relations.
//
// It walks all relation rows: an index of the ends of mutes would cost every write. It
// reads the lengths of the sections first, and only few lists. For a graph of 81,306
// accounts and 1.4 million edges, all in memory, on 2 cores with MariaDB 10.11, kith cron run
// expire --cron-rate 0 took
//
//	without any mute                       0.15 s   540,000 rows a second
//	every tenth account mutes somebody     0.23 s   350,000 rows a second
//	and 813 of these mutes have ended      0.66 s   half a millisecond each
//
// At the default pace of 5,000 rows a second 10 million accounts take 33 minutes, once a
// day, and the job waits for nearly all of that.
func Expire(c ExpireConfig) Job {
	return Job{Name: "expire", About: "drops mutes, requests, Idempotency-Keys and tasks whose time has passed, and homes of those long gone",
		Work: func(ctx context.Context, run *Run) error { return (&expiring{ExpireConfig: c, run: run}).work(ctx) }}
}

// expiring is one run.
type expiring struct {
	ExpireConfig
	run   *Run
	phase string
	rows  int64 // looked at so far
}

func (e *expiring) work(ctx context.Context) error {
	if e.run.Account != 0 {
		found, err := e.Rows.Outlines(ctx, []uint64{e.run.Account})
		if err != nil {
			return err
		}
		return e.page(ctx, slices.Collect(maps.Values(found)), 1)
	}
	names := []string{"relations", "keys", "tasks", "timelines", "markers"}
	phases := map[string]func(ctx context.Context, after uint64) error{"relations": e.relations, "keys": e.keys, "tasks": e.tasks, "timelines": e.timelines, "markers": e.markers}
	name, at, _ := strings.Cut(e.run.Cursor(), " ")
	after, _ := strconv.ParseUint(at, 10, 64) // what cannot be read counts as no cursor
	for _, e.phase = range names[max(0, slices.Index(names, name)):] {
		if err := phases[e.phase](ctx, after); err != nil {
			return err
		}
		after = 0
	}
	return e.run.Step(ctx, Step{Total: e.rows})
}

// step counts rows of the phase up to a place.
func (e *expiring) step(ctx context.Context, rows, done, total int64, at uint64) error {
	e.rows += rows
	return e.run.Step(ctx, Step{Rows: rows, Done: done, Total: max(total, e.rows), Cursor: e.phase + " " + strconv.FormatUint(at, 10)})
}

func (e *expiring) relations(ctx context.Context, after uint64) error {
	total, err := e.Rows.About(ctx)
	if err != nil {
		return err
	}
	for rows := int64(0); ; {
		page, err := e.Rows.WalkOutlines(ctx, after, expirePage)
		if err != nil || len(page) == 0 {
			return err
		}
		if rows += int64(len(page)); len(page) < expirePage {
			total = rows
		}
		if err := e.page(ctx, page, total); err != nil {
			return err
		}
		after = page[len(page)-1].AccountID
	}
}

// page goes through outlines and, in small groups, the rows that may have
// something to expire.
func (e *expiring) page(ctx context.Context, page []relation.Outline, total int64) error {
	var group []uint64
	looked := int64(0)
	for i, o := range page {
		looked++
		if err := e.run.Skip(ctx, o.AccountID, o.Err); err != nil {
			return err
		}
		if o.Err == nil && (o.Has(list.Muting) || e.Requests > 0 && (o.Has(list.Requests) || o.Has(list.Requested))) {
			group = append(group, o.AccountID)
		}
		if len(group) < expireLists && i < len(page)-1 {
			continue
		}
		done, err := e.group(ctx, group)
		if err == nil {
			err = e.step(ctx, looked, done, total, o.AccountID)
		}
		if err != nil {
			return err
		}
		group, looked = group[:0], 0
	}
	return nil
}

// group expires what there is to expire in a few rows.
func (e *expiring) group(ctx context.Context, ids []uint64) (done int64, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	rows, err := e.Rows.Fresh(ctx, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		got, err := e.Relations.Expire(ctx, rows[id], apprelation.Expiry{Requests: e.Requests, Dry: e.run.DryRun})
		if got != (apprelation.Expired{}) {
			done++
			e.run.Log.Debug("expired", "account", id, "mutes", got.Mutes, "requests", got.Requests)
		}
		if err := e.run.Skip(ctx, id, err); err != nil {
			return done, err
		}
	}
	return done, nil
}

// keys goes from bucket to bucket.
func (e *expiring) keys(ctx context.Context, after uint64) error {
	for bucket := uint16(min(after, repo.Buckets)); bucket < repo.Buckets; {
		next, err := e.Keys.Next(ctx, bucket)
		if errors.Is(err, repo.ErrNotFound) {
			return nil
		}
		n := 0
		switch {
		case err != nil:
			return err
		case e.run.DryRun:
			n, err = e.Keys.Count(ctx, next)
		default:
			n, err = e.Keys.Expire(ctx, next)
		}
		if bucket = next; n == 0 || e.run.DryRun {
			bucket++
		}
		if err == nil {
			err = e.step(ctx, int64(n), int64(n), 0, uint64(bucket))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tasks goes from bucket to bucket.
func (e *expiring) tasks(ctx context.Context, after uint64) error {
	for bucket := uint16(min(after, repo.Buckets)); ; {
		old, next, err := e.Tasks.Expire(ctx, bucket, expireTasks, e.run.DryRun)
		if errors.Is(err, repo.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, t := range old {
			e.run.Log.Warn("nobody could carry out a task", "kind", t.Kind, "account", t.Account, "post", t.Post)
		}
		bucket = next
		if err := e.step(ctx, int64(len(old)), int64(len(old)), 0, uint64(bucket)); err != nil {
			return err
		}
	}
}

// aged are rows of accounts that are dropped when these are long gone.
type aged interface {
	Walk(ctx context.Context, after uint64, limit int) ([]repo.Aged, error)
	Expire(ctx context.Context, accounts []uint64, before uint32) (int64, error)
}

func (e *expiring) timelines(ctx context.Context, after uint64) error {
	return e.accounts(ctx, after, e.Timelines)
}

func (e *expiring) markers(ctx context.Context, after uint64) error {
	return e.accounts(ctx, after, e.Markers)
}

// accounts expires rows of accounts that were neither written nor seen for long. It goes from
// account to account.
func (e *expiring) accounts(ctx context.Context, after uint64, rows aged) error {
	if e.Gone == 0 {
		return nil
	}
	before := uint32(max(0, e.Now().Add(-e.Gone).Unix()))
	for {
		page, err := rows.Walk(ctx, after, expirePage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].AccountID
		var old []uint64
		for _, o := range page {
			if o.UpdatedAt < before {
				old = append(old, o.AccountID)
			}
		}
		marks, err := e.Seen.Of(ctx, old)
		old = slices.DeleteFunc(old, func(id uint64) bool { return marks[id] >= before })
		if err == nil && !e.run.DryRun {
			_, err = rows.Expire(ctx, old, before)
		}
		if err == nil {
			err = e.step(ctx, int64(len(page)), int64(len(old)), 0, after)
		}
		if err != nil {
			return err
		}
	}
}
