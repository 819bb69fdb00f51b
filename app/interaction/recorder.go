package interaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"kith/app/relation"
	"kith/repo"
	"kith/repo/account"
	"kith/repo/interaction"
	"kith/repo/list"
	"kith/repo/seen"
)

// Event is one thing that an account did with another.
type Event = interaction.Event

// The kinds that kith records by itself. Others come from the product.
const (
	Follow = "follow"
	Visit  = "visit"
)

// flushTime bounds one flush to the database.
const flushTime = 10 * time.Second

// Log keeps batches of events. It, Marks and Accounts are interfaces because tests let
// them fail.
type Log interface {
	Append(ctx context.Context, batches []interaction.Batch) error
}

// Marks keeps who was seen when.
type Marks interface {
	Put(ctx context.Context, marks []seen.Mark) error
}

// Accounts knows which accounts exist.
type Accounts interface {
	Load(ctx context.Context, ids []uint64) (map[uint64]account.Account, error)
}

// Config is what a Recorder works with; Log, Marks and Weighs must be set.
type Config struct {
	Log   Log
	Marks Marks
	// Accounts are looked up before a flush; nil: all exist.
	Accounts Accounts
	// Weighs reports whether a kind counts; others are ignored.
	Weighs func(kind string) bool
	// Buffer is how many events may wait, 0 for 20,000.
	Buffer int
	// Every is the time between two flushes, 0 for 5 s.
	Every time.Duration
	// Now is the clock, nil for time.Now.
	Now func() time.Time
	// Logger gets flushes that fail; nil: none.
	Logger  *slog.Logger
	Metrics *Metrics
}

// Recorder takes events and writes them in the background. It is safe for
// concurrent use. Close it.
type Recorder struct {
	cfg    Config
	visits *memory[pair]
	seen   *memory[uint64]

	mu      sync.Mutex
	waiting []Event
	taken   int // events of a flush under way, or of one that failed
	marks   map[uint64]uint32
	closed  bool

	full    chan struct{} // has an element when a flush should come early
	stop    chan struct{}
	stopped chan struct{}

	// The flusher's own: events whose accounts must still be looked up, events whose
	// accounts exist, and the batches of a flush that failed.
	unsure, sure []Event
	pending      []interaction.Batch
}

type pair struct{ viewer, target uint64 }

// New makes a Recorder and starts its flusher.
func New(cfg Config) *Recorder {
	cfg.Buffer, cfg.Every = cmp.Or(cfg.Buffer, 20_000), cmp.Or(cfg.Every, 5*time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	r := &Recorder{
		cfg: cfg, visits: newMemory[pair](), seen: newMemory[uint64](), marks: map[uint64]uint32{},
		full: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go r.run()
	return r
}

// Counts reports whether events of a kind are taken.
func (r *Recorder) Counts(kind string) bool { return r.cfg.Weighs(kind) }

// Record takes events. It ignores those of an account with itself, of a kind that does
// not count or with an id that no account can have. A time in the future, or 0, means now.
func (r *Recorder) Record(events ...Event) {
	now := uint32(r.cfg.Now().Unix())
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := 0
	for _, e := range events {
		if e.Actor == e.Target || min(e.Actor, e.Target) == 0 || max(e.Actor, e.Target) > list.MaxID || !r.cfg.Weighs(e.Kind) {
			continue
		}
		if r.closed {
			r.cfg.Metrics.drop(ended, 1)
			continue
		}
		if len(r.waiting)+r.taken >= r.cfg.Buffer {
			r.cfg.Metrics.drop(full, 1)
			continue
		}
		if e.At == 0 || e.At > now {
			e.At = now
		}
		r.waiting = append(r.waiting, e)
		kept++
	}
	r.cfg.Metrics.recorded.Add(float64(kept))
	if len(r.waiting) >= r.cfg.Buffer/2 { // wake the flusher before its time
		select {
		case r.full <- struct{}{}:
		default:
		}
	}
}

// Changed records a new follow, also one by an accepted request. It is a listener of
// app/relation.
func (r *Recorder) Changed(c relation.Change) {
	if c.Kind == relation.Followed && (c.Act == relation.ActFollow || c.Act == relation.ActAuthorize) {
		r.Record(Event{Actor: c.Actor, Target: c.Target, Kind: Follow})
	}
}

// Visit records that viewer looked at the page of target.
func (r *Recorder) Visit(viewer, target uint64) {
	if viewer == target || viewer == 0 || !r.visits.first(pair{viewer, target}, r.cfg.Now()) {
		return
	}
	r.Record(Event{Actor: viewer, Target: target, Kind: Visit})
}

// maxMarks bounds the accounts whose marks wait for the flush.
const maxMarks = 100_000

// Seen notes that an account is active.
func (r *Recorder) Seen(account uint64) {
	now := r.cfg.Now()
	if account == 0 || !r.seen.first(account, now) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && len(r.marks) < maxMarks {
		r.marks[account] = uint32(now.Unix())
	}
}

func (r *Recorder) run() {
	defer close(r.stopped)
	tick := time.NewTicker(r.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		case <-r.full:
		}
		r.flush(context.Background())
	}
}

// Close flushes what waits and takes no more. What ctx leaves no time for is lost, and
// the error counts it.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	r.mu.Unlock()
	if again {
		return nil
	}
	close(r.stop)
	select {
	case <-r.stopped:
		r.flush(ctx)
	case <-ctx.Done(): // the flusher hangs until its own deadline
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := r.taken + len(r.waiting); left > 0 {
		r.cfg.Metrics.drop(ended, left)
		return fmt.Errorf("%d interactions were not written", left)
	}
	return nil
}

// flush writes what waits. Only the flusher calls it, and Close after that.
func (r *Recorder) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	r.mu.Lock()
	r.unsure = append(r.unsure, r.waiting...)
	r.taken += len(r.waiting)
	marks := r.marks
	r.waiting, r.marks = nil, map[uint64]uint32{}
	r.mu.Unlock()
	err := r.sift(ctx)
	if err == nil {
		now := r.cfg.Now().UnixMilli()
		r.pending = append(r.pending, interaction.Batches(r.sure, func() uint64 { return interaction.NewID(now, rand.Uint64()) })...)
		r.sure = nil
		err = r.write(ctx)
	}
	left := len(r.unsure) + len(r.sure) + eventsIn(r.pending)
	r.mu.Lock()
	r.taken = left
	r.cfg.Metrics.waiting.Set(float64(r.taken + len(r.waiting)))
	r.mu.Unlock()
	if err = errors.Join(err, r.mark(ctx, marks)); err != nil {
		r.cfg.Logger.Warn("interactions wait for the database", "events", left, "err", err)
	}
}

// siftEvents is how many events are checked at once: their accounts are one statement
// where the cache has none of them.
const siftEvents = account.MaxRows / 2

// sift moves the events whose accounts exist from unsure to sure and drops the others,
// as long as accounts can be looked up.
func (r *Recorder) sift(ctx context.Context) error {
	for len(r.unsure) > 0 {
		part := r.unsure[:min(len(r.unsure), siftEvents)]
		kept, err := r.existing(ctx, part)
		switch {
		case err != nil && (ctx.Err() != nil || mayPass(err)):
			return err
		case err != nil: // as in write
			r.cfg.Metrics.drop(refused, len(part))
			r.cfg.Logger.Error("interactions dropped", "events", len(part), "err", err)
		default:
			r.cfg.Metrics.drop(unknown, len(part)-len(kept))
		}
		r.sure = append(r.sure, kept...)
		r.unsure = r.unsure[len(part):]
	}
	r.unsure = nil
	return nil
}

// existing returns the events between accounts that exist.
func (r *Recorder) existing(ctx context.Context, events []Event) ([]Event, error) {
	if r.cfg.Accounts == nil {
		return events, nil
	}
	ids := make([]uint64, 0, 2*len(events))
	for _, e := range events {
		ids = append(ids, e.Actor, e.Target)
	}
	slices.Sort(ids)
	there, err := r.cfg.Accounts.Load(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	var kept []Event
	for _, e := range events {
		if there[e.Actor].Ver > 0 && there[e.Target].Ver > 0 {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// write appends the pending batches to the log, a statement at a time.
func (r *Recorder) write(ctx context.Context) error {
	for len(r.pending) > 0 {
		part := r.pending[:statement(r.pending)]
		err := r.cfg.Log.Append(ctx, part)
		if err != nil && mayPass(err) {
			return err
		}
		if err != nil { // it would block all others for ever
			r.cfg.Metrics.drop(refused, eventsIn(part))
			r.cfg.Logger.Error("interactions dropped", "events", eventsIn(part), "err", err)
		} else {
			r.cfg.Metrics.written.Add(float64(eventsIn(part)))
		}
		r.pending = r.pending[len(part):]
	}
	r.pending = nil
	return nil
}

// mayPass reports whether the same write may succeed later.
func mayPass(err error) bool {
	return errors.Is(err, repo.ErrUnavailable) || errors.Is(err, repo.ErrConflict)
}

// statementBytes is about the longest statement: far below any packet limit.
const statementBytes = 256 << 10

// statement returns how many batches go into one statement.
func statement(batches []interaction.Batch) int {
	size := 0
	for i, b := range batches {
		if i == interaction.MaxRows || size > statementBytes {
			return i
		}
		size += len(b.Events)
	}
	return len(batches)
}

func eventsIn(batches []interaction.Batch) int {
	n := 0
	for _, b := range batches {
		n += int(b.N)
	}
	return n
}

// mark writes who was seen. A failure is not retried: who is active is seen again within
// the hour.
func (r *Recorder) mark(ctx context.Context, marks map[uint64]uint32) error {
	all := make([]seen.Mark, 0, len(marks))
	for id, at := range marks {
		all = append(all, seen.Mark{AccountID: id, At: at})
	}
	for part := range slices.Chunk(all, seen.MaxRows) {
		if err := r.cfg.Marks.Put(ctx, part); err != nil {
			return err
		}
	}
	return nil
}
