package task_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	apptask "kith/app/task"
	"kith/repo/dbtest"
	"kith/repo/task"
	"kith/repo/waittest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// kept is a store in memory.
type kept struct {
	mu    sync.Mutex
	tasks []task.Task
	done  []task.Task
}

func (k *kept) Done(_ context.Context, tasks []task.Task) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done = append(k.done, tasks...)
	return nil
}

func (k *kept) Claim(context.Context, int) ([]task.Task, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.tasks
	k.tasks = nil
	return found, nil
}

func (k *kept) Renew(context.Context, task.Task) error { return nil }

func (k *kept) Backlog(context.Context, int) (int, time.Duration, error) { return 0, 0, nil }

func (k *kept) finished() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.done)
}

const patience = 30 * time.Second

// again is a store in which a claim runs out at once.
type again struct {
	kept
	claims int
}

func (a *again) Claim(context.Context, int) ([]task.Task, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claims++
	return []task.Task{{ID: 1, Kind: task.Push}}, nil
}

// A task whose claim runs out while it is carried out here is not begun again.
func TestRunner_ClaimedAgain(t *testing.T) {
	store, begun, end := &again{}, make(chan struct{}, 100), make(chan struct{})
	r := apptask.New(apptask.Config{Store: store, Every: time.Millisecond})
	r.Handle(task.Push, func(context.Context, task.Task) error {
		begun <- struct{}{}
		<-end
		return nil
	})
	r.Start()
	<-begun
	claims := func() int {
		store.mu.Lock()
		defer store.mu.Unlock()
		return store.claims
	}
	before := claims()
	waittest.Until(t, patience, "it is claimed again and again", func() bool { return claims() >= before+10 })
	if n := len(begun); n > 0 {
		t.Errorf("begun %d times more", n)
	}
	close(end)
	<-begun // and again, since the store still has it
	r.Close(t.Context())
}

// waiting is a store with a task that waits since a minute.
type waiting struct{ again }

func (w *waiting) Backlog(context.Context, int) (int, time.Duration, error) {
	return 1, time.Minute, nil
}

// A process that takes over nothing, such as kith cron, shows what waits: where no server runs,
// nobody else does.
func TestRunner_OwnOnly(t *testing.T) {
	store, metrics := &waiting{}, prometheus.NewRegistry()
	r := apptask.New(apptask.Config{Store: store, Every: time.Millisecond, OwnOnly: true, Registerer: metrics})
	r.Start()
	const want = "# HELP kith_tasks_oldest_seconds Age of the oldest task.\n# TYPE kith_tasks_oldest_seconds gauge\nkith_tasks_oldest_seconds 60\n"
	waittest.Until(t, patience, "the metric says 60 s", func() bool {
		return testutil.GatherAndCompare(metrics, strings.NewReader(want), "kith_tasks_oldest_seconds") == nil
	})
	r.Close(t.Context())
	if store.claims != 0 {
		t.Errorf("%d claims", store.claims)
	}
}

// Tasks whose claims ran out are taken over. One that fails, or that nobody here knows, stays.
func TestRunner_TakesOver(t *testing.T) {
	store := &kept{tasks: []task.Task{{ID: 1, Kind: task.Push}, {ID: 2, Kind: 99}, {ID: 3, Kind: task.Settle}, {ID: 4, Kind: task.Push}}}
	r := apptask.New(apptask.Config{Store: store, Every: time.Millisecond})
	r.Handle(task.Push, func(context.Context, task.Task) error { return nil })
	r.Handle(task.Settle, func(context.Context, task.Task) error { return errors.New("not now") })
	r.Start()
	waittest.Until(t, patience, "both pushes are done", func() bool { return store.finished() == 2 })
	r.Close(t.Context())
	for _, d := range store.done {
		if d.Kind != task.Push {
			t.Errorf("done: %+v", d)
		}
	}
	if err := r.Do(t.Context(), task.Task{ID: 5, Kind: 99}); err == nil {
		t.Error("a task of an unknown kind is carried out")
	}
	r.Go(task.Task{ID: 6, Kind: task.Push}) // after Close: it stays in the table
}

// A task that fails is tried again before its claim runs out, whoever carried it out first.
func TestRunner_Again(t *testing.T) {
	for name, first := range map[string]func(*apptask.Runner, task.Task){
		"Go": (*apptask.Runner).Go,
		"Do": func(r *apptask.Runner, one task.Task) {
			if r.Do(t.Context(), one) == nil {
				t.Error("Do: no error")
			}
		},
	} {
		store := &kept{}
		r := apptask.New(apptask.Config{Store: store, Every: time.Hour, Pause: time.Millisecond})
		var mu sync.Mutex
		tries := 0
		r.Handle(task.Push, func(context.Context, task.Task) error {
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries < 4 {
				return errors.New("not now")
			}
			return nil
		})
		r.Start()
		first(r, task.Task{ID: 1, Kind: task.Push})
		waittest.Until(t, patience, name+": the task is done", func() bool { return store.finished() == 1 })
		r.Close(t.Context())
	}
}

// A process that starts looks at once what the others left: its metrics say so, too.
func TestRunner_Starts(t *testing.T) {
	store := &kept{tasks: []task.Task{{ID: 1, Kind: task.Push}}}
	r := apptask.New(apptask.Config{Store: store, Every: time.Hour})
	r.Handle(task.Push, func(context.Context, task.Task) error { return nil })
	r.Start()
	waittest.Until(t, patience, "the task is done", func() bool { return store.finished() == 1 })
	r.Close(t.Context())
}
