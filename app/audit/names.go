package audit

import (
	"context"

	"kith/repo/account"
)

// namesAtOnce is how many names, or accounts, are looked at together.
const namesAtOnce = account.MaxRows

// maxNames bounds the wrong names, and the accounts without one, that one audit
// remembers.
const maxNames = 10_000

// names audits which name is claimed for whom. What the walks find is checked again at
// their end, as a name and its account need not appear at the same moment. Names of
// no account are dropped first: another account may lack them.
func (a *auditor) names(ctx context.Context) error {
	if a.cfg.Names == nil {
		return nil
	}
	if a.cfg.Account != 0 {
		return a.giveName(ctx, a.cfg.Account)
	}
	wrong, err := a.wrongNames(ctx)
	if err != nil {
		return err
	}
	lacking, err := a.nameless(ctx)
	if err != nil {
		return err
	}
	doubt := plausible(int64(len(wrong)), a.sum.Names)
	for _, n := range wrong {
		if err := a.dropName(ctx, n, doubt); err != nil {
			return err
		}
	}
	for _, id := range lacking {
		if err := a.giveName(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// wrongNames returns the names that belong to no account, or to one that is called
// otherwise.
func (a *auditor) wrongNames(ctx context.Context) (wrong []account.Name, err error) {
	var after account.Name
	for {
		page, err := a.cfg.Names.Names(ctx, after, namesAtOnce)
		if err != nil || len(page) == 0 {
			return wrong, err
		}
		ids := make([]uint64, len(page))
		for i, n := range page {
			ids[i] = n.ID
		}
		stored, err := a.cfg.Names.Stored(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, n := range page {
			if !n.Good(stored[n.ID]) {
				wrong = append(wrong, n)
			}
		}
		wrong = atMost(a, wrong, maxNames)
		a.sum.Names += int64(len(page))
		after = page[len(page)-1]
		if err := a.step(ctx, "names", a.sum.Names, 0); err != nil {
			return nil, err
		}
	}
}

// atMost cuts what is found, and counts what is cut as not looked at.
func atMost[T any](a *auditor, found []T, most int) []T {
	n := min(len(found), most)
	a.sum.Unlooked += int64(len(found) - n)
	return found[:n]
}

// nameless returns the accounts that have no name row of their own.
func (a *auditor) nameless(ctx context.Context) (ids []uint64, err error) {
	for after, looked := uint64(0), int64(0); ; {
		page, err := a.cfg.Names.Walk(ctx, after, namesAtOnce)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		lacking, err := a.cfg.Names.Nameless(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, l := range lacking {
			ids = append(ids, l.ID)
		}
		ids = atMost(a, ids, maxNames)
		after, looked = page[len(page)-1].ID, looked+int64(len(page))
		if err := a.step(ctx, "nameless", looked, 0); err != nil {
			return nil, err
		}
	}
}

// dropName drops a name if it is still wrong.
func (a *auditor) dropName(ctx context.Context, n account.Name, doubt error) error {
	f := fault(Name, n.ID, "the name %q is claimed for it, but no account of this id has it", n.Name)
	return a.rename(ctx, f, doubt, func(dry bool) (bool, error) { return a.cfg.Names.DropName(ctx, n, dry) })
}

// giveName gives an account its name if it still lacks it.
func (a *auditor) giveName(ctx context.Context, id uint64) error {
	f := fault(Name, id, "its name is not claimed for it, so it cannot be found by name")
	return a.rename(ctx, f, nil, func(dry bool) (bool, error) { return a.cfg.Names.GiveName(ctx, id, dry) })
}

// rename reports a fault if a dry run of its repair finds it, and repairs it.
func (a *auditor) rename(ctx context.Context, f Fault, doubt error, repair func(dry bool) (bool, error)) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	wrong, err := repair(true)
	if err != nil || !wrong {
		return err
	}
	if f.Err = doubt; a.cfg.Repair && doubt == nil {
		f.Repaired, f.Err = repair(false)
	}
	a.report(f)
	return ctx.Err()
}
