package interaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/repo"
	"kith/repo/account"
	"kith/repo/interaction"
	"kith/repo/seen"
	"kith/repo/waittest"
)

// batchKey is the primary key of the log: an id may come again in another bucket.
type batchKey struct {
	bucket uint16
	id     uint64
}

// fakeLog keeps batches in memory; it can be made to fail or to hang.
type fakeLog struct {
	mu      sync.Mutex
	batches map[batchKey]interaction.Batch
	err     error
	hang    chan struct{} // closed: go on
	asked   chan struct{}
	marks   map[uint64]uint32
}

func newLog() *fakeLog {
	return &fakeLog{batches: map[batchKey]interaction.Batch{}, marks: map[uint64]uint32{}, asked: make(chan struct{}, 100)}
}

func (l *fakeLog) Append(ctx context.Context, batches []interaction.Batch) error {
	l.mu.Lock()
	fails := l.err // as it was when asked, whatever is set meanwhile
	l.mu.Unlock()
	l.asked <- struct{}{}
	if l.hang != nil {
		select {
		case <-l.hang:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", repo.ErrUnavailable, ctx.Err())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range batches {
		l.batches[batchKey{b.Bucket, b.ID}] = b
	}
	return fails // also where it arrived: the outcome was unknown
}

func (l *fakeLog) Put(_ context.Context, marks []seen.Mark) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range marks {
		l.marks[m.AccountID] = m.At
	}
	return nil
}

func (l *fakeLog) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// events returns what was logged.
func (l *fakeLog) events(t *testing.T) []Event {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Event
	for _, b := range l.batches {
		some, err := b.Decode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, some...)
	}
	slices.SortFunc(out, func(a, b Event) int { return int(a.Actor) - int(b.Actor) })
	return out
}

const moment = 1_700_000_000

func newRecorder(t *testing.T, l *fakeLog, change func(*Config)) *Recorder {
	t.Helper()
	cfg := Config{Log: l, Marks: l, Every: time.Hour, Buffer: 100, Weighs: func(k string) bool { return k != "none" },
		Now: func() time.Time { return time.Unix(moment, 0) }}
	if change != nil {
		change(&cfg)
	}
	r := New(cfg)
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	return r
}

func closed(t *testing.T, r *Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func event(actor, target uint64) Event {
	return Event{Actor: actor, Target: target, Kind: "visit", At: 9}
}

func dropped(r *Recorder, reason string) float64 {
	return testutil.ToFloat64(r.cfg.Metrics.dropped.WithLabelValues(reason))
}

func TestRecorder_Close(t *testing.T) {
	l := newLog()
	r := newRecorder(t, l, nil)
	r.Record(event(1, 2), event(3, 4))
	r.Seen(7)
	closed(t, r)
	if got := l.events(t); !slices.Equal(got, []Event{event(1, 2), event(3, 4)}) {
		t.Errorf("got %v", got)
	}
	if l.marks[7] != moment {
		t.Errorf("got %v, want 7 seen", l.marks)
	}
	r.Record(event(5, 6))
	if got := dropped(r, ended); got != 1 {
		t.Errorf("dropped %v after the end, want 1", got)
	}
	closed(t, r) // again
}

func TestRecorder_Refuses(t *testing.T) {
	l := newLog()
	r := newRecorder(t, l, nil)
	r.Record(event(1, 1), event(0, 2), event(1, 0), event(1<<63, 2), Event{Actor: 1, Target: 2, Kind: "none"},
		Event{Actor: 1, Target: 2, Kind: "visit"}, Event{Actor: 2, Target: 1, Kind: "visit", At: moment + 60})
	closed(t, r)
	want := []Event{{Actor: 1, Target: 2, Kind: "visit", At: moment}, {Actor: 2, Target: 1, Kind: "visit", At: moment}}
	if got := l.events(t); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A log that hangs delays nobody, and what does not fit is counted.
func TestRecorder_NeverWaits(t *testing.T) {
	l := newLog()
	l.hang = make(chan struct{})
	r := newRecorder(t, l, nil)
	for i := range uint64(60) {
		r.Record(event(i+1, 1000))
	}
	waittest.Receive(t, time.Minute, "flush", l.asked) // half full: the flusher has begun, and hangs
	for i := range uint64(1000) {
		r.Record(event(i+100, 5000))
	}
	if got := dropped(r, full); got != 960 {
		t.Errorf("dropped %v of 1060 with room for 100, want 960", got)
	}
	close(l.hang)
	closed(t, r)
	if got := l.events(t); len(got) != 100 {
		t.Errorf("%d were written, want 100", len(got))
	}
}

// A flush whose outcome is unknown is sent again under the same ids.
func TestRecorder_SentAgain(t *testing.T) {
	l := newLog()
	l.fail(fmt.Errorf("lost: %w", repo.ErrUnavailable))
	r := newRecorder(t, l, func(c *Config) { c.Every = time.Millisecond })
	r.Record(event(1, 2))
	waittest.Receive(t, time.Minute, "flush", l.asked)
	waittest.Receive(t, time.Minute, "flush", l.asked)
	l.fail(nil)
	closed(t, r)
	if got := l.events(t); len(got) != 1 {
		t.Errorf("got %v, want it once", got)
	}
}

// What can never be written does not hold up what follows.
func TestRecorder_Poison(t *testing.T) {
	l := newLog()
	l.fail(errors.New("no such table"))
	r := newRecorder(t, l, func(c *Config) { c.Every = time.Millisecond })
	r.Record(event(1, 2))
	waittest.Receive(t, time.Minute, "flush", l.asked)
	l.fail(nil)
	r.Record(event(3, 4))
	closed(t, r)
	if got := l.events(t); len(got) != 2 { // the fake kept the first too
		t.Errorf("got %v", got)
	}
	if got := dropped(r, refused); got != 1 {
		t.Errorf("dropped %v, want 1", got)
	}
}

// people are the accounts from 1 to last; they can be made to fail.
type people struct {
	mu    sync.Mutex
	last  uint64
	err   error
	asked chan int // how many at once
}

func (p *people) Load(_ context.Context, ids []uint64) (map[uint64]account.Account, error) {
	select {
	case p.asked <- len(ids):
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[uint64]account.Account{}
	for _, id := range ids {
		if id <= p.last {
			out[id] = account.Account{ID: id, Ver: 1}
		}
	}
	return out, p.err
}

func (p *people) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// Events with an unknown account do not get into the log.
func TestRecorder_UnknownAccounts(t *testing.T) {
	l, who := newLog(), &people{last: 1000, asked: make(chan int, 100)}
	r := newRecorder(t, l, func(c *Config) { c.Accounts, c.Buffer = who, 2000 })
	for i := range uint64(900) {
		r.Record(event(i+1, i+2))
	}
	r.Record(event(1, 1001), event(1001, 1), event(1001, 1002))
	closed(t, r)
	if got := l.events(t); len(got) != 900 {
		t.Errorf("%d are in the log, want the 900 between accounts that exist", len(got))
	}
	if got := dropped(r, unknown); got != 3 {
		t.Errorf("dropped %v, want 3", got)
	}
	close(who.asked)
	n := 0
	for ids := range who.asked {
		if n++; ids > account.MaxRows {
			t.Errorf("%d accounts are asked for at once", ids)
		}
	}
	if n != 4 {
		t.Errorf("asked %d times for 903 events, want 4", n)
	}
}

// Accounts that cannot be looked up now are later, and those that never can be
// take up no room for ever.
func TestRecorder_AccountsAway(t *testing.T) {
	l, who := newLog(), &people{last: 10, err: fmt.Errorf("lost: %w", repo.ErrUnavailable), asked: make(chan int)}
	r := newRecorder(t, l, func(c *Config) { c.Accounts, c.Every = who, time.Millisecond })
	r.Record(event(1, 2), event(1, 20))
	waittest.Receive(t, time.Minute, "question", who.asked)
	waittest.Receive(t, time.Minute, "question", who.asked) // the flush after the first has noted what is left
	r.mu.Lock()
	left := r.taken + len(r.waiting)
	r.mu.Unlock()
	if left != 2 || len(l.events(t)) != 0 {
		t.Errorf("%d wait and %d are in the log, want 2 and 0", left, len(l.events(t)))
	}
	who.fail(nil)
	closed(t, r)
	if got := l.events(t); !slices.Equal(got, []Event{event(1, 2)}) || dropped(r, unknown) != 1 {
		t.Errorf("got %v, dropped %v, want the one between people", got, dropped(r, unknown))
	}
	who.fail(errors.New("no such table"))
	r = newRecorder(t, l, func(c *Config) { c.Accounts = who })
	r.Record(event(3, 4))
	closed(t, r)
	if got := dropped(r, refused); got != 1 {
		t.Errorf("dropped %v, want 1", got)
	}
}

func TestRecorder_Close_OutOfTime(t *testing.T) {
	l := newLog()
	l.hang = make(chan struct{})
	r := newRecorder(t, l, nil)
	r.Record(event(1, 2))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); err == nil {
		t.Error("got no error, want one that counts what is lost")
	}
	if got := dropped(r, ended); got != 1 {
		t.Errorf("dropped %v, want 1", got)
	}
}

func TestRecorder_OnceAnHour(t *testing.T) {
	l := newLog()
	var at atomic.Int64
	at.Store(moment)
	r := newRecorder(t, l, func(c *Config) { c.Now = func() time.Time { return time.Unix(at.Load(), 0) } })
	for range 3 {
		r.Visit(1, 2)
	}
	r.Visit(2, 1)
	r.Visit(1, 1)
	r.Visit(0, 1)
	at.Add(3599)
	r.Visit(1, 2)
	at.Add(1)
	r.Visit(1, 2)
	closed(t, r)
	want := []Event{{Actor: 1, Target: 2, Kind: Visit, At: moment}, {Actor: 1, Target: 2, Kind: Visit, At: moment + 3600}, {Actor: 2, Target: 1, Kind: Visit, At: moment}}
	got := l.events(t)
	slices.SortFunc(got, func(a, b Event) int { return int(a.Actor)*10 - int(b.Actor)*10 + int(a.At) - int(b.At) })
	if len(got) != 3 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) || !slices.Contains(got, want[2]) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMemory_Bounded(t *testing.T) {
	m := newMemory[int]()
	at := time.Unix(moment, 0)
	for i := range 3 * maxMemory {
		m.first(i, at)
	}
	if n := len(m.now) + len(m.old); n > 2*maxMemory {
		t.Errorf("remembers %d", n)
	}
	if m.first(3*maxMemory-1, at) || !m.first(0, at) {
		t.Error("the newest must be known, the oldest forgotten")
	}
}

func BenchmarkRecorder_Record(b *testing.B) {
	l := newLog()
	l.asked = make(chan struct{}, 1<<20)
	r := New(Config{Log: l, Marks: l, Weighs: func(string) bool { return true }})
	defer r.Close(context.Background())
	b.RunParallel(func(pb *testing.PB) {
		for i := uint64(1); pb.Next(); i++ {
			r.Record(Event{Actor: i, Target: i + 1, Kind: "visit"})
		}
	})
}
