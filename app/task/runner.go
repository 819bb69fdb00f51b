// Package task carries out what is to be done after a change (repo/task).
//
//	request ── Do ──► handler, now ─────────────┐
//	request ── Go ──► queue ──► worker: handler ─┼─► done, deleted in batches
//	every few seconds: claims that ran out ──► queue
//
// A handler may run twice for a task, or after the task's change was undone: it looks what
// is true now, makes the rest agree, and returns an error only where it must be tried
// again. That is done here some times, after pauses that double, while the claim stands. Then
// the task is left to who takes it over. What a task is about may be gone for ever, its
// account or its post: then nothing is left to be done, and it ends. One that fails for
// task.Life is dropped.
//
// The queue is bounded. A task that finds it full stays in the table, like those of a process
// that ended, and is taken over by whoever has room: the claim that is left is the delay.
// Where a claim runs out while its task waits or is carried out here, to take it over is to
// claim it again: it does not stand in the queue twice, however long that is.
package task

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo/task"
)

// Handler carries out a task.
type Handler func(ctx context.Context, t task.Task) error

// Store keeps tasks. It is an interface because tests put faults in.
type Store interface {
	Done(ctx context.Context, tasks []task.Task) error
	Claim(ctx context.Context, limit int) ([]task.Task, error)
	Renew(ctx context.Context, t task.Task) error
	Backlog(ctx context.Context, limit int) (n int, age time.Duration, err error)
}

// Config is what a Runner works with. Zero values take the defaults.
type Config struct {
	Store    Store
	Handlers map[task.Kind]Handler
	Workers  int           // tasks carried out at once, 8
	Queue    int           // tasks that wait, 10,000
	Every    time.Duration // how often claims that ran out are looked for, 5 s
	Timeout  time.Duration // for one task, 10 minutes
	Pause    time.Duration // before a task that failed is tried again for the first time, 1 s
	OwnOnly  bool          // take over no tasks of processes that ended, only count them
	Log      *slog.Logger
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
}

// Runner carries out tasks. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	queue chan job
	done  chan task.Task
	quit  chan struct{} // closed: look for no more tasks
	cut   context.CancelFunc

	workers, deleter sync.WaitGroup

	mu     sync.RWMutex // guards queue against Close
	closed bool

	heldMu sync.Mutex
	held   map[task.Task]int // how often a task waits or is being carried out

	failed       prometheus.Counter
	backlog, age prometheus.Gauge
}

// job is a task, and how often it was tried.
type job struct {
	task.Task
	tries int
}

// New makes a Runner; Start begins the work, Close ends it.
func New(cfg Config) *Runner {
	cfg.Workers = cmp.Or(cfg.Workers, 8)
	cfg.Queue = cmp.Or(cfg.Queue, 10_000)
	cfg.Every = cmp.Or(cfg.Every, 5*time.Second)
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Minute)
	cfg.Pause = cmp.Or(cfg.Pause, time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	r := &Runner{cfg: cfg, queue: make(chan job, cfg.Queue), done: make(chan task.Task, maxDone), quit: make(chan struct{}), cut: func() {}, held: map[task.Task]int{}}
	r.failed = prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_tasks_failed_total", Help: "Tasks that failed and will be tried again."})
	r.backlog = prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_tasks", Help: "Tasks that are not done yet, of all processes; counted up to 10,000."})
	r.age = prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_tasks_oldest_seconds", Help: "Age of the oldest task."})
	if cfg.Registerer != nil {
		cfg.Registerer.MustRegister(r.failed, r.backlog, r.age)
	}
	return r
}

// maxDone is how many done tasks are deleted at once, and how many wait for it.
const maxDone = 100

// maxBacklog is how many tasks are counted.
const maxBacklog = 10_000

// Handle sets what carries out a kind of task. It must be called before Start.
func (r *Runner) Handle(k task.Kind, h Handler) {
	if r.cfg.Handlers == nil {
		r.cfg.Handlers = map[task.Kind]Handler{}
	}
	r.cfg.Handlers[k] = h
}

// Start starts the workers, and what counts the tasks of all processes and takes over those
// of processes that ended.
func (r *Runner) Start() {
	ctx, cut := context.WithCancel(context.Background())
	r.cut = cut
	for range r.cfg.Workers {
		r.workers.Go(func() {
			for j := range r.queue {
				r.carryOut(ctx, j)
			}
		})
	}
	r.workers.Go(func() { r.takeOver(ctx) })
	r.deleter.Go(r.delete)
}

// Close carries out what waits, unless ctx ends first, and returns when all workers have
// ended. What is left stays in the table for others.
func (r *Runner) Close(ctx context.Context) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	close(r.quit)
	close(r.queue)
	r.mu.Unlock()
	defer context.AfterFunc(ctx, r.cut)()
	r.workers.Wait()
	close(r.done)
	r.deleter.Wait()
	r.cut()
}

// Do carries a task out at once. Where that fails it is tried again later.
func (r *Runner) Do(ctx context.Context, t task.Task) error {
	r.hold(t, 1)
	defer r.hold(t, -1)
	err := r.handle(ctx, t)
	if err != nil {
		r.failed.Inc()
		r.again(job{Task: t, tries: 1})
		return err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.closed {
		r.done <- t
	}
	return nil
}

// handle carries a task out. One of a kind that only a later version of the program knows is
// left to that.
func (r *Runner) handle(ctx context.Context, t task.Task) error {
	h := r.cfg.Handlers[t.Kind]
	if h == nil {
		return fmt.Errorf("task of kind %d: nobody here carries it out", t.Kind)
	}
	return h(ctx, t)
}

// Go has a worker carry a task out soon.
func (r *Runner) Go(t task.Task) { r.enqueue(job{Task: t}) }

func (r *Runner) enqueue(j job) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return
	}
	r.hold(j.Task, 1)
	select {
	case r.queue <- j:
	default: // full: the task stays in the table
		r.hold(j.Task, -1)
	}
}

// hold counts how often a task is here, and returns how often it is.
func (r *Runner) hold(t task.Task, more int) int {
	r.heldMu.Lock()
	defer r.heldMu.Unlock()
	n := r.held[t] + more
	if r.held[t] = n; n == 0 {
		delete(r.held, t)
	}
	return n
}

// maxTries is how often a task is tried while its claim stands: with pauses of a second, for
// half of that.
const maxTries = 6

// again has a job that failed tried once more after a pause, or leaves it to others.
func (r *Runner) again(j job) {
	if j.tries < maxTries && r.cfg.Handlers[j.Kind] != nil {
		time.AfterFunc(r.cfg.Pause<<(j.tries-1), func() { r.enqueue(j) })
	}
}

func (r *Runner) carryOut(ctx context.Context, j job) {
	defer r.hold(j.Task, -1)
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	if err := r.handle(ctx, j.Task); err != nil {
		r.failed.Inc()
		r.cfg.Log.Warn("a task failed and will be tried again", "kind", j.Kind, "account", j.Account, "post", j.Post, "error", err)
		j.tries++
		r.again(j)
		return
	}
	r.done <- j.Task
}

// Renew keeps others from taking over a task that takes long.
func (r *Runner) Renew(ctx context.Context, t task.Task) error { return r.cfg.Store.Renew(ctx, t) }

// takeOver counts the tasks that wait, and claims those whose claims ran out.
func (r *Runner) takeOver(ctx context.Context) {
	ticker := time.NewTicker(r.cfg.Every)
	defer ticker.Stop()
	for {
		if n, age, err := r.cfg.Store.Backlog(ctx, maxBacklog); err == nil {
			r.backlog.Set(float64(n))
			r.age.Set(age.Seconds())
		}
		if !r.cfg.OwnOnly {
			r.claim(ctx)
		}
		select {
		case <-r.quit:
			return
		case <-ticker.C:
		}
	}
}

// claim takes over tasks, as many as there is room for.
func (r *Runner) claim(ctx context.Context) {
	free := cap(r.queue) - len(r.queue)
	found, err := r.cfg.Store.Claim(ctx, min(free, maxClaim))
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.Warn("tasks cannot be taken over", "error", err)
	}
	for _, t := range found {
		if r.hold(t, 0) == 0 {
			r.Go(t)
		}
	}
}

// maxClaim is how many tasks one process takes over at once.
const maxClaim = 200

// delete deletes done tasks, many in one statement: those that came while the last
// statement was on its way.
func (r *Runner) delete() {
	batch := make([]task.Task, 0, maxDone)
	for t := range r.done {
		batch = append(batch[:0], t)
		for more := true; more && len(batch) < maxDone; {
			select {
			case t, more = <-r.done:
				if more {
					batch = append(batch, t)
				}
			default:
				more = false
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), deleteTime)
		if err := r.cfg.Store.Done(ctx, batch); err != nil { // they will be carried out again
			r.cfg.Log.Warn("done tasks cannot be deleted", "tasks", len(batch), "error", err)
		}
		cancel()
	}
}

// deleteTime bounds the deletion of done tasks.
const deleteTime = 10 * time.Second
