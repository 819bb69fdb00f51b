package cron_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/relation"
	"kith/cron"
	"kith/repo"
	"kith/repo/dbtest"
	"kith/repo/feed"
	"kith/repo/list"
	"kith/repo/marker"
	"kith/repo/seen"
	"kith/repo/task"
	"kith/repo/timeline"
)

func (w *world) expire(requests time.Duration) cron.Job {
	return cron.Expire(cron.ExpireConfig{Rows: w.rows, Relations: w.Service, Requests: requests, Gone: gone, Keys: feed.NewKeys(w.pool), Tasks: task.New(w.pool),
		Timelines: timeline.NewStore(w.pool, w.clock, slog.New(slog.DiscardHandler)), Markers: marker.New(w.pool), Seen: seen.New(w.pool), Now: w.clock})
}

func (w *world) clock() time.Time { return w.now }

// gone is how long homes are kept.
const gone = 24 * time.Hour

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

// keys makes Idempotency-Keys of accounts, so many seconds old by the clock of the database.
func (w *world) keys(age int, ids ...uint64) {
	w.t.Helper()
	for i, id := range ids {
		w.pool.MustExec(`INSERT INTO idempotency (bucket, account_id, hash, post_id, made_at) VALUES (?,?,UNHEX(MD5(?)),1,UNIX_TIMESTAMP()-?)`, repo.Bucket(id), id, i*10_000+age, age)
	}
}

func (w *world) count(table string) (n int) {
	w.t.Helper()
	if err := w.pool.Get(&n, `SELECT COUNT(*) FROM `+table); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestExpire_Keys(t *testing.T) {
	w := newWorld(t)
	p := w.people(3)
	old := slices.Repeat(p[:1], 400) // more than one statement deletes
	w.keys(3700, append(old, p[1])...)
	w.keys(3500, p...)
	if run := w.run(w.expire(0), cron.Options{DryRun: true}); run.Done != 401 || w.count("idempotency") != 404 {
		t.Errorf("a dry run: %+v, and %d are left; want 401 found and none deleted", run, w.count("idempotency"))
	}
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 401 || w.count("idempotency") != 3 {
		t.Errorf("%+v, and %d are left; want the 401 old ones deleted", run, w.count("idempotency"))
	}
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 0 || w.count("idempotency") != 3 {
		t.Errorf("again: %+v, and %d are left; want no more deleted", run, w.count("idempotency"))
	}
}

// home writes the warm timeline and the read positions of accounts, now.
func (w *world) home(ids ...uint64) {
	w.t.Helper()
	homes := timeline.NewStore(w.pool, w.clock, slog.New(slog.DiscardHandler))
	for _, id := range ids {
		if saved, err := homes.Save(w.t.Context(), id, timeline.Line{BuiltAt: w.now}); !saved || err != nil {
			w.t.Fatal(saved, err)
		}
		if _, err := marker.New(w.pool).Swap(w.t.Context(), id, []marker.Marker{{Timeline: marker.Home, LastRead: 7, UpdatedAt: uint32(w.now.Unix())}, {Timeline: marker.Notifications, LastRead: 8}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// homes are the accounts that have a warm timeline. The same have read positions.
func (w *world) homes() (ids []uint64) {
	w.t.Helper()
	var positions []uint64
	if err := errors.Join(w.pool.Select(&ids, `SELECT account_id FROM timeline ORDER BY account_id`),
		w.pool.Select(&positions, `SELECT DISTINCT account_id FROM marker WHERE timeline = 1 ORDER BY account_id`)); err != nil {
		w.t.Fatal(err)
	}
	if !slices.Equal(ids, positions) {
		w.t.Errorf("homes of %v, read positions of %v", ids, positions)
	}
	return ids
}

// A home goes when its account was not seen for long; of one that was never seen, when it was
// written long ago.
func TestExpire_Homes(t *testing.T) {
	w := newWorld(t)
	p := w.people(5)
	never, away, back, young, fresh := p[0], p[1], p[2], p[3], p[4]
	marks := seen.New(w.pool)
	see := func(ids ...uint64) {
		for _, id := range ids {
			if err := marks.Put(t.Context(), []seen.Mark{{AccountID: id, At: uint32(w.now.Unix())}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	see(away, back)
	w.home(never, away, back)
	w.now = w.now.Add(gone)
	w.home(young)
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 0 || len(w.homes()) != 4 {
		t.Errorf("after %v: %+v; want nothing gone yet", gone, run)
	}
	see(back)
	w.now = w.now.Add(time.Second)
	w.home(fresh)
	if run := w.run(w.expire(0), cron.Options{DryRun: true}); run.Done != 4 || len(w.homes()) != 5 {
		t.Errorf("a dry run: %+v, left %v; want two of each found", run, w.homes())
	}
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 4 || !slices.Equal(w.homes(), []uint64{back, young, fresh}) {
		t.Errorf("%+v, left %v; want those of %d and %d gone", run, w.homes(), never, away)
	}
	kept := cron.ExpireConfig{Rows: w.rows, Relations: w.Service, Keys: feed.NewKeys(w.pool), Tasks: task.New(w.pool), Now: w.clock}
	w.now = w.now.Add(100 * gone)
	if run := w.run(cron.Expire(kept), cron.Options{}); run.Done != 0 || len(w.homes()) != 3 {
		t.Errorf("without a limit: %+v, left %v; want all kept", run, w.homes())
	}
}

// A run that stops between the kinds of rows, or in the middle of one, goes on there.
func TestExpire_Kinds(t *testing.T) {
	w := newWorld(t)
	p := w.people(6)
	for i, id := range p[:5] {
		w.do(w.Mute(t.Context(), id, p[i+1], true, time.Minute))
	}
	w.keys(3700, p...)
	w.home(p...)
	w.task(p[0], 1, 31*24*time.Hour)
	w.task(p[1], 1, 31*24*time.Hour)
	w.now = w.now.Add(2 * gone)
	var cursors []string
	var done int64
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		run, err := w.worker.Run(ctx, w.expire(0), cron.Options{Show: func(s cron.Step) {
			cursors = append(cursors, s.Cursor)
			cancel()
		}})
		done += run.Done
		if cancel(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if cursors[len(cursors)-1] == "" {
			break
		}
	}
	if done != 5+6+2+6+6 || w.count("task") != 0 || w.count("idempotency") != 0 || len(w.homes()) != 0 {
		t.Errorf("%d dropped, %d keys and homes %v left, by the steps %q; want 25 and nothing left", done, w.count("idempotency"), w.homes(), cursors)
	}
	for _, kind := range []string{"relations ", "keys ", "tasks ", "timelines ", "markers "} {
		if !slices.ContainsFunc(cursors, func(c string) bool { return strings.HasPrefix(c, kind) }) {
			t.Errorf("no step stopped in the %s: %q", kind, cursors)
		}
	}
}

// task inserts a task of an account that was made some time ago and is claimed, as one that
// fails is again and again.
func (w *world) task(account uint64, kind int, ago time.Duration) {
	w.t.Helper()
	_, err := w.pool.ExecContext(w.t.Context(), `INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES (?,?,?,?,1,UNIX_TIMESTAMP()-?,UNIX_TIMESTAMP()+60,'')`,
		repo.Bucket(account), account, kind, account, int64(ago.Seconds()))
	if err != nil {
		w.t.Fatal(err)
	}
}

// Tasks that nobody could carry out for 30 days are dropped, of whatever kind and account, with
// a warning each.
func TestExpire_Tasks(t *testing.T) {
	w := newWorld(t)
	const day = 24 * time.Hour
	p := w.people(3)
	for i := range 250 {
		w.task(p[0]+uint64(i)*repo.Buckets, 99, 31*day) // of one bucket
	}
	w.task(p[1], int(task.Settle), 31*day)
	w.task(p[1], int(task.Favourite), 29*day)
	w.task(p[2], int(task.Push), 0)
	if run := w.run(w.expire(0), cron.Options{DryRun: true}); run.Done != 101 || w.count("task") != 253 {
		t.Errorf("a dry run found %d and left %d tasks, want 100 of the full bucket and one", run.Done, w.count("task"))
	}
	if run := w.run(w.expire(0), cron.Options{}); run.Done != 251 || w.count("task") != 2 {
		t.Errorf("%d tasks are dropped and %d left, want 251 and 2", run.Done, w.count("task"))
	}
}
