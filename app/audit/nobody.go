package audit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"kith/repo/list"
)

// maxOrphans bounds the accounts that do not exist and that one audit remembers.
const maxOrphans = 10_000

// errAccounts is why nobody is forgotten: the table of accounts is the likelier
// cause.
var errAccounts = errors.New("more than one account in ten does not exist: is the table account whole?")

// plausible refuses to believe that very many accounts do not exist.
func plausible(missing, all int64) error {
	if missing > 10 && missing > all/10 {
		return errAccounts
	}
	return nil
}

// noteOrphans finds the rows of accounts that do not exist, in a range of keys.
func (a *auditor) noteOrphans(ctx context.Context, after, through uint64) error {
	ids, err := a.cfg.Rows.Orphans(ctx, after, through)
	for _, id := range ids {
		a.noteOrphan(id)
	}
	return err
}

func (a *auditor) noteOrphan(id uint64) {
	a.nobodies++
	if len(a.orphans) < maxOrphans {
		a.orphans[id] = true
	}
}

// lone reports whether all that the row of id says is to be forgotten.
func (a *auditor) lone(id uint64) bool { return a.orphans[id] && a.doubted == nil }

// orphanAside makes orphans of those set aside that do not exist: nothing is
// to be made anew for them.
func (a *auditor) orphanAside(ctx context.Context) error {
	if len(a.aside) == 0 || a.doubted != nil {
		return nil
	}
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(a.aside)))
	for id := range missing {
		a.noteOrphan(id)
		delete(a.aside, id)
	}
	return err
}

// forgetOrphans has all forgotten that is said about accounts that do not exist
// but have a row, in the rows that theirs name and at last in theirs.
func (a *auditor) forgetOrphans(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(a.orphans)) {
		others := map[uint64]bool{}
		l, err := a.look(ctx, id, false, false, func(owner uint64, v list.View) {
			eachEntry(owner, v, func(e entry) { others[e.other] = true })
		})
		if err != nil {
			return err
		}
		for _, other := range slices.Sorted(maps.Keys(others)) {
			if other == id || a.orphans[other] {
				continue
			}
			if err := a.forget(ctx, other, []uint64{id}); err != nil {
				return err
			}
		}
		if l.segments > 0 || l.row.Ver > 0 {
			if err := a.forget(ctx, id, nil); err != nil {
				return err
			}
		}
	}
	if more := a.nobodies - int64(len(a.orphans)); more > 0 {
		a.sum.Unlooked += more
	}
	return nil
}

// forgetNobodies has accounts that do not exist forgotten by those who name
// them, and returns the pairs of accounts that exist.
func (a *auditor) forgetNobodies(ctx context.Context, suspects []pair) ([]pair, error) {
	ids := make([]uint64, 0, 2*len(suspects))
	for _, p := range suspects {
		ids = append(ids, p.a, p.b)
	}
	slices.Sort(ids)
	missing, err := a.cfg.Rows.Missing(ctx, slices.Compact(ids))
	if err != nil || len(missing) == 0 {
		return suspects, err
	}
	named, by := map[uint64][]uint64{}, map[uint64]int{}
	for _, p := range suspects {
		switch {
		case a.bad[p.a] || a.bad[p.b] || a.reported[p] || missing[p.a] == missing[p.b]:
		case missing[p.a]:
			named[p.b] = append(named[p.b], p.a)
			by[p.a]++
		default:
			named[p.a] = append(named[p.a], p.b)
			by[p.b]++
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(named)) {
		if err := a.sweep(ctx, owner, named[owner], by); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(suspects, func(p pair) bool { return missing[p.a] || missing[p.b] }), nil
}

// nobodiesIn returns those of ids that a row names and that do not exist.
func (a *auditor) nobodiesIn(ctx context.Context, owner uint64, ids []uint64) ([]uint64, error) {
	gone, err := a.cfg.Edits.Forget(ctx, owner, ids, true)
	if errors.Is(err, list.ErrFormat) {
		return nil, nil // damaged since: the next audit finds it
	}
	return gone, err
}

// forget has a row forget those of ids that do not exist, or everything if its
// account does not, and reports a fault for each.
func (a *auditor) forget(ctx context.Context, owner uint64, ids []uint64) error {
	if a.bad[owner] {
		return nil // what is wrong with it was reported
	}
	if err := a.pause(ctx); err != nil {
		return err
	}
	gone, err := a.nobodiesIn(ctx, owner, ids)
	if err != nil || len(gone) == 0 {
		return err
	}
	failed := a.doubted
	if a.cfg.Repair && failed == nil {
		var done []uint64
		if done, failed = a.cfg.Edits.Forget(ctx, owner, ids, false); failed == nil {
			gone = done // without those that came to be meanwhile
		}
	}
	var faults []Fault
	for _, id := range gone {
		if id == owner {
			faults = append(faults, fault(Nobody, id, "there is a row or an archive with entries, but no such account"))
			continue
		}
		faults = append(faults, namesNobody(owner, id))
		a.reported[pairOf(owner, id)] = true
	}
	a.reportAll(faults, failed)
	return ctx.Err()
}

// vanished is how many rows name one who does not exist where that account was
// there once, and its row too: no damage makes one id in so many rows.
const vanished = 10

// sweep has a row forget who does not exist. Where no other reason is known, such
// an id is one that was overwritten: the row has lost who stood there, and is
// filled. by is how many rows name an id.
func (a *auditor) sweep(ctx context.Context, owner uint64, ids []uint64, by map[uint64]int) error {
	if a.bad[owner] || a.aside[owner] != nil {
		return nil
	}
	odd := slices.ContainsFunc(ids, func(id uint64) bool { return by[id] < vanished })
	if !odd || a.doubted != nil {
		return a.forget(ctx, owner, ids)
	}
	_, err := a.asideNobodies(ctx, owner, ids)
	return err
}

// nobodiesOf has one account forget those whom it names and who do not exist.
func (a *auditor) nobodiesOf(ctx context.Context, id uint64, own []entry) error {
	var ids []uint64
	for _, e := range own {
		ids = append(ids, e.other)
	}
	ids = slices.Compact(ids)
	missing, err := a.cfg.Rows.Missing(ctx, ids)
	if err != nil || len(missing) == 0 {
		return err
	}
	a.doubted = plausible(int64(len(missing)), int64(len(ids)))
	if err := a.sweep(ctx, id, slices.Sorted(maps.Keys(missing)), nil); err != nil {
		return err
	}
	return a.rebuild(ctx)
}
