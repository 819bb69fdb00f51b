package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kith/repo/relation"
)

// auditAccount audits one account, and the other side of each of its entries. What only
// others say about it takes a pass over all rows, which is made only if its own row has
// faults, or to rebuild it.
func (a *auditor) auditAccount(ctx context.Context, id uint64) error {
	missing, err := a.cfg.Rows.Missing(ctx, []uint64{id})
	if err != nil {
		return err
	}
	if missing[id] {
		a.existed[id] = true
		return a.forgetUnknown(ctx)
	}
	x, err := a.examine(ctx, id, false)
	if err != nil {
		return err
	}
	a.sum.Rows, a.sum.Segments = 1, x.segments
	switch {
	case a.cfg.Rebuild:
		a.queueRebuild(x)
	case len(x.faults)+len(x.contradictory) > 0:
		if err := a.checkAccount(ctx, id); err != nil {
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

// othersAtOnce is how many rows of others one statement reads.
const othersAtOnce = 64

// others compares the entries of an account with those of the accounts that it names,
// and returns the pairs that seem not to agree, or of which one is unknown.
func (a *auditor) others(ctx context.Context, id uint64) (suspects []pair, err error) {
	own := map[uint64][]entry{}
	x, err := a.examine(ctx, id, false)
	if err != nil {
		return nil, err
	}
	a.sums = newSums(1)
	x.each(func(e entry) {
		own[e.other] = append(own[e.other], e)
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
		if _, is := rowed[other]; is {
			a.existed[other] = true
		}
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
					found = append(found, e)
				}
			}); err != nil {
				return nil, err
			}
			suspects = append(suspects, a.unmatched(found)...)
		}
		if err := a.step(ctx, "others", int64(done+len(part)), int64(len(named))); err != nil {
			return nil, err
		}
	}
	return suspects, nil
}

// about gives fn every entry of a row, and of its archive if it has one.
func (a *auditor) about(ctx context.Context, r relation.Row, fn func(entry)) error {
	if v, ok := simple(r); ok {
		eachEntry(r.ID, v, fn)
		return nil
	}
	x, err := a.examine(ctx, r.ID, false)
	x.each(fn)
	return err
}
