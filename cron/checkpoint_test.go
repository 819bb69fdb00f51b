package cron_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"kith/app/home"
	"kith/cron"
	"kith/repo"
	"kith/repo/job"
	"kith/repo/seen"
	"kith/repo/timeline"
)

// kept is where lines are hot and warm.
type kept struct {
	*world
	lines *timeline.Local
	warm  *timeline.Store
}

func newKept(t *testing.T) *kept {
	t.Helper()
	w := newWorld(t)
	lines, err := timeline.NewLocal(timeline.Config{MaxBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lines.Close() })
	return &kept{w, lines, timeline.NewStore(w.pool, w.clock, slog.New(slog.DiscardHandler))}
}

func (k *kept) checkpoint() cron.Job {
	return cron.Checkpoint(cron.CheckpointConfig{Seen: seen.New(k.pool), Now: k.clock,
		Homes: home.New(home.Config{Lines: k.lines, Warm: k.warm, Now: k.clock})})
}

// read has accounts seen and their lines built, at once.
func (k *kept) read(ids ...uint64) {
	k.t.Helper()
	var marks []seen.Mark
	for _, id := range ids {
		marks = append(marks, seen.Mark{AccountID: id, At: uint32(k.now.Unix())})
		if stored, err := k.lines.Store(k.t.Context(), k.lines.Begin(k.t.Context(), id), timeline.Line{BuiltAt: k.now}); !stored || err != nil {
			k.t.Fatal(stored, err)
		}
	}
	if err := seen.New(k.pool).Put(k.t.Context(), marks); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) built(id uint64) time.Time {
	k.t.Helper()
	r, err := k.warm.Row(k.t.Context(), id)
	if err != nil && !errors.Is(err, repo.ErrNotFound) {
		k.t.Fatal(err)
	}
	return r.BuiltAt
}

func TestCheckpoint(t *testing.T) {
	k := newKept(t)
	p := k.people(60)
	k.read(p...)
	first := k.now
	k.now = k.now.Add(40 * 24 * time.Hour)
	k.read(p[:50]...)
	k.lines.Drop(t.Context(), p[0])
	if run := k.run(k.checkpoint(), cron.Options{DryRun: true}); run.Done != 49 || run.Rows != 60 || !k.built(p[1]).IsZero() {
		t.Errorf("a dry run: %+v, want 49 of 60", run)
	}
	if run := k.run(k.checkpoint(), cron.Options{Account: p[2]}); run.Done != 1 || !k.built(p[2]).Equal(k.now) || !k.built(p[1]).IsZero() {
		t.Errorf("one account: %+v, want only its home saved", run)
	}
	if run := k.run(k.checkpoint(), cron.Options{}); run.Done != 48 {
		t.Errorf("all: %+v, want the other 48", run)
	}
	for i, id := range p {
		if got := k.built(id); (i > 0 && i < 50) != got.Equal(k.now) || !got.Equal(k.now) && !got.IsZero() {
			t.Errorf("the row of account %d is of %v", i, got)
		}
	}
	if run := k.run(k.checkpoint(), cron.Options{}); run.Done != 0 {
		t.Errorf("again: %+v, want none", run)
	}
	older := timeline.Line{BuiltAt: first} // than the row
	if stored, err := k.lines.Store(t.Context(), k.lines.Begin(t.Context(), p[1]), older); !stored || err != nil {
		t.Fatal(stored, err)
	}
	if run := k.run(k.checkpoint(), cron.Options{}); run.Done != 0 || !k.built(p[1]).Equal(k.now) {
		t.Errorf("an old line: %+v, and the row is of %v, want %v", run, k.built(p[1]), k.now)
	}
}

// Stopped after any step it goes on behind it.
func TestCheckpoint_Resumes(t *testing.T) {
	k := newKept(t)
	p := k.people(70)
	k.read(p...)
	var done, rows int64
	var results []job.Result
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		run, err := k.worker.Run(ctx, k.checkpoint(), cron.Options{Show: func(s cron.Step) {
			if s.Rows > 0 {
				cancel()
			}
		}})
		done, rows, results = done+run.Done, rows+run.Rows, append(results, run.Result)
		if cancel(); !errors.Is(err, context.Canceled) {
			break
		}
	}
	if done != 70 || rows != 70 || !slices.Contains(results, job.Stopped) {
		t.Errorf("%d saved, %d looked at, in %v, want 70 in several runs", done, rows, results)
	}
}
