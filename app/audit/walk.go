package audit

import (
	"context"

	"kith/repo/list"
	"kith/repo/relation"
)

const (
	// batchBytes is about how much one statement of a walk reads.
	batchBytes = 4 << 20
	// batchRows is how many rows at most.
	batchRows = 1000
	// lastKey comes last in key order.
	lastKey = 1<<64 - 1
)

// walk reads every row in key order, and the archive of those that have one.
type walk struct {
	a     *auditor
	phase string
	// part is handed every list that can be read.
	part func(owner uint64, v list.View)
	// doubtful, unless nil, is handed what was found of an account that may not
	// be as it must.
	doubtful func(ctx context.Context, l *look) error
	// between, unless nil, is handed the range of each batch before its accounts
	// are looked at closer.
	between                  func(ctx context.Context, after, through uint64) error
	rows, archives, segments int64

	later []later
	size  int // rows to read next
	bytes int // of a row of the last batch, about
}

// later is an account to be read together with its archive.
type later struct {
	id      uint64
	rowSeen bool
}

func (a *auditor) walk(phase string, part func(owner uint64, v list.View)) *walk {
	return &walk{a: a, phase: phase, part: part, size: 64}
}

func (w *walk) run(ctx context.Context) error {
	w.a.sum.Passes++
	after := uint64(0)
	for {
		last, n, err := w.batch(ctx, after)
		if err != nil {
			return err
		}
		through := last
		if n < w.size {
			through = lastKey
		}
		if w.between != nil {
			if err := w.between(ctx, after, through); err != nil {
				return err
			}
		}
		if err := w.archived(ctx, after, through); err != nil {
			return err
		}
		if err := w.examineAll(ctx); err != nil {
			return err
		}
		w.rows += int64(n)
		if err := w.a.step(ctx, w.phase, w.rows, w.a.total); err != nil {
			return err
		}
		if through == lastKey {
			return nil
		}
		after = last
		w.resize(n)
	}
}

// batch reads some rows and hands over those that need no archive.
func (w *walk) batch(ctx context.Context, after uint64) (last uint64, n int, err error) {
	bytes := 0
	err = w.a.cfg.Rows.Scan(ctx, after, w.size, func(r relation.Stored) error {
		last = r.AccountID
		n++
		bytes += len(r.List) + 64
		if !w.simple(r) {
			w.later = append(w.later, later{id: r.AccountID})
		}
		return nil
	})
	if n > 0 {
		w.bytes = bytes / n
	}
	return last, n, err
}

// resize reads so many rows next that they are some batchBytes.
func (w *walk) resize(n int) {
	w.size = max(16, min(batchRows, 2*n, batchBytes/max(w.bytes, 1)))
}

// simple hands over a row that is all there is of its account, and right by
// itself; false if it is not.
func (w *walk) simple(r relation.Stored) bool {
	v, err := list.Parse(r.List)
	if err != nil || v.Check() != nil || relation.Kept(v) != r.Counts || len(r.Archived) > 0 || relation.ColumnsOf(v) != r.Columns || len(contradictions(v)) > 0 {
		return false
	}
	w.part(r.AccountID, v)
	return true
}

// archived adds the accounts that have an archive to those to be examined.
func (w *walk) archived(ctx context.Context, after, through uint64) error {
	known := make(map[uint64]bool, len(w.later))
	for _, l := range w.later {
		known[l.id] = true
	}
	for {
		ids, err := w.a.cfg.Rows.Archived(ctx, after, through, batchRows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.archives++
			if !known[id] {
				w.later = append(w.later, later{id: id, rowSeen: true})
			}
		}
		if len(ids) < batchRows {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// examineAll reads the accounts that were put off.
func (w *walk) examineAll(ctx context.Context) error {
	for _, l := range w.later {
		if err := w.examine(ctx, l); err != nil {
			return err
		}
	}
	w.later = w.later[:0]
	return nil
}

func (w *walk) examine(ctx context.Context, one later) error {
	l, err := w.a.look(ctx, one.id, false, one.rowSeen, w.part)
	if err != nil {
		return err
	}
	w.segments += l.segments
	if w.doubtful == nil || len(l.faults) == 0 && len(l.beside) == 0 {
		return nil
	}
	return w.doubtful(ctx, l)
}

// look reads one account as of one moment.
func (a *auditor) look(ctx context.Context, id uint64, locked, rowSeen bool, part func(uint64, list.View)) (*look, error) {
	l := &look{part: part, rowSeen: rowSeen}
	err := a.cfg.Rows.Examine(ctx, id, locked, l.onRow, l.onSegment)
	if err == nil {
		l.end()
	}
	return l, err
}

// nobody is a part that is handed to nobody.
func nobody(uint64, list.View) {}
