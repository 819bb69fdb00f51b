package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kith/repo/relation"
)

// one audits one account, and the other side of each of its entries. What only
// others say about it takes a walk over all rows, which is made only if its own
// list is not as it must be, or to rebuild it.
func (a *auditor) one(ctx context.Context, id uint64) error {
	missing, err := a.cfg.Rows.Missing(ctx, []uint64{id})
	if err != nil {
		return err
	}
	if missing[id] {
		a.orphans[id] = true
		return a.forgetUnknown(ctx)
	}
	l, err := a.look(ctx, id, false)
	if err != nil {
		return err
	}
	a.sum.Rows, a.sum.Segments = 1, l.segments
	switch {
	case a.cfg.Rebuild:
		a.setAside(l)
	case len(l.faults)+len(l.contradictory) > 0:
		if err := a.alone(ctx, id); err != nil {
			return err
		}
	}
	if err := a.rebuildAll(ctx); err != nil {
		return err
	}
	suspects, err := a.others(ctx, id)
	if err != nil {
		return err
	}
	if err := a.verify(ctx, suspects); err != nil {
		return err
	}
	return a.finish(ctx)
}

// othersAtOnce is how many rows of others are read together.
const othersAtOnce = 64

// others compares what an account says with what those say whom it names, and returns
// the pairs that do not agree as it seems, or of which one does not exist.
func (a *auditor) others(ctx context.Context, id uint64) (suspects []pair, err error) {
	own := map[uint64][]seen{}
	l, err := a.look(ctx, id, false)
	if err != nil {
		return nil, err
	}
	a.sums = newSums(1)
	l.each(func(e entry) {
		own[e.other] = append(own[e.other], seenOf(e))
		a.sums.count(e, 1)
	})
	a.sum.Edges, a.sum.Blocks, a.sum.Requests = a.sums.total(follow), a.sums.total(block), a.sums.total(request)
	named := slices.Sorted(maps.Keys(own))
	missing, err := a.cfg.Rows.Missing(ctx, named)
	if err != nil {
		return nil, err
	}
	a.doubt = cmp.Or(a.doubt, plausible(int64(len(missing)), int64(len(named))))
	rowed, err := a.cfg.Rows.Outlines(ctx, slices.Collect(maps.Keys(missing)))
	if err != nil {
		return nil, err
	}
	for other := range missing {
		_, a.vanished[other] = rowed[other] // one that was there once has a row
		suspects = append(suspects, pairOf(id, other))
	}
	for done := 0; done < len(named); done += othersAtOnce {
		part := named[done:min(done+othersAtOnce, len(named))]
		rows, err := a.cfg.Rows.Fresh(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, other := range part {
			found := own[other]
			if err := a.about(ctx, rows[other], func(e entry) {
				if e.other == id {
					found = append(found, seenOf(e))
				}
			}); err != nil {
				return nil, err
			}
			suspects = append(suspects, unmatched(found)...)
		}
		if err := a.step(ctx, "others", int64(done+len(part)), int64(len(named))); err != nil {
			return nil, err
		}
	}
	return suspects, nil
}

// about hands what a row, and its archive if it has one, says to fn.
func (a *auditor) about(ctx context.Context, r relation.Row, fn func(entry)) error {
	if v, err := r.View(); err == nil && relation.Kept(v) == r.Counts && len(r.Archived) == 0 {
		eachEntry(r.AccountID, v, fn)
		return nil
	}
	l, err := a.look(ctx, r.AccountID, false)
	l.each(fn)
	return err
}
