package cron_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/relation"
	"kith/cron"
	"kith/repo"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/list"
	rows "kith/repo/relation"
)

// world is a database of its own with a service over it.
type world struct {
	*relation.Service
	t        *testing.T
	pool     *sqlx.DB
	worker   worker
	rows     *rows.Store
	accounts *account.Store
	now      time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dsn := dbtest.FreshDSN(t)
	pool := pool(t, dsn)
	dbtest.Migrate(t, pool)
	w := &world{t: t, pool: pool, accounts: account.New(pool, cache.NewNone()), now: time.Unix(1_700_000_000, 0)}
	now := func() time.Time { return w.now }
	w.rows = rows.New(pool, cache.NewNone(), 0, now)
	edits := committer.New(w.rows, committer.Config{})
	t.Cleanup(func() { edits.Close(context.Background()) })
	w.Service = relation.New(relation.Config{Rows: w.rows, Committer: edits, Accounts: w.accounts, Now: now})
	w.worker = newWorker(t, "a:1", func(c *cron.RunnerConfig) {
		c.Leases, c.Runs = lease.New(lease.Config{DB: pool, Process: "a:1"}), job.New(pool)
	})
	return w
}

// followers gives an account so many followers, 1 the oldest.
func (w *world) followers(id uint64, n int) {
	w.t.Helper()
	r, err := w.rows.Row(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := rows.Open(r)
	if err != nil {
		w.t.Fatal(err)
	}
	for f := range uint64(n) {
		d.AddFollower(100_000+f, uint32(f+1))
	}
	next, err := w.rows.Pack(d)
	if err != nil {
		w.t.Fatal(err)
	}
	if won, err := w.rows.Swap(w.t.Context(), []rows.Row{next}); !won || err != nil {
		w.t.Fatal(won, err)
	}
}

// kept tells how many followers a row holds, and checks the count.
func (w *world) kept(id uint64, count int) int {
	w.t.Helper()
	r, err := w.rows.Row(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := r.View()
	if err != nil {
		w.t.Fatal(err)
	}
	if int(r.Followers) != count {
		w.t.Errorf("%d has %d followers, want %d", id, r.Followers, count)
	}
	return v.Len(list.Followers)
}

func (w *world) run(j cron.Job, o cron.Options) job.Run {
	w.t.Helper()
	run, err := w.worker.Run(w.t.Context(), j, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

func TestTrim(t *testing.T) {
	w := newWorld(t)
	const limit = 200
	for id, n := range map[uint64]int{1: 199, 2: 200, 3: 201, 4: 900, 5: 10, 6: 500} {
		w.followers(id, n)
	}
	trim := cron.Trim(w.rows, limit)
	if run := w.run(trim, cron.Options{DryRun: true}); run.Done != 3 || w.kept(4, 900) != 900 {
		t.Errorf("a dry run: %+v, want 3 to be done and none done", run)
	}
	if run := w.run(trim, cron.Options{Account: 6}); run.Done != 1 || w.kept(6, 500) != limit || w.kept(4, 900) != 900 {
		t.Errorf("one account: %+v, want only that trimmed", run)
	}
	if run := w.run(trim, cron.Options{Account: 77}); run.Done != 0 || run.Rows != 1 {
		t.Errorf("nobody: %+v", run)
	}
	if run := w.run(trim, cron.Options{}); run.Done != 2 {
		t.Errorf("all: %+v, want 2 done", run)
	}
	for id, want := range map[uint64][2]int{1: {199, 199}, 2: {200, 200}, 3: {200, 201}, 4: {200, 900}, 5: {10, 10}, 6: {200, 500}} {
		if got := w.kept(id, want[1]); got != want[0] {
			t.Errorf("%d keeps %d, want %d", id, got, want[0])
		}
	}
	if run := w.run(trim, cron.Options{}); run.Done != 0 {
		t.Errorf("again: %+v, want nothing done", run)
	}
}

// A row with bad bytes fails alone.
func TestTrim_BadRow(t *testing.T) {
	w := newWorld(t)
	for id := range uint64(3) {
		w.followers(id+1, 300)
	}
	w.spoil(2)
	run, err := w.worker.Run(t.Context(), cron.Trim(w.rows, 100), cron.Options{})
	if !errors.Is(err, list.ErrFormat) || run.Result != job.Failed || !strings.Contains(run.Failure, "account 2") || run.Done != 2 {
		t.Errorf("run %+v, %v, want it failed for account 2 only", run, err)
	}
	if w.kept(1, 300) != 100 || w.kept(3, 300) != 100 {
		t.Error("the others are not trimmed")
	}
	if cursor, err := w.worker.runs.Cursor(t.Context(), "trim"); cursor != "" || err != nil {
		t.Errorf("the cursor is %q, %v, want the beginning", cursor, err)
	}
}

func (w *world) spoil(id uint64) {
	w.t.Helper()
	w.pool.MustExec(`UPDATE relation SET list = CONCAT(UNHEX('09'), SUBSTRING(list, 2)) WHERE bucket = ? AND account_id = ?`, repo.Bucket(id), id)
}

// Rows that live writers change all the time are trimmed, and nothing is lost.
func TestTrim_Live(t *testing.T) {
	w := newWorld(t)
	people := dbtest.IDs(t, 300)
	star := people[0]
	if _, err := w.accounts.Ensure(t.Context(), people, 1); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	trimmed := make(chan struct{})
	for i := range 4 {
		writers.Go(func() {
			for k, p := range people[1:] {
				if k%4 == i {
					if _, err := w.Follow(context.Background(), p, star, relation.FollowOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	go func() { writers.Wait(); close(trimmed) }()
	trim := cron.Trim(w.rows, 20)
	for live := true; live; {
		select {
		case <-trimmed:
			live = false
		default:
		}
		w.run(trim, cron.Options{})
	}
	if got := w.kept(star, len(people)-1); got != 20 {
		t.Errorf("the row keeps %d, want 20", got)
	}
	seen, before := map[uint64]bool{}, list.Cursor{}
	for {
		page, err := w.Followers(t.Context(), 0, star, relation.Range{Before: before, Limit: 40})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.People {
			if seen[p.ID] {
				t.Fatalf("%d is paged out twice", p.ID)
			}
			seen[p.ID] = true
		}
		if !page.Full {
			break
		}
		before = page.Last
	}
	if len(seen) != len(people)-1 {
		t.Errorf("%d followers are paged out, want %d", len(seen), len(people)-1)
	}
}

// Stopped in the middle it goes on, in its own process or another.
func TestTrim_Resumes(t *testing.T) {
	w := newWorld(t)
	for id := range uint64(6) {
		w.followers(id+1, 300+64*int(id))
	}
	ctx, cancel := context.WithCancel(t.Context())
	trim := cron.Trim(w.rows, 100)
	var steps int
	run, err := w.worker.Run(ctx, trim, cron.Options{Show: func(cron.Step) {
		if steps++; steps == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || run.Done != 2 {
		t.Fatalf("run %+v, %v, want it stopped after 2", run, err)
	}
	if run := w.run(trim, cron.Options{}); run.Done != 4 || run.Rows != 4 {
		t.Errorf("the next: %+v, want the other 4", run)
	}
}
