package cron_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"kith/app/affinity"
	"kith/app/suggest"
	"kith/cron"
	"kith/repo"
	rows "kith/repo/affinity"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/interaction"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/seen"
	suggestions "kith/repo/suggest"
)

// foldWorld is a database with a log and marks, and the jobs that work on them.
type foldWorld struct {
	t       *testing.T
	worker  worker
	log     *interaction.Store
	rows    *rows.Store
	seen    *seen.Store
	made    *suggestions.Store
	fold    cron.Job
	suggest cron.Job
	steps   []cron.Step // of the last run
	stopAt  int         // the step after which the job is stopped, 0 never
}

func newFoldWorld(t *testing.T) *foldWorld {
	t.Helper()
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	c, quiet := cache.NewNone(), slog.New(slog.DiscardHandler)
	w := &foldWorld{t: t, log: interaction.New(pool), rows: rows.New(pool, c, quiet), seen: seen.New(pool), made: suggestions.New(pool, c, time.Now, quiet)}
	now := func() time.Time { return time.Unix(1_700_000_000, 0) }
	w.fold = cron.Affinity(affinity.NewFolder(affinity.Config{Weights: map[string]float64{"visit": 1}, HalfLife: time.Hour, Kept: 10}, w.log, w.rows, now, quiet))
	w.suggest = cron.Suggest(suggest.New(suggest.Config{Rows: w.made, Relations: relation.New(pool, c, 0, time.Now), Affinities: w.rows,
		Seen: w.seen, Now: now, HalfLife: time.Hour, SeenWithin: time.Hour, Refresh: time.Hour}))
	w.worker = newWorker(t, "a:1", func(c *cron.RunnerConfig) {
		c.Leases, c.Runs = lease.New(lease.Config{DB: pool, Process: "a:1"}), job.New(pool)
	})
	w.worker.pool = pool
	return w
}

// run runs a job, from where an earlier run was stopped.
func (w *foldWorld) run(j cron.Job, o cron.Options) error {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	w.steps = nil
	var before cron.Step
	o.Show = func(s cron.Step) {
		sum := s
		s.Rows, s.Done, before = s.Rows-before.Rows, s.Done-before.Done, sum
		if w.steps = append(w.steps, s); len(w.steps) == w.stopAt {
			stop()
		}
	}
	_, err := w.worker.Run(ctx, j, o)
	return err
}

// begin has the next run of a job begin at a cursor.
func (w *foldWorld) begin(j cron.Job, cursor string) {
	w.t.Helper()
	w.worker.pool.MustExec(`INSERT INTO job_cursor (bucket, name, resume_at, lease_ver, saved_ms) VALUES (?, ?, ?, 0, 0)
		ON DUPLICATE KEY UPDATE resume_at = VALUES(resume_at)`, repo.NameBucket(j.Name), j.Name, cursor)
}

// visits logs a visit of each actor at account 1.
func (w *foldWorld) visits(actors ...uint64) {
	w.t.Helper()
	var events []interaction.Event
	for _, a := range actors {
		events = append(events, interaction.Event{Actor: a, Target: 1, Kind: "visit", At: 1_600_000_000})
	}
	id := uint64(0)
	if err := w.log.Append(w.t.Context(), interaction.Batches(events, func() uint64 { id++; return id })); err != nil {
		w.t.Fatal(err)
	}
}

func (w *foldWorld) folded(ids ...uint64) (n int) {
	w.t.Helper()
	have, err := w.rows.Fresh(w.t.Context(), ids)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range have {
		for _, e := range r.Entries {
			if e.Score > 1 { // a visit weighs 1
				w.t.Errorf("%d was folded %.1f times", r.ID, e.Score)
			}
			n++
		}
	}
	return n
}

func TestAffinity(t *testing.T) {
	w := newFoldWorld(t)
	w.visits(2, 3, 1023, 1026)
	if err := w.run(w.fold, cron.Options{DryRun: true}); err != nil || w.folded(2, 3, 1023, 1026) != 0 {
		t.Fatalf("dry run: %v", err)
	}
	w.stopAt = 2
	if err := w.run(w.fold, cron.Options{}); !errors.Is(err, context.Canceled) || w.folded(2, 3, 1023, 1026) != 3 { // 2 and 1026 share a bucket
		t.Fatalf("stopped: %v, %+v", err, w.steps)
	}
	w.stopAt = 0
	if err := w.run(w.fold, cron.Options{}); err != nil || w.folded(2, 3, 1023, 1026) != 4 {
		t.Fatalf("resumed: %v, %+v", err, w.steps)
	}
	if last := w.steps[len(w.steps)-1]; last.Cursor != "" {
		t.Errorf("the cursor is %q at the end", last.Cursor)
	}
	w.begin(w.fold, "junk")
	if err := w.run(w.fold, cron.Options{}); err != nil || len(w.steps) != 1 {
		t.Errorf("nothing to do: %v, %+v", err, w.steps)
	}
}

// sum is what steps did in all.
func sum(steps []cron.Step) (all cron.Step) {
	for _, s := range steps {
		all.Rows += s.Rows
		all.Done += s.Done
	}
	return all
}

// A dry run counts what the run does.
func TestAffinity_DryRun(t *testing.T) {
	w := newFoldWorld(t)
	w.visits(2, 2, 2, 3, 1023, 1026)
	if err := w.run(w.fold, cron.Options{DryRun: true}); err != nil {
		t.Fatal(err)
	}
	dry := sum(w.steps)
	if err := w.run(w.fold, cron.Options{}); err != nil {
		t.Fatal(err)
	}
	if did := sum(w.steps); dry != did || dry != (cron.Step{Rows: 6, Done: 4}) {
		t.Errorf("dry %+v, then %+v, want 6 events in 4 rows", dry, did)
	}
}

// A run that begins in the middle comes round.
func TestAffinity_FromCursor(t *testing.T) {
	w := newFoldWorld(t)
	w.visits(2, 500, 1023)
	w.begin(w.fold, "500")
	if err := w.run(w.fold, cron.Options{}); err != nil || w.folded(2, 500, 1023) != 3 {
		t.Fatalf("got %v, %+v", err, w.steps)
	}
	if w.steps[0].Cursor != "500" || w.steps[0].Total != 3 {
		t.Errorf("began with %+v", w.steps[0])
	}
}

func TestAffinity_OneAccount(t *testing.T) {
	w := newFoldWorld(t)
	w.visits(2, 500)
	if err := w.run(w.fold, cron.Options{Account: 500}); err != nil || w.folded(2, 500) != 1 {
		t.Fatalf("got %v, %+v", err, w.steps)
	}
}

func TestSuggest(t *testing.T) {
	w := newFoldWorld(t)
	var marks []seen.Mark
	for id := range uint64(1000) {
		marks = append(marks, seen.Mark{AccountID: id + 1, At: 1_600_000_000})
	}
	for _, id := range []uint64{3, 7, 900} {
		marks[id-1].At = 1_700_000_000
	}
	for len(marks) > 0 {
		n := min(len(marks), seen.MaxRows)
		if err := w.seen.Put(t.Context(), marks[:n]); err != nil {
			t.Fatal(err)
		}
		marks = marks[n:]
	}
	made := func() int {
		at, err := w.made.MadeAt(t.Context(), []uint64{3, 7, 900, 4})
		if err != nil {
			t.Fatal(err)
		}
		return len(at)
	}
	if err := w.run(w.suggest, cron.Options{DryRun: true}); err != nil || made() != 0 {
		t.Fatalf("dry run: %v", err)
	}
	if err := w.run(w.suggest, cron.Options{Account: 7}); err != nil || made() != 1 {
		t.Fatalf("one account: %v", err)
	}
	w.stopAt = 1
	if err := w.run(w.suggest, cron.Options{}); !errors.Is(err, context.Canceled) || made() != 2 || w.steps[0].Cursor != "3" {
		t.Fatalf("stopped: %v, %+v", err, w.steps)
	}
	w.stopAt = 0
	if err := w.run(w.suggest, cron.Options{}); err != nil || made() != 3 {
		t.Fatalf("resumed: %v, %+v", err, w.steps)
	}
	rows := int64(0)
	for _, s := range w.steps {
		rows += s.Rows
	}
	if rows != 997 || w.steps[len(w.steps)-1].Cursor != "" {
		t.Errorf("looked at %d accounts, want 997; %+v", rows, w.steps)
	}
}

// An account whose row cannot be read fails alone: the others get theirs, and the run has
// failed.
func TestSuggest_BadRow(t *testing.T) {
	w := newFoldWorld(t)
	if err := w.seen.Put(t.Context(), []seen.Mark{{AccountID: 3, At: 1_700_000_000}, {AccountID: 7, At: 1_700_000_000}}); err != nil {
		t.Fatal(err)
	}
	w.worker.pool.MustExec(`INSERT INTO relation (bucket, account_id, ver, list, friends, followers, following, kept_followers, kept_following, blocks, archived, updated_at)
		VALUES (3, 3, 1, 'bad', 0, 0, 0, 0, 0, 0, '', 1)`)
	err := w.run(w.suggest, cron.Options{})
	if !errors.Is(err, list.ErrFormat) || !strings.Contains(err.Error(), "suggest failed for 1 account") {
		t.Errorf("got %v, want the bad row", err)
	}
	if did := sum(w.steps); did.Rows != 2 || did.Done != 1 {
		t.Errorf("got %+v, want two accounts, one of them done", w.steps)
	}
	if made, err := w.made.MadeAt(t.Context(), []uint64{7}); err != nil || len(made) != 1 {
		t.Errorf("got %v, %v, want suggestions for 7", made, err)
	}
}
