package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"kith/repo/list"
	"kith/repo/relation"
)

// rebuilding is an account that is to be rebuilt.
type rebuilding struct {
	faults     []Fault
	unreadable bool    // part of it cannot be read
	said       []entry // what its row must have, by the rows of others
	ev         relation.Evidence
}

// queueRebuild remembers an account for rebuildAll.
func (a *auditor) queueRebuild(x *examined) {
	id, absent := x.row.ID, x.row.Ver == 0
	a.rebuilds[id] = &rebuilding{faults: x.faults, unreadable: x.unreadable || absent, ev: relation.Evidence{Ver: x.row.Ver, KeepOwn: !x.damaged && !absent, Doubtful: a.unsound}}
	a.unsound[id] = true
}

// errTooMany is why an account was not rebuilt.
var errTooMany = errors.New("too many accounts or entries to be rebuilt in one audit: run it again, or kith audit --rebuild=ID for one account")

// rebuildAll collects what all rows say about the accounts to rebuild, takes the damaged
// ones out of the checksums, and rebuilds them if Repair is set.
func (a *auditor) rebuildAll(ctx context.Context) error {
	if err := a.dropOrphans(ctx); err != nil || len(a.rebuilds) == 0 {
		return err
	}
	room := a.cfg.Collect
	if a.cfg.Rebuild {
		room = math.MaxInt
	}
	w := walk{auditor: a, phase: "rebuild", each: func(e entry) {
		by, own := a.rebuilds[e.owner]
		about, named := a.rebuilds[e.other]
		damaged := own && !by.ev.KeepOwn
		if (damaged || named && !about.ev.KeepOwn) && !a.recent(e) {
			a.sums.count(e, -1)
		}
		if !named || e.owner == e.other || a.gone(e.owner) {
			return
		}
		if own {
			a.suspect(e.owner, e.other) // to be compared when both can be read
		}
		if room--; room >= 0 && (!damaged || about.unreadable) { // a damaged row is evidence only about another that cannot be read
			about.said = append(about.said, e.mirror())
		}
	}}
	if err := w.run(ctx); err != nil {
		return err
	}
	for i, id := range slices.Sorted(maps.Keys(a.rebuilds)) {
		if err := a.pause(ctx); err != nil {
			return err
		}
		b, err := a.rebuilds[id], errTooMany
		if room >= 0 && i < maxRebuilt {
			err = a.rebuild(ctx, id, b)
		}
		if !a.cfg.Repair || err != nil {
			a.bad[id] = true
		}
		a.reportAll(b.faults, err)
	}
	for id := range a.rebuilds { // not before: none of them is evidence for another
		a.unsound[id] = a.bad[id]
	}
	clear(a.rebuilds)
	return ctx.Err()
}

// evidence is what other rows say, as repo/relation takes it.
func (b *rebuilding) evidence() *relation.Evidence {
	for _, e := range b.said {
		if e.kind == follow {
			b.ev.Edges = append(b.ev.Edges, list.Edge{ID: e.other, Time: e.at, Out: e.out})
		}
		for _, s := range counterparts {
			if s.kind == e.kind && s.out == e.out {
				b.ev.Others = append(b.ev.Others, relation.OtherEntry{Section: s.section, Entry: list.Entry{ID: e.other, Time: e.at}})
			}
		}
	}
	return &b.ev
}

// rebuild makes the row of one account anew, and says in the notes of the faults what
// that took.
func (a *auditor) rebuild(ctx context.Context, id uint64, b *rebuilding) error {
	ev := b.evidence()
	note := fmt.Sprintf("other rows know %d follows and %d blocks and requests of account %d", len(ev.Edges), len(ev.Others), id)
	if a.cfg.Repair || a.cfg.Rebuild {
		if err := a.checkSilent(ctx, id, b); err != nil {
			return err
		}
	}
	if a.cfg.Repair {
		done, err := a.cfg.Rows.Rebuild(ctx, id, ev)
		if err != nil {
			return err
		}
		for _, gone := range done.Unknown {
			b.faults = append(b.faults, namesUnknown(id, gone))
		}
		if len(b.faults) == 0 && done.Added+done.Righted+done.Dropped > 0 {
			b.faults = append(b.faults, fault(Row, id, "its row did not have what the rows of others say"))
		}
		note += b.outcome(done, len(a.rebuilds)-1)
	} else if a.cfg.Rebuild {
		if err := a.reportLacking(ctx, id, b); err != nil {
			return err
		}
	}
	for i := range b.faults {
		b.faults[i].Note = note
	}
	if !a.cfg.Repair {
		return nil
	}
	// The rebuild kept its blocks and requests, and what unsound rows do not confirm.
	x, err := a.examine(ctx, id, false)
	x.each(func(e entry) {
		if e.kind != follow || a.unsound[e.other] {
			a.suspect(id, e.other)
		}
	})
	return err
}

// reportLacking adds the faults that a rebuild would repair and that the row does not show
// itself.
func (a *auditor) reportLacking(ctx context.Context, id uint64, b *rebuilding) error {
	x, err := a.examine(ctx, id, false)
	lacking := b.timeless()
	x.each(func(e entry) {
		e.at = 0
		delete(lacking, e)
	})
	for _, gone := range b.ev.Unknown {
		b.faults = append(b.faults, namesUnknown(id, gone))
	}
	if err == nil && len(lacking) > 0 && len(b.faults) == 0 {
		b.faults = append(b.faults, fault(Row, id, "its row lacks %d follows, blocks and requests that the rows of others know of", len(lacking)))
	}
	return err
}

// timeless returns what its row must have, without times.
func (b *rebuilding) timeless() map[entry]bool {
	said := make(map[entry]bool, len(b.said))
	for _, e := range b.said {
		e.at = 0
		said[e] = true
	}
	return said
}

// outcome says what a rebuild did, while others of the audit's accounts were to be
// rebuilt too.
func (b *rebuilding) outcome(done relation.Rebuilt, others int) string {
	s := fmt.Sprintf("; %d of them were put back", done.Added)
	if done.Righted > 0 {
		s += fmt.Sprintf(", %d accounts stand as their own rows have it", done.Righted)
	}
	if done.Dropped > 0 {
		s += fmt.Sprintf(", %d accounts were dropped whose own rows do not know of it", done.Dropped)
	}
	if slices.Contains(done.Lost, list.Options) {
		s += ", its options and notes are lost"
	}
	if slices.Contains(done.Lost, list.Muting) {
		s += ", whom it muted is lost"
	}
	if b.unreadable && others > 0 {
		s += fmt.Sprintf(", and so is what was between it and %d other accounts that were rebuilt", others)
	}
	return s
}

// maxSilent bounds the others that checkSilent reads for one account.
const maxSilent = 1000

// checkSilent checks the others whose rows do not confirm an entry of this row: some do
// not exist, and one that has lost entries itself disproves nothing.
func (a *auditor) checkSilent(ctx context.Context, id uint64, b *rebuilding) error {
	said := b.timeless()
	x, err := a.examine(ctx, id, false)
	if err != nil {
		return err
	}
	silent, all := map[uint64]bool{}, int64(0)
	x.each(func(e entry) {
		all++
		if e.at = 0; !said[e] {
			silent[e.other] = true
		}
	})
	missing, err := a.cfg.Rows.Missing(ctx, slices.Collect(maps.Keys(silent)))
	if err != nil {
		return err
	}
	if err := cmp.Or(a.doubt, plausible(int64(len(missing)), all)); len(missing) > 0 && err != nil {
		return err
	}
	b.ev.Unknown = slices.Sorted(maps.Keys(missing))
	maps.DeleteFunc(silent, func(id uint64, _ bool) bool { return missing[id] })
	for i, other := range slices.Sorted(maps.Keys(silent)) {
		if b.ev.KeepOwn || i >= maxSilent {
			break
		}
		if why, err := a.checkLost(ctx, other); err != nil || why != nil && !errors.As(why, new(lostError)) {
			return cmp.Or(err, why)
		}
	}
	return nil
}

// checkLost returns why a row proves nothing by what it lacks, nil if it does: it is
// damaged, counts more than there is, or names an unknown account that never existed.
func (a *auditor) checkLost(ctx context.Context, id uint64) (why, err error) {
	unsound, known := a.unsound[id]
	if !known {
		x, err := a.examine(ctx, id, true)
		if err != nil {
			return nil, err
		}
		var named []uint64
		x.each(func(e entry) { named = append(named, e.other) })
		missing, err := a.cfg.Rows.Missing(ctx, named)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(missing, func(other uint64, _ bool) bool { return a.gone(other) })
		if err := cmp.Or(a.doubt, plausible(int64(len(missing)), int64(len(named)))); len(missing) > 0 && err != nil {
			return err, nil
		}
		unsound = x.damaged || x.short || len(missing) > 0
		if unsound || len(a.unsound) < maxNoted {
			a.unsound[id] = unsound
		}
	}
	if unsound {
		return lostError(id), nil
	}
	return nil, nil
}
