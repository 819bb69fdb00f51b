package committer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"kith/repo"
)

// commit carries a batch to its end and answers every edit in it.
func (c *Committer[D, R]) commit(batch []*edit[D]) {
	b := &commit[D, R]{c: c, edits: batch, answers: make([]error, len(batch))}
	start := time.Now()
	err := b.carryOut()
	if err == nil && !b.split {
		c.cfg.Metrics.took(time.Since(start))
	}
	for i, e := range batch {
		if b.split {
			break // the halves answered
		}
		e.err = b.answers[i]
		if err != nil {
			e.err = err
		}
		if e.err == nil {
			e.then()
		}
		close(e.done)
	}
}

// commit is one batch and where it stands.
type commit[D Draft, R any] struct {
	c       *Committer[D, R]
	edits   []*edit[D]
	answers []error
	loaded  map[uint64]D // by the first try
	split   bool
}

// carryOut tries until the batch is committed or may not be tried again.
func (b *commit[D, R]) carryOut() error {
	for try := range b.c.cfg.Tries {
		if try > 0 {
			b.c.cfg.Pause(context.Background(), try)
		}
		done, err := b.try(try)
		switch {
		case err != nil && len(b.edits) > 1 && !errors.Is(err, repo.ErrUnavailable):
			b.halve() // one row may be the cause: only its own edits shall fail
			return nil
		case err != nil:
			return err
		case done:
			return nil
		}
	}
	b.c.cfg.Metrics.gaveUp(len(b.edits))
	return fmt.Errorf("commit %d edits: %d swaps lost: %w", len(b.edits), b.c.cfg.Tries, repo.ErrConflict)
}

// halve commits the two halves one after the other.
func (b *commit[D, R]) halve() {
	b.split = true
	half := len(b.edits) / 2
	b.c.commit(b.edits[:half])
	b.c.commit(b.edits[half:])
}

// try is one go: the first on rows as the cache has them, the others, and those of
// rows that others change too, on rows that are locked meanwhile.
func (b *commit[D, R]) try(n int) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.c.cfg.Timeout)
	defer cancel()
	if n == 0 && !b.c.contended.among(b.ids()) {
		return b.optimistic(ctx)
	}
	return b.locked(ctx)
}

func (b *commit[D, R]) optimistic(ctx context.Context) (done bool, err error) {
	var rows []R
	for _, fresh := range []bool{false, true} {
		drafts, err := b.c.store.Load(ctx, b.ids(), fresh)
		if err != nil {
			return false, err
		}
		b.loaded = drafts
		rows, err = b.apply(drafts)
		if err != nil || lacking(drafts) {
			return false, err
		}
		if fresh || b.proven(drafts) {
			break
		}
	}
	if len(rows) == 0 {
		return true, nil
	}
	done, err = b.c.store.Swap(ctx, rows)
	if !done && err == nil {
		b.c.contended.lost(b.edited())
	}
	b.count(done, err, len(rows))
	return done, err
}

func (b *commit[D, R]) locked(ctx context.Context) (done bool, err error) {
	var rows []R
	done, err = b.c.store.Locked(ctx, b.ids(), b.loaded, func(drafts map[uint64]D) ([]R, error) {
		rows, err = b.apply(drafts)
		return rows, err
	})
	b.count(done, err, len(rows))
	return done, err
}

func (b *commit[D, R]) count(won bool, err error, rows int) {
	if err == nil && rows > 0 {
		b.c.cfg.Metrics.swapped(won, rows, len(b.edits))
	}
}

// apply runs the edits on drafts and packs what changed.
func (b *commit[D, R]) apply(drafts map[uint64]D) ([]R, error) {
	if err := b.weigh(drafts); err != nil {
		return nil, err
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

// weigh refuses a batch whose lists would not fit into one statement.
func (b *commit[D, R]) weigh(drafts map[uint64]D) error {
	if len(b.edits) == 1 {
		return nil
	}
	bytes := 0
	for _, d := range drafts {
		bytes += d.Size()
	}
	if bytes > b.c.cfg.MaxBytes {
		return fmt.Errorf("commit of %d bytes: %w", bytes, repo.ErrTooLarge)
	}
	return nil
}

// lacking reports whether the batch has to go by the locked way.
func lacking[D Draft](drafts map[uint64]D) bool {
	for _, d := range drafts {
		if d.Lacks() {
			return true
		}
	}
	return false
}

// proven reports whether the swap to come will prove that every row an answer
// rests on was current.
func (b *commit[D, R]) proven(drafts map[uint64]D) bool {
	for _, e := range b.edits {
		for _, id := range e.ids {
			if !drafts[id].Changed() {
				return false
			}
		}
	}
	return true
}

// edited returns the rows of each edit.
func (b *commit[D, R]) edited() [][]uint64 {
	all := make([][]uint64, len(b.edits))
	for i, e := range b.edits {
		all[i] = e.ids
	}
	return all
}

// ids returns the rows of the batch, each once, sorted.
func (b *commit[D, R]) ids() []uint64 {
	var ids []uint64
	for _, e := range b.edits {
		ids = append(ids, e.ids...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
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
