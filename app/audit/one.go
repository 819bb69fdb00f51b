package audit

import (
	"cmp"
	"context"
	"slices"

	"kith/repo/list"
)

// one audits one account, and the other side of each of its entries. What only
// others say about it takes a walk over all rows, which is made only if its own
// list is not as it must be.
func (a *auditor) one(ctx context.Context, id uint64) error {
	if missing, err := a.cfg.Rows.Missing(ctx, []uint64{id}); err != nil || missing[id] {
		a.orphans[id] = true
		return cmp.Or(err, a.forgetOrphans(ctx))
	}
	var own []entry
	l, err := a.look(ctx, id, false, false, func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			own = append(own, e)
			a.sums.add(e)
		})
	})
	if err != nil {
		return err
	}
	a.sum.Rows, a.sum.Segments = 1, l.segments
	a.sum.Edges, a.sum.Blocks, a.sum.Requests = a.sums.total(follow), a.sums.total(block), a.sums.total(request)
	if len(l.faults) > 0 || len(l.beside) > 0 {
		if err := a.doubt(ctx, l); err != nil {
			return err
		}
	}
	if err := a.rebuild(ctx); err != nil {
		return err
	}
	if err := a.verifyAll(ctx, a.shown()); err != nil {
		return err
	}
	slices.SortFunc(own, func(e, f entry) int { return cmp.Compare(e.other, f.other) })
	if err := a.nobodiesOf(ctx, id, own); err != nil {
		return err
	}
	return a.others(ctx, id, own)
}

// othersAtOnce is how many rows of others are read together.
const othersAtOnce = 64

// others holds what an account says, sorted by whom it is about, against what
// these say.
func (a *auditor) others(ctx context.Context, id uint64, own []entry) error {
	total := int64(len(own))
	for len(own) > 0 {
		about := map[uint64][]entry{}
		var ids []uint64
		for len(own) > 0 && (len(ids) < othersAtOnce || about[own[0].other] != nil) {
			other := own[0].other
			if about[other] == nil {
				ids = append(ids, other)
			}
			about[other] = append(about[other], own[0])
			own = own[1:]
		}
		suspects, err := a.suspects(ctx, id, ids, about)
		if err != nil {
			return err
		}
		if err := a.verifyAll(ctx, suspects); err != nil {
			return err
		}
		if err := a.step(ctx, "others", total-int64(len(own)), total); err != nil {
			return err
		}
	}
	return nil
}

// suspects returns the pairs of id and one of others who do not plainly say
// what id says about them.
func (a *auditor) suspects(ctx context.Context, id uint64, others []uint64, about map[uint64][]entry) (out []pair, err error) {
	rows, err := a.cfg.Rows.Fresh(ctx, others)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if theirs, err := openSide(rows[other]); err != nil || !confirms(theirs, id, about[other]) {
			out = append(out, pairOf(id, other))
		}
	}
	return out, nil
}

// confirms reports whether a row alone says of id what id says of its owner.
func confirms(theirs side, id uint64, about []entry) bool {
	if !theirs.knows(id) {
		return false
	}
	var want list.Rel
	mine, since := theirs.Times(id)
	for _, e := range about {
		bit, at := mirrored(e), since
		if bit == list.IsFollowing {
			at = mine
		}
		if e.kind == follow && e.at != at {
			return false
		}
		want |= bit
	}
	return theirs.Rel(id)&^(list.IsMuting|list.HasOption) == want
}

// mirrored is what the other's row must say where one says e.
func mirrored(e entry) list.Rel {
	return [relKinds][2]list.Rel{
		follow:  {list.IsFollowing, list.IsFollower},
		block:   {list.IsBlocking, list.IsBlockedBy},
		request: {list.IsRequested, list.HasRequest},
	}[e.kind][e.side()]
}
