package cron_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/relation"
	"kith/cron"
	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/list"
)

func (w *world) expire(requests time.Duration) cron.Job {
	return cron.Expire(w.rows, w.Service, requests)
}

func (w *world) people(n int) []uint64 {
	w.t.Helper()
	ids := dbtest.IDs(w.t, n)
	if _, err := w.accounts.Ensure(w.t.Context(), ids, 1); err != nil {
		w.t.Fatal(err)
	}
	return ids
}

func (w *world) do(_ relation.Relationship, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mutes(id uint64) int {
	w.t.Helper()
	r, err := w.rows.Row(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := r.View()
	if err != nil {
		w.t.Fatal(err)
	}
	return v.Len(list.Muting)
}

func TestExpire(t *testing.T) {
	w := newWorld(t)
	p := w.people(60)
	for i, id := range p[:50] {
		w.do(w.Mute(t.Context(), id, p[i+1], true, time.Minute*time.Duration(1+i%2)))
	}
	if _, err := w.accounts.SetLocked(t.Context(), p[50], true); err != nil {
		t.Fatal(err)
	}
	w.do(w.Follow(t.Context(), p[51], p[50], relation.FollowOptions{}))
	w.now = w.now.Add(time.Minute)
	if run := w.run(w.expire(0), cron.Options{DryRun: true}); run.Done != 25 || run.Rows != 52 {
		t.Errorf("a dry run: %+v, want 25 of 52 rows", run)
	}
	if run := w.run(w.expire(0), cron.Options{Account: p[0]}); run.Done != 1 || w.mutes(p[0]) != 0 || w.mutes(p[2]) != 1 {
		t.Errorf("one account: %+v, want only its mute gone", run)
	}
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 24 {
		t.Errorf("all: %+v, want the other 24", run)
	}
	for i, id := range p[:50] {
		if got := w.mutes(id); got != i%2 {
			t.Errorf("account %d has %d mutes, want %d", i, got, i%2)
		}
	}
	if n, err := w.RequestCount(t.Context(), p[50]); n != 1 || err != nil {
		t.Errorf("%d requests, %v, want 1: they do not expire", n, err)
	}
	w.now = w.now.Add(time.Hour)
	w.run(w.expire(time.Hour), cron.Options{})
	if n, err := w.RequestCount(t.Context(), p[50]); n != 0 || err != nil {
		t.Errorf("%d requests, %v, want none", n, err)
	}
}

// A few accounts, all in low buckets, are not taken for the first of many.
func TestExpire_Total(t *testing.T) {
	w := newWorld(t)
	for _, id := range w.people(30) {
		w.do(w.Mute(t.Context(), id, id^1, true, time.Minute))
	}
	w.run(w.expire(0), cron.Options{Show: func(s cron.Step) {
		if s.Total != 30 {
			t.Errorf("got %+v, want a total of 30 at every step", s)
		}
	}})
}

// Stopped anywhere it goes on, and each row is seen; a bad one fails alone.
func TestExpire_Resumes(t *testing.T) {
	w := newWorld(t)
	p := w.people(70)
	for i, id := range p[:69] {
		w.do(w.Mute(t.Context(), id, p[i+1], true, time.Minute))
	}
	w.now = w.now.Add(time.Hour)
	w.pool.MustExec(`UPDATE relation SET list = '' WHERE bucket = ? AND account_id = ?`, repo.Bucket(p[40]), p[40])
	var total int64
	var results []string
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		run, err := w.worker.Run(ctx, w.expire(0), cron.Options{Show: func(s cron.Step) {
			if s.Rows > 0 {
				cancel()
			}
		}})
		total += run.Done
		results = append(results, string(run.Result))
		if cancel(); !errors.Is(err, context.Canceled) {
			break
		}
	}
	if total != 68 || !slices.Contains(results, "stopped") {
		t.Errorf("%d expired in %v, want 68 in several runs", total, results)
	}
	run, err := w.worker.Run(t.Context(), w.expire(0), cron.Options{})
	if !errors.Is(err, list.ErrFormat) || !strings.Contains(run.Failure, "expire failed for 1 account") {
		t.Errorf("run %+v, %v, want the bad row named", run, err)
	}
}
