package timeline

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"kith/repo/event"
)

// TestLines_Promise has authors, readers and losses at work at the same time: no reader gets
// a line that lacks what was pushed before it asked.
func TestLines_Promise(t *testing.T) {
	for _, h := range holders {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			lines := h.open(t)
			var f feed
			var work sync.WaitGroup
			readers, stop := []uint64{newAccount(), newAccount(), newAccount()}, make(chan struct{})
			for author := range 3 {
				work.Go(func() {
					for i := range 150 {
						e := post(1 + 3*i + author)
						f.commit(e)
						if err := lines.Push(t.Context(), []event.Event{e}, readers); err != nil {
							t.Error(err)
						}
						f.pushed(e)
					}
				})
			}
			var lookers sync.WaitGroup
			for i := range 2 * len(readers) {
				lookers.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 1))
					for {
						select {
						case <-stop:
							return
						default:
						}
						a := readers[i/2]
						f.read(t, lines, a, r.IntN(4) == 0)
						if r.IntN(20) == 0 {
							lines.Drop(t.Context(), a)
						}
					}
				})
			}
			work.Wait()
			close(stop)
			lookers.Wait()
			for _, a := range readers {
				f.read(t, lines, a, false)
			}
		})
	}
}

// feed is what the database has: events that were committed, and among them those that were
// pushed.
type feed struct {
	mu              sync.Mutex
	committed, sent []event.Event
}

func (f *feed) commit(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.committed = append(f.committed, e)
}

func (f *feed) pushed(e event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, e)
}

// newestFirst returns what was committed, or only what was pushed.
func (f *feed) newestFirst(sent bool) []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.committed)
	if sent {
		all = slices.Clone(f.sent)
	}
	slices.SortFunc(all, func(a, b event.Event) int { return int(b.ID>>20) - int(a.ID>>20) })
	return all
}

// read is a reader's visit: it loads the line or builds it anew, and stores it where compact
// says so. What was pushed before must be in it.
func (f *feed) read(t *testing.T, lines Lines, a uint64, compact bool) {
	t.Helper()
	before := f.newestFirst(true)
	l, token, ok := lines.Load(t.Context(), a)
	if l = l.Whole(); !ok {
		token = lines.Begin(t.Context(), a)
		l = filled(f.newestFirst(false))
	}
	for _, e := range before {
		if !slices.Contains(l.Events, e) {
			t.Errorf("a line of %d events lacks %d, which was pushed before", len(l.Events), e.ID)
			return
		}
	}
	if compact || !ok {
		if _, err := lines.Store(t.Context(), token, l); err != nil {
			t.Error(err)
		}
	}
}
