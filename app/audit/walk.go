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
	*auditor
	phase string
	// each is handed what every list that can be read says.
	each func(entry)
	// wrong, unless nil, is handed the accounts that may not be as they must.
	wrong func(ctx context.Context, id uint64) error
	// orphans has the rows of accounts that do not exist noted.
	orphans                  bool
	rows, archives, segments int64
}

func (w *walk) run(ctx context.Context) error {
	w.sum.Passes++
	var batch []relation.Stored
	for after, size := uint64(0), 64; ; {
		batch = batch[:0]
		bytes := 0
		err := w.cfg.Rows.Scan(ctx, after, size, func(r relation.Stored) error {
			batch, bytes = append(batch, r), bytes+len(r.List)+64
			return nil
		})
		if err != nil {
			return err
		}
		through := uint64(lastKey)
		if len(batch) == size {
			through = batch[size-1].AccountID
		}
		if err := w.read(ctx, batch, after, through); err != nil {
			return err
		}
		w.rows += int64(len(batch))
		if err := w.step(ctx, w.phase, w.rows, w.total); err != nil || through == lastKey {
			return err
		}
		after, size = through, max(16, min(batchRows, 2*size, batchBytes*size/bytes))
	}
}

// read hands over what a range of keys says: rows that are all there is of their
// account as they are, the others once more, together with their archive.
func (w *walk) read(ctx context.Context, batch []relation.Stored, after, through uint64) error {
	if w.orphans {
		ids, err := w.cfg.Rows.Orphans(ctx, after, through)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.noteOrphan(id)
		}
	}
	archived, err := w.archived(ctx, after, through)
	if err != nil {
		return err
	}
	w.archives += int64(len(archived))
	for _, r := range batch {
		if v, ok := simple(r); ok && !archived[r.AccountID] {
			eachEntry(r.AccountID, v, w.each)
		} else {
			archived[r.AccountID] = true
		}
	}
	for id := range archived {
		l, err := w.look(ctx, id, false)
		if err != nil {
			return err
		}
		l.each(w.each)
		w.segments += l.segments
		if w.wrong == nil || len(l.faults) == 0 && len(l.contradictory) == 0 {
			continue
		}
		if err := w.wrong(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// simple returns the list of a row that may be all there is of its account, and is
// right by itself.
func simple(r relation.Stored) (list.View, bool) {
	v, err := list.Parse(r.List)
	return v, err == nil && v.Check() == nil && relation.Kept(v) == r.Counts && len(r.Archived) == 0 && relation.ColumnsOf(v) == r.Columns && len(contradictions(v)) == 0
}

// archived returns the accounts in a range of keys that have an archive.
func (w *walk) archived(ctx context.Context, after, through uint64) (map[uint64]bool, error) {
	out := map[uint64]bool{}
	for {
		ids, err := w.cfg.Rows.Archived(ctx, after, through, batchRows)
		for _, id := range ids {
			out[id] = true
			after = id
		}
		if err != nil || len(ids) < batchRows {
			return out, err
		}
	}
}
