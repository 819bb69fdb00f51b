package audit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"kith/repo/relation"
)

// errAccounts is why no account counts as unknown: the table account is the likelier
// cause.
var errAccounts = errors.New("more than one account in ten does not exist: is the table account whole?")

// errHidden is why an unknown account stays in the rows that name it.
var errHidden = errors.New("what is left of other faults may show that an id was overwritten: audit again")

// plausible returns errAccounts where more accounts are missing than can be true.
func plausible(missing, all int64) error {
	if missing > 10 && missing > all/10 {
		return errAccounts
	}
	return nil
}

// namesUnknown is the fault of a row that names an unknown account.
func namesUnknown(owner, id uint64) Fault {
	return between(Unknown, owner, id, "the row of account %d names %d, but there is no such account", owner, id)
}

// noteOrphan remembers a row, or an archive, of an unknown account.
func (a *auditor) noteOrphan(id uint64) {
	a.orphanRows++
	if len(a.existed) < maxNoted {
		a.existed[id] = true
	} else {
		a.sum.Unlooked++
	}
}

// vanished is how many rows must name an unknown account for it to have existed once:
// no damage writes one id into so many rows.
const vanished = 10

// gone reports whether an unknown account existed once, so that a row which names it has
// lost nothing.
func (a *auditor) gone(id uint64) bool {
	return a.doubt == nil && a.existed[id]
}

// dropOrphans takes unknown accounts off the list of accounts to rebuild.
func (a *auditor) dropOrphans(ctx context.Context) error {
	if a.doubt != nil {
		return nil
	}
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(a.rebuilds)))
	for id := range missing {
		a.noteOrphan(id)
		delete(a.rebuilds, id)
	}
	return err
}

// splitUnknown notes which rows name accounts that do not exist, and returns the
// pairs of those that do.
func (a *auditor) splitUnknown(ctx context.Context, suspects []pair) (known []pair, err error) {
	named := count(suspects)
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	for id := range missing {
		if named[id] >= vanished {
			a.existed[id] = true
		}
	}
	for _, p := range suspects {
		switch {
		case !missing[p.a] && !missing[p.b]:
			known = append(known, p)
		case !missing[p.a]:
			a.unknown[p.a] = append(a.unknown[p.a], p.b)
		case !missing[p.b]:
			a.unknown[p.b] = append(a.unknown[p.b], p.a)
		}
	}
	return known, nil
}

// forgetUnknown takes unknown accounts out of the rows that name them, and empties the
// rows that they have.
func (a *auditor) forgetUnknown(ctx context.Context) error {
	var full []uint64
	for _, id := range slices.Sorted(maps.Keys(a.existed)) {
		if a.cfg.Account != 0 && a.cfg.Account != id {
			continue
		}
		x, err := a.examine(ctx, id, false)
		if err != nil {
			return err
		}
		if x.segments > 0 || x.row.Ver > 0 {
			full = append(full, id)
		}
		x.each(func(e entry) {
			if e.other != id && !a.existed[e.other] {
				a.unknown[e.other] = append(a.unknown[e.other], id)
			}
		})
	}
	for _, owner := range slices.Sorted(maps.Keys(a.unknown)) {
		ids := a.unknown[owner]
		slices.Sort(ids)
		if err := a.forget(ctx, owner, slices.Compact(ids)); err != nil {
			return err
		}
	}
	for _, id := range full {
		if err := a.empty(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// forget takes unknown accounts out of the row that names them, unless one of them may
// stand where another id was overwritten.
func (a *auditor) forget(ctx context.Context, owner uint64, ids []uint64) error {
	if a.bad[owner] {
		return nil // what is wrong with it was reported
	}
	x, err := a.examine(ctx, owner, false)
	if ids = x.named(ids); err != nil || len(ids) == 0 {
		return err
	}
	why, rebuild := a.doubt, uint64(0)
	if overwritten := slices.ContainsFunc(ids, func(id uint64) bool { return !a.gone(id) }); why == nil && overwritten {
		switch {
		case a.unsound[owner] || a.cfg.Account != 0 && !a.cfg.Rebuild:
			why, rebuild = lostError(owner), owner
		case a.cfg.Repair && a.sum.Unlooked+int64(len(a.bad)) > 0:
			why = errHidden
		}
	}
	if a.cfg.Repair && why == nil {
		if err := a.pause(ctx); err != nil {
			return err
		}
		var done relation.Rebuilt
		if done, why = a.cfg.Rows.Rebuild(ctx, owner, &relation.Evidence{KeepOwn: true, Unknown: ids}); why == nil {
			ids = done.Unknown // without accounts that were made meanwhile
		}
	}
	var faults []Fault
	for _, id := range ids {
		f := namesUnknown(owner, id)
		f.Rebuild = rebuild
		faults = append(faults, f)
	}
	a.reportAll(faults, why)
	return ctx.Err()
}

// empty takes everything out of the row and archive of an unknown account.
func (a *auditor) empty(ctx context.Context, id uint64) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	was, why := true, a.doubt
	if a.cfg.Repair && why == nil {
		was, why = a.cfg.Rows.Empty(ctx, id)
	}
	if was || why != nil {
		a.reportAll([]Fault{fault(Unknown, id, "there is a row or an archive with entries, but no such account")}, why)
	}
	return ctx.Err()
}
