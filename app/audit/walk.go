package audit

import (
	"context"
	"maps"
	"slices"

	"kith/repo"
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
	*auditor
	phase string
	// each is given every entry of all lists that can be read.
	each func(entry)
	// wrong is given the accounts that seem to have faults, in the first pass. That also
	// notes the rows of unknown accounts. In others it is nil.
	wrong                    func(ctx context.Context, id uint64) error
	rows, archives, segments int64
}

func (w *walk) run(ctx context.Context) error {
	w.sum.Passes++
	for after, size := uint64(0), 64; ; {
		n, bytes, last := 0, 0, uint64(0)
		closer := map[uint64]bool{} // to be read together with their archive
		err := w.cfg.Rows.Walk(ctx, after, size, func(r relation.Row) error {
			n, bytes, last = n+1, bytes+len(r.List)+64, r.ID
			if v, ok := simple(r); ok {
				eachEntry(r.ID, v, w.each)
			} else {
				closer[r.ID] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n < size {
			last = lastKey
		}
		if err := w.read(ctx, closer, after, last); err != nil {
			return err
		}
		w.rows += int64(n)
		if err := w.step(ctx, w.phase, w.rows, w.total); err != nil || last == lastKey {
			return err
		}
		after, size = last, max(16, min(batchRows, 2*size, batchBytes*size/bytes))
	}
}

// simple returns the list of a row without an archive and without faults of its own.
func simple(r relation.Row) (list.View, bool) {
	v, err := list.Parse(r.List)
	return v, err == nil && v.Check() == nil && r.Ver <= repo.MaxVer && relation.Kept(v) == r.Counts && len(r.Archived) == 0 && relation.ColumnsOf(v.Len) == r.Columns && len(contradictions(v)) == 0
}

// read reads the accounts of a range of keys that have an archive, and those of closer.
// An account that has an archive though its row says none is in closer with false: the
// entries of its row were counted before.
func (w *walk) read(ctx context.Context, closer map[uint64]bool, after, last uint64) error {
	if w.wrong != nil {
		ids, err := w.cfg.Rows.Orphans(ctx, after, last)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.noteOrphan(id)
		}
	}
	for full := true; full; {
		ids, err := w.cfg.Rows.Archived(ctx, after, last, batchRows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, noted := closer[id]; !noted {
				closer[id] = false
			}
			after = id
		}
		w.archives += int64(len(ids))
		full = len(ids) == batchRows
	}
	for _, id := range slices.Sorted(maps.Keys(closer)) {
		x, err := w.examine(ctx, id, false)
		if err != nil {
			return err
		}
		if !closer[id] {
			x.views = x.views[1:]
		}
		x.each(w.each)
		w.segments += x.segments
		if w.wrong == nil || len(x.faults)+len(x.contradictory) == 0 {
			continue
		}
		if err := w.wrong(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
