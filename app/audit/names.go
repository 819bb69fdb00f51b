package audit

import (
	"context"

	"kith/repo/account"
)

// Name is the kind of a fault of username: a name that is claimed for nobody, or an
// account whose name is not claimed for it.
const Name Kind = "name"

// Names reads and mends who has claimed which name.
type Names interface {
	Names(ctx context.Context, after account.Name, limit int) ([]account.Name, error)
	Walk(ctx context.Context, after uint64, limit int) ([]account.Account, error)
	Stored(ctx context.Context, ids []uint64) (map[uint64]account.Account, error)
	Nameless(ctx context.Context, accounts []account.Account) ([]account.Account, error)
	DropName(ctx context.Context, n account.Name, dry bool) (bool, error)
	GiveName(ctx context.Context, id uint64, dry bool) (bool, error)
}

var _ Names = (*account.Store)(nil)

// namesAtOnce is how many names, or accounts, are looked at together.
const namesAtOnce = account.MaxRows

// maxNames bounds the wrong names, and the accounts without one, that one audit
// remembers.
const maxNames = 10_000

// names audits who has claimed which name. What the walks find is judged again at
// their end, as a name and its account need not appear at the same moment. Names of
// nobody go first: their rightful owner may lack them.
func (a *auditor) names(ctx context.Context) error {
	if a.cfg.Names == nil {
		return nil
	}
	if a.cfg.Account != 0 {
		return a.giveName(ctx, a.cfg.Account)
	}
	wrong, all, err := a.wrongNames(ctx)
	if err != nil {
		return err
	}
	lacking, err := a.nameless(ctx)
	if err != nil {
		return err
	}
	doubted := plausible(int64(len(wrong)), all)
	for _, n := range wrong {
		if err := a.dropName(ctx, n, doubted); err != nil {
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

// wrongNames returns the names that belong to nobody, or to somebody who is called
// otherwise, and how many names there are.
func (a *auditor) wrongNames(ctx context.Context) (wrong []account.Name, all int64, err error) {
	var after account.Name
	for {
		page, err := a.cfg.Names.Names(ctx, after, namesAtOnce)
		if err != nil || len(page) == 0 {
			return wrong, all, err
		}
		ids := make([]uint64, len(page))
		for i, n := range page {
			ids[i] = n.ID
		}
		stored, err := a.cfg.Names.Stored(ctx, ids)
		if err != nil {
			return nil, 0, err
		}
		for _, n := range page {
			if n.Good(stored[n.ID]) {
				continue
			}
			if len(wrong) < maxNames {
				wrong = append(wrong, n)
			} else {
				a.sum.Unlooked++
			}
		}
		all += int64(len(page))
		a.sum.Names = all
		after = page[len(page)-1]
		if err := a.step(ctx, "names", all, 0); err != nil {
			return nil, 0, err
		}
	}
}

// nameless returns the accounts that have no name row of their own.
func (a *auditor) nameless(ctx context.Context) (ids []uint64, err error) {
	after, looked := uint64(0), int64(0)
	for {
		page, err := a.cfg.Names.Walk(ctx, after, namesAtOnce)
		if err != nil || len(page) == 0 {
			return ids, err
		}
		lacking, err := a.cfg.Names.Nameless(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, l := range lacking {
			if len(ids) < maxNames {
				ids = append(ids, l.ID)
			} else {
				a.sum.Unlooked++
			}
		}
		after, looked = page[len(page)-1].ID, looked+int64(len(page))
		if err := a.step(ctx, "accounts", looked, 0); err != nil {
			return nil, err
		}
	}
}

// dropName reports a name that is wrong still, and drops it.
func (a *auditor) dropName(ctx context.Context, n account.Name, doubted error) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	wrong, err := a.cfg.Names.DropName(ctx, n, true)
	if err != nil || !wrong {
		return err
	}
	f := fault(Name, n.ID, "the name %q is claimed for it, but no account of this id has it", n.Name)
	if a.cfg.Repair {
		if f.Err = doubted; doubted == nil {
			f.Mended, f.Err = a.cfg.Names.DropName(ctx, n, false)
		}
	}
	a.report(f)
	return ctx.Err()
}

// giveName reports an account that lacks its name still, and gives it that.
func (a *auditor) giveName(ctx context.Context, id uint64) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	lacks, err := a.cfg.Names.GiveName(ctx, id, true)
	if err != nil || !lacks {
		return err
	}
	f := fault(Name, id, "its name is not claimed for it: nobody finds it by name")
	if a.cfg.Repair {
		f.Mended, f.Err = a.cfg.Names.GiveName(ctx, id, false)
	}
	a.report(f)
	return ctx.Err()
}
