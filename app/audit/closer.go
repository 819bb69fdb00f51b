package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kith/repo/list"
)

// pair is two accounts, the smaller id first.
type pair struct{ a, b uint64 }

func pairOf(x, y uint64) pair { return pair{min(x, y), max(x, y)} }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
}

// closer finds what makes the sides of slices differ.
func (a *auditor) closer(ctx context.Context) error {
	d, n := a.sums.differing()
	a.sum.Slices = n
	groups := a.sums.groups(d, a.cfg.Collect)
	for i, g := range groups {
		if i >= maxPasses {
			a.sum.Unlooked += g.size()
			continue
		}
		found, err := a.gather(ctx, g)
		if err != nil {
			return err
		}
		suspects := unmatched(found)
		if suspects, err = a.gone(ctx, suspects); err != nil {
			return err
		}
		if err := a.verifyAll(ctx, append(suspects, a.shown()...)); err != nil {
			return err
		}
	}
	return nil
}

// seen is an entry of a slice that differs, as one side has it.
type seen struct {
	from, to uint64
	at       uint32
	kind     relKind
	out      bool
}

func (s seen) compare(t seen) int {
	return cmp.Or(cmp.Compare(s.kind, t.kind), cmp.Compare(s.from, t.from), cmp.Compare(s.to, t.to))
}

// gather walks all rows once and keeps the entries of some slices.
func (a *auditor) gather(ctx context.Context, d different) ([]seen, error) {
	found := make([]seen, 0, a.sums.entries(d))
	w := a.walk("closer", func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			if at, _ := a.sums.slice(e); d[e.kind][at] && !a.bad[e.owner] && !a.bad[e.other] {
				from, to := e.ends()
				found = append(found, seen{from, to, e.at, e.kind, e.out})
			}
		})
	})
	err := w.run(ctx)
	slices.SortFunc(found, seen.compare)
	return found, err
}

// unmatched returns the pairs whose entries do not come in twos, one from each
// side. found is sorted.
func unmatched(found []seen) (out []pair) {
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n].compare(found[0]) == 0 {
			n++
		}
		if n != 2 || found[0].out == found[1].out || found[0].kind == follow && found[0].at != found[1].at {
			out = append(out, pairOf(found[0].from, found[0].to))
		}
		found = found[n:]
	}
	slices.SortFunc(out, pair.compare)
	return slices.Compact(out)
}

// gone sets accounts aside that exist and have no row though two or more others name
// them, has them made anew, and returns the pairs that are left.
func (a *auditor) gone(ctx context.Context, suspects []pair) ([]pair, error) {
	lost, err := a.rowless(ctx, suspects)
	if err != nil || len(lost) == 0 {
		return suspects, err
	}
	for id := range lost {
		l, err := a.look(ctx, id, true, false, nobody)
		if err != nil {
			return nil, err
		}
		if l.row.Ver == 0 {
			l.faults = append(l.faults, fault(Row, id, "there is no row, but the rows of %d others name the account", lost[id]))
			l.damaged = true
			a.setAside(l)
		}
	}
	if err := a.rebuild(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(suspects, func(p pair) bool { return lost[p.a] > 0 || lost[p.b] > 0 }), nil
}

// rowless returns the accounts without a row that two or more others name, but
// not those that do not exist.
func (a *auditor) rowless(ctx context.Context, suspects []pair) (map[uint64]int, error) {
	named := map[uint64]int{}
	for _, p := range suspects {
		named[p.a]++
		named[p.b]++
	}
	var ids []uint64
	for id, n := range named {
		if n < 2 {
			delete(named, id)
			continue
		}
		ids = append(ids, id)
	}
	marks, err := a.cfg.Rows.Outlines(ctx, ids)
	if err != nil {
		return nil, err
	}
	for id := range marks {
		delete(named, id)
	}
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(named)))
	for id := range missing {
		delete(named, id)
	}
	return named, err
}
