package committer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/repo"
)

// Store is what a committer commits to: rows R that are opened as drafts D.
type Store[D Draft, R any] interface {
	// Load opens rows, from the database if fresh, else perhaps from a cache.
	Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]D, error)
	// Locked opens rows while it holds their locks and swaps what edit returns, as Swap
	// does. What was loaded of them before, if anything, need not be read again where it
	// is current.
	Locked(ctx context.Context, ids []uint64, loaded map[uint64]D, edit func(map[uint64]D) ([]R, error)) (won bool, err error)
	// Pack turns a changed draft into the row to store; repo.ErrTooLarge if it does not fit.
	Pack(D) (R, error)
	// Swap stores rows, all or none, where nobody else was first, and then in the cache.
	Swap(ctx context.Context, rows []R) (won bool, err error)
}

// Draft is an opened row.
type Draft interface {
	Changed() bool
	Size() int
	// Lacks reports that an edit could not run, since it needs what Load does not
	// bring; Locked brings it and runs the edit again.
	Lacks() bool
}

// Config bounds a committer. Zero values take the defaults.
type Config struct {
	Workers  int           // commits under way at once, 3
	MaxEdits int           // edits in one commit, 240: with two rows each, one statement reads them all, as of one moment
	MaxBytes int           // bytes of lists in one commit, 6 MiB
	MaxQueue int           // edits that wait before more are refused, 4096
	Tries    int           // swaps lost before an edit is given up, 20
	Timeout  time.Duration // for one try, 10 s
	Pause    func(ctx context.Context, try int)
	Metrics  *Metrics // nil counts nothing
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, 3)
	c.MaxEdits = cmp.Or(c.MaxEdits, 240)
	c.MaxBytes = cmp.Or(c.MaxBytes, 6<<20)
	c.MaxQueue = cmp.Or(c.MaxQueue, 4096)
	c.Tries = cmp.Or(c.Tries, 20)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	if c.Pause == nil {
		c.Pause = jitter
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	return c
}

// Metrics counts what a committer does.
type Metrics struct {
	swaps   *prometheus.CounterVec
	edits   prometheus.Histogram
	rows    prometheus.Histogram
	seconds prometheus.Histogram
	waiting prometheus.Gauge
	full    prometheus.Counter
	given   prometheus.Counter
}

// NewMetrics registers the metrics of the committer.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	sizes := prometheus.ExponentialBuckets(1, 2, 11)
	m := &Metrics{
		swaps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_swaps_total", Help: "Commits sent, by whether their swaps won or lost."}, []string{"result"}),
		edits: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_edits", Help: "Edits in one commit.", Buckets: sizes}),
		rows:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_rows", Help: "Rows swapped by one commit.", Buckets: sizes}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "kith_commit_seconds",
			Help:    "How long commits took from the moment they were gathered, lost swaps included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "kith_edits_waiting", Help: "Edits that wait for a commit."}),
		full:    prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_edits_refused_total", Help: "Edits refused because too many were waiting."}),
		given:   prometheus.NewCounter(prometheus.CounterOpts{Name: "kith_edits_conflict_total", Help: "Edits given up after too many lost swaps."}),
	}
	m.swaps.WithLabelValues("won")
	m.swaps.WithLabelValues("lost")
	reg.MustRegister(m.swaps, m.edits, m.rows, m.seconds, m.waiting, m.full, m.given)
	return m
}

// Committer gathers edits and commits them. It is safe for concurrent use.
type Committer[D Draft, R any] struct {
	store Store[D, R]
	cfg   Config

	contended contended

	mu      sync.Mutex
	work    *sync.Cond
	queue   queue[D]
	closed  bool
	workers sync.WaitGroup
}

// New starts a committer; Close ends it.
func New[D Draft, R any](store Store[D, R], cfg Config) *Committer[D, R] {
	c := &Committer[D, R]{store: store, cfg: cfg.withDefaults(), queue: queue[D]{parked: map[uint64][]*edit[D]{}, busy: map[uint64]bool{}}}
	c.work = sync.NewCond(&c.mu)
	for range c.cfg.Workers {
		c.workers.Go(c.run)
	}
	return c
}

// Do runs apply on the rows of ids and returns when what it changed is
// committed, or with apply's error. apply may run more than once, must check
// before it changes, and must not block. It is not run, or its
// changes are dropped as a whole, when Do answers repo.ErrUnavailable (queue
// full, closed, database away), repo.ErrConflict or repo.ErrTooLarge.
func (c *Committer[D, R]) Do(ctx context.Context, ids []uint64, apply func(rows map[uint64]D) error) error {
	return c.DoThen(ctx, ids, apply, func() {})
}

// DoThen is Do that calls then once what apply did is committed, also where the caller
// is gone by that time: once for each edit that Do answers nil, and never for another.
// then runs before the rows are free for other edits, so that what it gives of one row
// comes in the order of the commits. All that wait for these rows wait for it: it must
// not block.
func (c *Committer[D, R]) DoThen(ctx context.Context, ids []uint64, apply func(rows map[uint64]D) error, then func()) error {
	e := &edit[D]{ids: ids, apply: apply, then: then, done: make(chan struct{})}
	if err := c.enqueue(e); err != nil {
		return err
	}
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		c.mu.Lock()
		e.gone = !e.taken // if it is not on its way yet it will not go
		c.mu.Unlock()
		return fmt.Errorf("wait for commit: %w", ctx.Err())
	}
}

func (c *Committer[D, R]) enqueue(e *edit[D]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("committer is closed: %w", repo.ErrUnavailable)
	}
	if c.queue.waiting >= c.cfg.MaxQueue {
		c.cfg.Metrics.full.Inc()
		return fmt.Errorf("%d edits are waiting: %w", c.queue.waiting, repo.ErrUnavailable)
	}
	c.queue.ready = append(c.queue.ready, e)
	c.queue.waiting++
	c.cfg.Metrics.waiting.Set(float64(c.queue.waiting))
	c.work.Signal()
	return nil
}

// Close refuses new edits, commits what waits and returns when all is answered
// or ctx ends.
func (c *Committer[D, R]) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.work.Broadcast()
	c.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		c.workers.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("drain committer: %w", ctx.Err())
	}
}

// run is one worker: it commits edits until the committer is closed and drained.
func (c *Committer[D, R]) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed || c.queue.waiting > 0 {
		edits, rows := c.queue.take(c.cfg.MaxEdits)
		if len(edits) == 0 {
			c.work.Wait()
			continue
		}
		if len(c.queue.ready) > 0 {
			c.work.Signal()
		}
		c.cfg.Metrics.waiting.Set(float64(c.queue.waiting))
		c.mu.Unlock()
		c.commit(edits)
		c.mu.Lock()
		c.queue.release(rows)
		c.work.Broadcast()
	}
	c.work.Broadcast()
}

// patience is how often an edit may be passed over before its rows are kept
// free for it.
const patience = 3

// edit is one Do on its way.
type edit[D any] struct {
	ids   []uint64
	apply func(rows map[uint64]D) error
	then  func()        // called once apply's work is committed
	done  chan struct{} // closed when err is final
	err   error
	gone  bool // its caller left; guarded by the committer's mutex
	taken bool // in a commit; guarded by the committer's mutex
	parks int
}

// queue holds the edits that wait. Its rows are those of the accounts that
// edits name. It is not safe for concurrent use: the committer's mutex guards it.
type queue[D any] struct {
	ready    []*edit[D]            // may be taken, first come first
	parked   map[uint64][]*edit[D] // wait for a row that is in a commit, or reserved
	busy     map[uint64]bool       // rows in a commit under way
	reserved *edit[D]              // the one edit that others may not overtake
	waiting  int
}

// take removes up to max edits whose rows are free and marks these rows busy. Edits of
// one batch may share rows. It parks what it cannot take.
func (q *queue[D]) take(max int) (batch []*edit[D], rows []uint64) {
	mine := map[uint64]bool{}
	for len(q.ready) > 0 && len(batch) < max {
		e := q.ready[0]
		q.ready[0] = nil
		q.ready = q.ready[1:]
		if e.gone {
			q.forget(e)
			continue
		}
		if at, blocked := q.blocker(e, mine); blocked {
			q.park(e, at)
			continue
		}
		for _, id := range e.ids {
			mine[id] = true
		}
		e.taken = true
		q.waiting--
		if q.reserved == e {
			q.reserved = nil // its rows are busy now; release brings back who waits for them
		}
		batch = append(batch, e)
	}
	for id := range mine {
		q.busy[id] = true
		rows = append(rows, id)
	}
	return batch, rows
}

// blocker names a row for which e has to wait.
func (q *queue[D]) blocker(e *edit[D], mine map[uint64]bool) (uint64, bool) {
	for _, id := range e.ids {
		if q.busy[id] && !mine[id] {
			return id, true
		}
		if q.reserved != nil && q.reserved != e && slices.Contains(q.reserved.ids, id) {
			return id, true
		}
	}
	return 0, false
}

func (q *queue[D]) park(e *edit[D], id uint64) {
	q.parked[id] = append(q.parked[id], e)
	if e.parks++; e.parks > patience && q.reserved == nil {
		q.reserved = e
	}
}

// release frees the rows of a finished commit; who waited for them is next.
func (q *queue[D]) release(rows []uint64) {
	for _, id := range rows {
		delete(q.busy, id)
	}
	for _, id := range rows {
		q.unpark(id)
	}
}

func (q *queue[D]) unpark(id uint64) {
	if back := q.parked[id]; len(back) > 0 {
		delete(q.parked, id)
		q.ready = append(back, q.ready...)
	}
}

// forget drops an edit whose caller left and lets those go on that waited
// behind its reservation.
func (q *queue[D]) forget(e *edit[D]) {
	q.waiting--
	if q.reserved != e {
		return
	}
	q.reserved = nil
	for _, id := range e.ids {
		if !q.busy[id] {
			q.unpark(id)
		}
	}
}
