package cron_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	robfig "github.com/robfig/cron/v3"

	"kith/cron"
	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/waittest"
)

// term is that of the leases of tests: long enough for a busy machine.
const term = 1500 * time.Millisecond

const patience = 30 * time.Second

// worker is a process that runs jobs.
type worker struct {
	*cron.Runner
	pool *sqlx.DB
	runs *job.Store
}

func pool(t *testing.T, dsn string) *sqlx.DB {
	t.Helper()
	return dbtest.Open(t, db.Config{DSN: dsn})
}

// newWorker makes one with a pool of its own: without the pool it is dead.
func newWorker(t *testing.T, name string, change ...func(*cron.RunnerConfig)) worker {
	t.Helper()
	p := pool(t, dbtest.DSN(t))
	cfg := cron.RunnerConfig{Leases: lease.New(lease.Config{DB: p, Process: name, Term: term}), Runs: job.New(p)}
	for _, c := range change {
		c(&cfg)
	}
	return worker{Runner: cron.NewRunner(cfg), pool: p, runs: cfg.Runs}
}

func jobName(t *testing.T) string { return fmt.Sprintf("job%d", dbtest.IDs(t, 1)[0]) }

func (w worker) last(t *testing.T, name string) []job.Run {
	t.Helper()
	runs, err := w.runs.Last(t.Context(), name, 10)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// count is a job that works through rows from its cursor to a hundred.
func count(name string, row func(ctx context.Context, n int) error) cron.Job {
	return cron.Job{Name: name, Work: func(ctx context.Context, run *cron.Run) error {
		n, _ := strconv.Atoi(run.Cursor())
		for n < 100 {
			n++
			if err := row(ctx, n); err != nil {
				return err
			}
			if err := run.Step(ctx, cron.Step{Rows: 1, Done: 1, Total: 100, Cursor: strconv.Itoa(n)}); err != nil {
				return err
			}
		}
		return run.Step(ctx, cron.Step{})
	}}
}

func TestRunner_Run(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) { c.Metrics = cron.NewMetrics(reg) })
	name, seen := jobName(t), 0
	var shown cron.Step
	run, err := w.Run(t.Context(), count(name, func(context.Context, int) error { seen++; return nil }),
		cron.Options{Show: func(s cron.Step) { shown = s }})
	if err != nil || seen != 100 || run.Rows != 100 || run.Done != 100 || run.Result != job.OK || run.Tick != 0 {
		t.Errorf("run %+v, %d rows seen, %v", run, seen, err)
	}
	if shown.Rows != 100 || shown.Done != 100 {
		t.Errorf("shown %+v, want the sums", shown)
	}
	if runs := w.last(t, name); len(runs) != 1 || runs[0] != run || lease.Who(runs[0].Holder) != "a:1" || run.Ended < run.Started {
		t.Errorf("noted %+v, want %+v", runs, run)
	}
	if cursor, err := w.runs.Cursor(t.Context(), name); cursor != "" || err != nil {
		t.Errorf("after all is done the cursor is %q, %v", cursor, err)
	}
	want := fmt.Sprintf("# HELP kith_job_rows_total Rows that jobs looked at in this process.\n# TYPE kith_job_rows_total counter\nkith_job_rows_total{job=%q} 100\n", name)
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "kith_job_rows_total"); err != nil {
		t.Error(err)
	}
	for _, metric := range []string{"kith_job_runs_total", "kith_job_seconds", "kith_job_last_success_timestamp_seconds"} {
		if n, err := testutil.GatherAndCount(reg, metric); n != 1 || err != nil {
			t.Errorf("%d of %s, %v, want 1", n, metric, err)
		}
	}
	if _, err := newWorker(t, "b:2").Run(t.Context(), count(name, func(context.Context, int) error { return nil }), cron.Options{}); err != nil {
		t.Errorf("the lease was not given back: %v", err)
	}
}

func TestRunner_Failed(t *testing.T) {
	w, name := newWorker(t, "a:1"), jobName(t)
	broken := errors.New("this\nis broken")
	run, err := w.Run(t.Context(), count(name, func(_ context.Context, n int) error {
		if n == 50 {
			return broken
		}
		return nil
	}), cron.Options{})
	if !errors.Is(err, broken) || run.Result != job.Failed || run.Failure != "this is broken" || run.Rows != 49 {
		t.Errorf("got %+v, %v", run, err)
	}
	var begun []int
	if _, err := w.Run(t.Context(), count(name, func(_ context.Context, n int) error { begun = append(begun, n); return nil }), cron.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(begun) != 51 || begun[0] != 50 {
		t.Errorf("the next run does %d rows from %v, want those from 50 on", len(begun), begun[:1])
	}
}

// A dry run and one of a single account leave the cursor alone.
func TestRunner_Apart(t *testing.T) {
	w, name := newWorker(t, "a:1"), jobName(t)
	if err := w.runs.SaveCursor(t.Context(), name, "90", 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, o := range []cron.Options{{DryRun: true}, {Account: 7}, {DryRun: true, Account: 7}} {
		j := count(name, func(context.Context, int) error { return nil })
		work := j.Work
		j.Work = func(ctx context.Context, run *cron.Run) error {
			if run.DryRun != o.DryRun || run.Account != o.Account {
				t.Errorf("%+v became %+v", o, run)
			}
			return work(ctx, run)
		}
		run, err := w.Run(t.Context(), j, o)
		if err != nil || run.Rows != 100 {
			t.Errorf("%+v: %d rows, %v, want all 100", o, run.Rows, err)
		}
		if cursor, err := w.runs.Cursor(t.Context(), name); cursor != "90" || err != nil {
			t.Errorf("%+v: the cursor is now %q, %v", o, cursor, err)
		}
	}
	if runs := w.last(t, name); len(runs) != 0 {
		t.Errorf("%d runs are noted, want none of the whole", len(runs))
	}
	if runs := w.last(t, job.OfOne(name)); len(runs) != 1 {
		t.Errorf("%d runs are noted, want that of the one account", len(runs))
	}
}

func TestRunner_Busy(t *testing.T) {
	a, b, name := newWorker(t, "a:1"), newWorker(t, "b:2"), jobName(t)
	inside, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := a.Run(context.Background(), count(name, func(_ context.Context, n int) error {
			if n == 1 {
				close(inside)
				<-leave
			}
			return nil
		}), cron.Options{})
		ended <- err
	}()
	waittest.Receive(t, patience, "first run", inside)
	j := count(name, func(context.Context, int) error { return nil })
	_, err := b.Run(t.Context(), j, cron.Options{})
	if busy := (*cron.BusyError)(nil); !errors.As(err, &busy) || busy.Who != "a:1" || busy.Since.IsZero() || !strings.Contains(err.Error(), name+" is being run by a:1 since ") {
		t.Errorf("got %v, want who runs it since when", err)
	}
	if _, err := b.Run(t.Context(), j, cron.Options{DryRun: true}); err != nil {
		t.Errorf("a dry run at the same time: %v", err)
	}
	var said atomic.Bool
	run, err := b.Run(t.Context(), j, cron.Options{Wait: true, Waiting: func(*cron.BusyError) {
		if !said.Swap(true) {
			close(leave)
		}
	}})
	if err != nil || run.Rows != 100 || waittest.Receive(t, patience, "end of the first run", ended) != nil {
		t.Errorf("after waiting: %+v, %v", run, err)
	}
}

// A process dies in the middle; another takes over within a term or so and
// goes on where it was.
func TestRunner_Killed(t *testing.T) {
	a, b, name := newWorker(t, "a:1"), newWorker(t, "b:2"), jobName(t)
	tick := time.Now().Truncate(time.Second)
	died, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := a.Run(context.Background(), count(name, func(ctx context.Context, n int) error {
			switch {
			case n == 40: // the cursor of 39 is older than a second by now
				a.pool.Close()
				close(died)
				<-ctx.Done()
				return ctx.Err()
			case n == 39:
				<-time.After(1100 * time.Millisecond)
			}
			return nil
		}), cron.Options{Tick: tick})
		ended <- err
	}()
	waits := make(chan struct{})
	var rows []int
	second := make(chan error)
	go func() {
		<-died
		_, err := b.Run(context.Background(), count(name, func(_ context.Context, n int) error { rows = append(rows, n); return nil }),
			cron.Options{Tick: tick, Wait: true, Waiting: func(*cron.BusyError) { close(waits) }})
		second <- err
	}()
	waittest.Receive(t, patience, "second run that waits", waits)
	start := time.Now()
	if err := waittest.Receive(t, patience, "end of the first run", ended); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the first ended with %v, want a lost lease", err)
	}
	stepped := time.Since(start)
	if err := waittest.Receive(t, patience, "end of the second run", second); err != nil {
		t.Fatal(err)
	}
	t.Logf("the first stepped down after %v, the second was done after %v; a term is %v", stepped, time.Since(start), term)
	if took := time.Since(start); took > 3*term {
		t.Errorf("taking over took %v, want about a term of %v", took, term)
	}
	if len(rows) != 61 || rows[0] != 40 {
		t.Errorf("the second did %d rows from %v, want those from 40 on", len(rows), rows[:1])
	}
	runs := b.last(t, name)
	if len(runs) != 2 || runs[0].Result != job.OK || runs[1].Result != job.Lost || runs[1].Rows != 39 {
		t.Errorf("runs are %+v, want ok after lost", runs)
	}
	if _, err := b.Run(t.Context(), count(name, func(context.Context, int) error { return nil }), cron.Options{Tick: tick, Wait: true}); !errors.Is(err, cron.ErrServed) {
		t.Errorf("the same tick again: %v, want that it has been served", err)
	}
}

// The lease goes in the middle: the job makes no further write.
func TestRunner_LeaseLost(t *testing.T) {
	w, name := newWorker(t, "a:1"), jobName(t)
	wrote := 0
	run, err := w.Run(t.Context(), count(name, func(ctx context.Context, n int) error {
		if n == 30 {
			dbtest.DB(t).MustExec(`UPDATE lease SET ver = ver + 5, holder = 'b:2:x' WHERE bucket = ? AND name = ?`, repo.NameBucket(name), name)
			select {
			case <-ctx.Done(): // ctx ends with the next renewal
			case <-time.After(patience):
				t.Error("ctx does not end")
			}
		}
		wrote = n
		return nil
	}), cron.Options{})
	if !errors.Is(err, lease.ErrLost) || wrote != 30 || run.Rows != 30 || run.Result != job.Stopped {
		t.Errorf("it wrote up to %d, run %+v, %v; want 30 and a lost lease", wrote, run, err)
	}
	if held, err := lease.New(lease.Config{DB: w.pool}).Show(t.Context(), name); err != nil || held.Holder != "b:2:x" {
		t.Errorf("the lease is %+v, %v, want that of the other", held, err)
	}
}

// Step refuses by the local clock alone, without a word from the database.
func TestRunner_LeaseDoubted(t *testing.T) {
	p := pool(t, dbtest.DSN(t))
	var ahead atomic.Int64
	leases := lease.New(lease.Config{DB: p, Process: "a:1", Term: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) { c.Leases = leases })
	wrote := 0
	_, err := w.Run(t.Context(), count(jobName(t), func(_ context.Context, n int) error {
		if wrote = n; n == 20 {
			ahead.Store(int64(55 * time.Minute))
		}
		return nil
	}), cron.Options{})
	if !errors.Is(err, lease.ErrLost) || wrote != 20 {
		t.Errorf("it wrote up to %d, %v; want 20 and a lost lease", wrote, err)
	}
}

func TestRunner_Stopped(t *testing.T) {
	w, name := newWorker(t, "a:1"), jobName(t)
	ctx, cancel := context.WithCancel(t.Context())
	run, err := w.Run(ctx, count(name, func(_ context.Context, n int) error {
		if n == 25 {
			cancel()
		}
		return nil
	}), cron.Options{})
	if !errors.Is(err, context.Canceled) || run.Result != job.Stopped || run.Rows != 25 {
		t.Errorf("run %+v, %v, want it stopped after 25", run, err)
	}
	if cursor, err := w.runs.Cursor(t.Context(), name); cursor != "25" || err != nil {
		t.Errorf("the cursor is %q, %v, want 25", cursor, err)
	}
	start := time.Now()
	if run, err := newWorker(t, "b:2").Run(t.Context(), count(name, func(context.Context, int) error { return nil }), cron.Options{}); err != nil || run.Rows != 75 {
		t.Errorf("the next run: %+v, %v, want the other 75", run, err)
	}
	if took := time.Since(start); took > term {
		t.Errorf("it took %v to go on, want no waiting", took)
	}
}

// The pace is that of the settings, whatever part of it the work takes.
func TestRunner_Pace(t *testing.T) {
	var now time.Time
	var slept []time.Duration
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) {
		now = time.Now()
		c.Rate, c.Now = 1000, func() time.Time { return now }
		c.Sleep = func(_ context.Context, d time.Duration) error {
			slept = append(slept, d)
			now = now.Add(d)
			return nil
		}
	})
	ms := time.Millisecond
	begun := now
	_, err := w.Run(t.Context(), cron.Job{Name: jobName(t), Work: func(ctx context.Context, run *cron.Run) error {
		for _, s := range []struct {
			takes time.Duration
			rows  int64
		}{{0, 100}, {30 * ms, 100}, {250 * ms, 100}, {0, 100}, {40 * ms, 0}, {10 * ms, 100}} {
			now = now.Add(s.takes)
			if err := run.Step(ctx, cron.Step{Rows: s.rows, Cursor: "x"}); err != nil {
				return err
			}
		}
		return nil
	}}, cron.Options{})
	if want := []time.Duration{100 * ms, 70 * ms, 100 * ms, 50 * ms}; err != nil || !slices.Equal(slept, want) {
		t.Errorf("slept %v, %v, want %v", slept, err, want)
	}
	if took := now.Sub(begun); took != 650*ms {
		t.Errorf("took %v, want 650ms", took)
	}
}

// The cursor is kept each second, not each step, and with it the numbers.
func TestRunner_Cursor(t *testing.T) {
	now := time.Now()
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) { c.Now = func() time.Time { return now } })
	name := jobName(t)
	var kept []string
	_, err := w.Run(t.Context(), count(name, func(ctx context.Context, n int) error {
		now = now.Add(300 * time.Millisecond)
		cursor, err := w.runs.Cursor(ctx, name)
		if len(kept) == 0 || kept[len(kept)-1] != cursor {
			kept = append(kept, cursor)
		}
		if run := w.last(t, name)[0]; cursor != "" && strconv.FormatInt(run.Rows, 10) != cursor || run.Result != job.Running {
			t.Errorf("at %s the run is %+v", cursor, run)
		}
		return err
	}), cron.Options{})
	if err != nil || len(kept) != 26 || !slices.Equal(kept[:4], []string{"", "1", "5", "9"}) {
		t.Errorf("kept %d: %v, %v, want the first and then every fourth", len(kept), kept, err)
	}
}

// A run that is killed in its first second, or in a long pause, has said what it
// did: the next one finds the numbers and leaves them.
func TestRunner_KilledEarly(t *testing.T) {
	w, name := newWorker(t, "a:1"), jobName(t)
	now := time.Now()
	var noted []int64
	a := newWorker(t, "a:1", func(c *cron.RunnerConfig) {
		c.Rate, c.Now = 10, func() time.Time { return now }
		c.Sleep = func(_ context.Context, d time.Duration) error {
			noted = append(noted, w.last(t, name)[0].Rows)
			now = now.Add(d)
			return nil
		}
	})
	killed := errors.New("killed")
	_, err := a.Run(t.Context(), cron.Job{Name: name, Work: func(ctx context.Context, run *cron.Run) error {
		for i, rows := range []int64{1, 1, 50} {
			if err := run.Step(ctx, cron.Step{Rows: rows, Done: 1, Cursor: strconv.Itoa(i)}); err != nil {
				return err
			}
		}
		a.pool.Close() // what follows is not noted
		return killed
	}}, cron.Options{})
	if !errors.Is(err, killed) || !slices.Equal(noted, []int64{1, 1, 52}) {
		t.Errorf("in the pauses %v rows are noted, %v, want 1, 1 and 52", noted, err)
	}
	if _, err := newWorker(t, "b:2").Run(t.Context(), count(name, func(context.Context, int) error { return nil }), cron.Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	if runs := w.last(t, name); len(runs) != 2 || runs[1].Result != job.Lost || runs[1].Rows != 52 || runs[1].Done != 3 {
		t.Errorf("runs are %+v, want a lost one of 52 rows", runs)
	}
}

func TestRunner_List(t *testing.T) {
	w := newWorker(t, "a:1")
	daily, err := robfig.ParseStandard("30 3 * * *")
	if err != nil {
		t.Fatal(err)
	}
	untried, done, dead := jobName(t), jobName(t), jobName(t)
	if _, err := w.Run(t.Context(), count(done, func(context.Context, int) error { return nil }), cron.Options{}); err != nil {
		t.Fatal(err)
	}
	one := count(done, func(context.Context, int) error { return errors.New("bad") })
	if _, err := w.Run(t.Context(), one, cron.Options{Account: 7}); err == nil {
		t.Fatal("the run of one account did not fail")
	}
	if err := w.runs.Save(t.Context(), job.Run{Name: dead, Started: 1, Holder: "x:1:y", Result: job.Running}); err != nil {
		t.Fatal(err)
	}
	all, err := w.List(t.Context(), []cron.Plan{{Job: cron.Job{Name: untried}, Schedule: ticks{daily}}, {Job: cron.Job{Name: done}, Schedule: off}, {Job: cron.Job{Name: dead}, Schedule: off}})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if all[0].Last != nil || all[0].Next.Hour() != 3 || all[0].Next.Minute() != 30 {
		t.Errorf("never run: %+v", all[0])
	}
	if all[1].Last == nil || all[1].Last.Rows != 100 || all[1].Last.Result != job.OK || !all[1].Next.IsZero() || all[1].Dead {
		t.Errorf("done: %+v", all[1])
	}
	if !all[2].Dead {
		t.Errorf("dead: %+v", all[2])
	}
}

// A run deletes the old records of its job; the newest stays, and those of other jobs.
func TestRunner_Keep(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	w := newWorker(t, "a:1", func(c *cron.RunnerConfig) { c.Keep, c.Now = time.Hour, func() time.Time { return now } })
	name, other := jobName(t), jobName(t)
	for age, of := range map[time.Duration][]string{
		2 * time.Hour: {name, job.OfOne(name), other}, 61 * time.Minute: {name}, 59 * time.Minute: {name, job.OfOne(name)},
	} {
		for _, n := range of {
			started := now.Add(-age).UnixMilli()
			if err := w.runs.Save(t.Context(), job.Run{Name: n, Started: started, Ended: started, Result: job.OK}); err != nil {
				t.Fatal(err)
			}
		}
	}
	j := count(name, func(context.Context, int) error { return nil })
	left := func() [3]int {
		return [3]int{len(w.last(t, name)), len(w.last(t, job.OfOne(name))), len(w.last(t, other))}
	}
	if _, err := w.Run(t.Context(), j, cron.Options{DryRun: true}); err != nil || left() != [3]int{3, 2, 1} {
		t.Errorf("a dry run leaves %v, %v, want all", left(), err)
	}
	if _, err := w.Run(t.Context(), j, cron.Options{}); err != nil || left() != [3]int{2, 1, 1} {
		t.Errorf("a run leaves %v, %v, want one old and its own, one, one", left(), err)
	}
}
