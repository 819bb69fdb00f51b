package committer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"kith/repo"
)

// row is what the fake store keeps: a ver and the numbers that edits added.
type row struct {
	id, ver uint64
	log     []int
}

type draft struct {
	row
	changed bool
	lacks   bool // an edit asked for more
	whole   bool // and there is no more: it was read under its lock
}

func (d *draft) AccountID() uint64 { return d.id }
func (d *draft) Changed() bool     { return d.changed }
func (d *draft) Size() int         { return 100 + 8*len(d.log) }
func (d *draft) Lacks() bool       { return d.lacks }
func (d *draft) add(n int) {
	d.log = append(d.log, n)
	d.changed = true
}

// fake is a store in memory that swaps like the real one and can be told to
// stop, to lose and to fail.
type fake struct {
	mu     sync.Mutex
	rows   map[uint64]row
	stale  map[uint64]row // what the cache says, where it differs
	bad    map[uint64]bool
	limit  int           // bytes that a row may have
	lose   int           // swaps still to be lost
	away   bool          // the database does not answer
	gate   chan struct{} // a swap takes one token, where set
	begun  chan []uint64 // ids of each swap as it begins, where set
	swaps  [][]uint64
	locked int
}

func newFake() *fake {
	return &fake{rows: map[uint64]row{}, stale: map[uint64]row{}, bad: map[uint64]bool{}, limit: 1 << 30}
}

var errBad = errors.New("bad bytes")

func (f *fake) Load(_ context.Context, ids []uint64, fresh bool) (map[uint64]*draft, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return nil, fmt.Errorf("dial: %w", repo.ErrUnavailable)
	}
	out := map[uint64]*draft{}
	for _, id := range ids {
		if f.bad[id] {
			return nil, errBad
		}
		r, ok := f.rows[id]
		if s, old := f.stale[id]; old && !fresh {
			r, ok = s, true
		}
		if !ok {
			r = row{id: id}
		}
		r.log = append([]int(nil), r.log...)
		out[id] = &draft{row: r}
	}
	return out, nil
}

func (f *fake) Locked(ctx context.Context, ids []uint64, _ map[uint64]*draft, edit func(map[uint64]*draft) ([]row, error)) (bool, error) {
	drafts, err := f.Load(ctx, ids, true)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	f.locked++
	for _, d := range drafts {
		d.whole = true
	}
	f.mu.Unlock()
	rows, err := edit(drafts)
	if err != nil {
		return false, err
	}
	return f.Swap(ctx, rows)
}

func (f *fake) Pack(d *draft) (row, error) {
	if d.Size() > f.limit {
		return row{}, fmt.Errorf("pack: %w", repo.ErrTooLarge)
	}
	r := d.row
	r.ver++
	return r, nil
}

func (f *fake) Swap(_ context.Context, rows []row) (bool, error) {
	var ids []uint64
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	if f.begun != nil {
		f.begun <- ids
	}
	if f.gate != nil {
		<-f.gate
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lose > 0 {
		f.lose--
		return false, nil
	}
	next := maps.Clone(f.rows)
	for _, r := range rows {
		if f.rows[r.id].ver+1 != r.ver {
			return false, nil
		}
		next[r.id] = r
		delete(f.stale, r.id)
	}
	f.rows = next
	f.swaps = append(f.swaps, ids)
	return true, nil
}

func (f *fake) log(id uint64) []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows[id].log
}
