package audit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"kith/repo/relation"
)

// errAccounts is why no account is taken not to exist: the table of accounts is the
// likelier cause.
var errAccounts = errors.New("more than one account in ten does not exist: is the table account whole?")

// errHidden is why an unknown account stays in the rows that name it.
var errHidden = errors.New("what is left of other faults may show that an id was overwritten: audit again")

// plausible refuses to believe that very many accounts do not exist.
func plausible(missing, all int64) error {
	if missing > 10 && missing > all/10 {
		return errAccounts
	}
	return nil
}

// namesUnknown is the fault of a row that names an account that does not exist.
func namesUnknown(owner, id uint64) Fault {
	return between(Unknown, owner, id, "the row of account %d names %d, but there is no such account", owner, id)
}

// noteOrphan notes a row, or an archive, of an account that does not exist.
func (a *auditor) noteOrphan(id uint64) {
	a.strange++
	if len(a.orphans) < maxNoted {
		a.orphans[id] = true
	} else {
		a.sum.Unlooked++
	}
}

// vanished is how many rows name an account that does not exist where it was there
// once: no damage makes one id in so many rows.
const vanished = 10

// gone reports whether an account that does not exist was there once, so that a row
// which names it has lost nothing.
func (a *auditor) gone(id uint64) bool {
	return a.doubt == nil && (a.orphans[id] || a.vanished[id])
}

// dropOrphans makes orphans of those set aside that do not exist: there is nothing to
// rebuild.
func (a *auditor) dropOrphans(ctx context.Context) error {
	if a.doubt != nil {
		return nil
	}
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(a.aside)))
	for id := range missing {
		a.noteOrphan(id)
		delete(a.aside, id)
	}
	return err
}

// setUnknownAside notes which rows name accounts that do not exist, and returns the
// pairs of those that do.
func (a *auditor) setUnknownAside(ctx context.Context, suspects []pair) (known []pair, err error) {
	named := count(suspects)
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	for id := range missing {
		a.vanished[id] = a.vanished[id] || named[id] >= vanished
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

// forgetUnknown takes accounts that do not exist out of the rows that name them, and
// everything out of rows that they have.
func (a *auditor) forgetUnknown(ctx context.Context) error {
	orphans := slices.Sorted(maps.Keys(a.orphans))
	var full []uint64
	for _, id := range orphans {
		l, err := a.look(ctx, id, false)
		if err != nil {
			return err
		}
		if l.segments > 0 || l.row.Ver > 0 {
			full = append(full, id)
		}
		l.each(func(e entry) {
			if e.other != id && !a.orphans[e.other] {
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

// forget takes accounts that do not exist out of the row that names them, unless that is
// the trace of another entry that was overwritten.
func (a *auditor) forget(ctx context.Context, owner uint64, ids []uint64) error {
	if a.bad[owner] {
		return nil // what is wrong with it was reported
	}
	l, err := a.look(ctx, owner, false)
	if ids = l.named(ids); err != nil || len(ids) == 0 {
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
			ids = done.Unknown // without those that came to be meanwhile
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

// empty takes everything out of the row and archive of an account that does not exist.
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
