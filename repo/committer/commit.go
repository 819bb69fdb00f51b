package committer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"kith/repo"
)

// commit commits edits and answers each.
func (c *Committer[D, R]) commit(edits []*edit[D]) {
	b := &batch[D, R]{c: c, edits: edits, answers: make([]error, len(edits))}
	for _, e := range edits {
		b.ids = append(b.ids, e.ids...)
	}
	slices.Sort(b.ids)
	b.ids = slices.Compact(b.ids)
	start := time.Now()
	for try := range c.cfg.Tries {
		if try > 0 {
			c.cfg.Pause(context.Background(), try)
		}
		done, err := b.try(try)
		switch {
		case err != nil && len(edits) > 1 && !errors.Is(err, repo.ErrUnavailable):
			half := len(edits) / 2 // one row may be the cause: only its own edits shall fail
			c.commit(edits[:half])
			c.commit(edits[half:])
			return
		case err != nil:
			b.answer(err)
			return
		case done:
			c.cfg.Metrics.seconds.Observe(time.Since(start).Seconds())
			b.answer(nil)
			return
		}
	}
	c.cfg.Metrics.given.Add(float64(len(edits)))
	b.answer(fmt.Errorf("commit %d edits: %d swaps lost: %w", len(edits), c.cfg.Tries, repo.ErrConflict))
}

// batch is the edits of one commit.
type batch[D Draft, R any] struct {
	c       *Committer[D, R]
	edits   []*edit[D]
	ids     []uint64 // their rows, each once
	answers []error
	loaded  map[uint64]D // by the first try
}

// answer gives each edit its own answer, or all the one error.
func (b *batch[D, R]) answer(err error) {
	for i, e := range b.edits {
		if e.err = err; err == nil {
			e.err = b.answers[i]
		}
		if e.err == nil {
			e.then()
		}
		close(e.done)
	}
}

// try is one attempt: the first on rows from the cache, later ones, those on contended
// rows, and those that need more than rows, on rows that are locked meanwhile.
func (b *batch[D, R]) try(n int) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.c.cfg.Timeout)
	defer cancel()
	var rows []R
	ready := false
	if n == 0 && !b.c.contended.among(b.ids) {
		if rows, ready, err = b.prepare(ctx); err != nil || ready && len(rows) == 0 {
			return ready, err
		}
	}
	if ready {
		if done, err = b.c.store.Swap(ctx, rows); !done && err == nil {
			b.c.contended.lost(b.shared())
		}
	} else {
		done, err = b.c.store.Locked(ctx, b.ids, b.loaded, func(drafts map[uint64]D) ([]R, error) {
			rows, err = b.apply(drafts)
			return rows, err
		})
	}
	switch m := b.c.cfg.Metrics; {
	case err != nil || len(rows) == 0:
	case done:
		m.swaps.WithLabelValues("won").Inc()
		m.edits.Observe(float64(len(b.edits)))
		m.rows.Observe(float64(len(rows)))
	default:
		m.swaps.WithLabelValues("lost").Inc()
	}
	return done, err
}

// prepare runs the edits on rows from the cache. Where the swap to come would not prove
// that every row an answer rests on was current, they run again on rows from the
// database. Not ready means that an edit needs more, which only Locked has.
func (b *batch[D, R]) prepare(ctx context.Context) (rows []R, ready bool, err error) {
	for _, fresh := range []bool{false, true} {
		if b.loaded, err = b.c.store.Load(ctx, b.ids, fresh); err != nil {
			return nil, false, err
		}
		if rows, err = b.apply(b.loaded); err != nil {
			return nil, false, err
		}
		proven := true
		for _, id := range b.ids {
			if b.loaded[id].Lacks() {
				return nil, false, nil
			}
			proven = proven && b.loaded[id].Changed()
		}
		if proven {
			break
		}
	}
	return rows, true, nil
}

// apply runs the edits on drafts and packs what changed. It refuses lists that would not
// fit into one statement.
func (b *batch[D, R]) apply(drafts map[uint64]D) ([]R, error) {
	bytes := 0
	for _, d := range drafts {
		bytes += d.Size()
	}
	if bytes > b.c.cfg.MaxBytes && len(b.edits) > 1 {
		return nil, fmt.Errorf("commit of %d bytes: %w", bytes, repo.ErrTooLarge)
	}
	for i, e := range b.edits {
		b.answers[i] = e.apply(drafts)
	}
	rows := make([]R, 0, len(drafts))
	for _, d := range drafts {
		if !d.Changed() {
			continue
		}
		r, err := b.c.store.Pack(d)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// shared returns the rows that several edits name, or all rows of a single edit, which does
// not tell which of them others change.
func (b *batch[D, R]) shared() (ids []uint64) {
	if len(b.edits) == 1 {
		return b.ids
	}
	named := map[uint64]int{}
	for _, e := range b.edits {
		for _, id := range e.ids {
			if named[id]++; named[id] == 2 {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// jitter waits a little, and longer after more tries.
func jitter(ctx context.Context, try int) {
	most := min(time.Millisecond<<min(try, 6), 50*time.Millisecond)
	t := time.NewTimer(rand.N(most))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

const (
	// contendedFor is how many commits of a row take its lock first, after one
	// that lost to another process.
	contendedFor = 16
	// maxContended bounds the rows that are remembered.
	maxContended = 1024
)

// contended remembers rows that other processes change too. An edit of such a row as the
// cache has it would mostly lose its swap.
type contended struct {
	mu   sync.Mutex
	left map[uint64]int // commits to come that lock
}

// lost notes rows of a lost batch: a row often changed here is often changed elsewhere.
func (c *contended) lost(ids []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == nil || len(c.left) > maxContended {
		c.left = map[uint64]int{}
	}
	for _, id := range ids {
		c.left[id] = contendedFor
	}
}

// among reports whether rows are better locked first, and counts these commits.
func (c *contended) among(ids []uint64) (found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if c.left[id] == 0 {
			continue
		}
		found = true
		if c.left[id]--; c.left[id] == 0 {
			delete(c.left, id)
		}
	}
	return found
}
