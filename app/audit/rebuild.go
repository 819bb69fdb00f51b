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

// aside is an account that is to be rebuilt.
type aside struct {
	faults []Fault
	lost   bool // part of it cannot be read
	ev     relation.Evidence
}

// setAside keeps an account for a rebuild.
func (a *auditor) setAside(l *look) {
	id, absent := l.row.AccountID, l.row.Ver == 0
	a.aside[id] = &aside{faults: l.faults, lost: l.lost || absent, ev: relation.Evidence{Ver: l.row.Ver, KeepOwn: !l.damaged && !absent, Doubtful: a.unsound}}
	a.unsound[id] = true
}

// errTooMany is why an account was not rebuilt.
var errTooMany = errors.New("too many accounts or entries to be rebuilt in one audit: run it again, or kith audit --rebuild=ID for one account")

// rebuildAll asks all rows what they know about the accounts that were set aside, takes
// the damaged ones out of the checksums, and, if asked to, rebuilds them all.
func (a *auditor) rebuildAll(ctx context.Context) error {
	if err := a.dropOrphans(ctx); err != nil || len(a.aside) == 0 {
		return err
	}
	room := a.cfg.Collect
	if a.cfg.Rebuild {
		room = math.MaxInt
	}
	w := walk{auditor: a, phase: "rebuild", each: func(e entry) {
		by, own := a.aside[e.owner]
		about, named := a.aside[e.other]
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
		if room--; room >= 0 && (!damaged || about.lost) { // what a damaged row says counts against nothing
			about.hear(e)
		}
	}}
	if err := w.run(ctx); err != nil {
		return err
	}
	for i, id := range slices.Sorted(maps.Keys(a.aside)) {
		if err := a.pause(ctx); err != nil {
			return err
		}
		b, err := a.aside[id], errTooMany
		if room >= 0 && i < maxRebuilt {
			err = a.rebuild(ctx, id, b)
		}
		if !a.cfg.Repair || err != nil {
			a.bad[id] = true
		}
		a.reportAll(b.faults, err)
	}
	for id := range a.aside { // none of them counts for another
		a.unsound[id] = a.bad[id]
	}
	clear(a.aside)
	return ctx.Err()
}

// hear notes what another row says about the account.
func (b *aside) hear(e entry) {
	if e.kind == follow {
		b.ev.Edges = append(b.ev.Edges, list.Edge{ID: e.owner, Time: e.at, Out: !e.out})
		return
	}
	for _, s := range besides {
		if s.kind == e.kind && s.out != e.out {
			b.ev.Beside = append(b.ev.Beside, relation.Beside{Section: s.section, Entry: list.Entry{ID: e.owner, Time: e.at}})
		}
	}
}

// rebuild makes the row of one account anew, and notes what that took.
func (a *auditor) rebuild(ctx context.Context, id uint64, b *aside) error {
	note := fmt.Sprintf("other rows know %d follows and %d blocks and requests of account %d", len(b.ev.Edges), len(b.ev.Beside), id)
	if a.cfg.Repair {
		if err := a.weighSilence(ctx, id, b); err != nil {
			return err
		}
		done, err := a.cfg.Rows.Rebuild(ctx, id, &b.ev)
		if err != nil {
			return err
		}
		for _, gone := range done.Unknown {
			b.faults = append(b.faults, namesUnknown(id, gone))
		}
		if len(b.faults) == 0 && done.Added+done.Righted+done.Dropped > 0 {
			b.faults = append(b.faults, fault(Row, id, "its row did not have what the rows of others say"))
		}
		note += b.outcome(done, len(a.aside)-1)
	}
	for i := range b.faults {
		b.faults[i].Note = note
	}
	if !a.cfg.Repair {
		return nil
	}
	// It kept whom it blocks or asked, and what doubtful rows do not say.
	l, err := a.look(ctx, id, false)
	l.each(func(e entry) {
		if e.kind != follow || a.unsound[e.other] {
			a.suspect(id, e.other)
		}
	})
	return err
}

// outcome says what a rebuild did, while others of the audit's accounts were to be
// rebuilt too.
func (b *aside) outcome(done relation.Rebuilt, others int) string {
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
	if b.lost && others > 0 {
		s += fmt.Sprintf(", and so is what was between it and %d other accounts that were rebuilt", others)
	}
	return s
}

// maxSilent bounds the others whose rows are looked at before one account is rebuilt.
const maxSilent = 1000

// weighSilence looks at those who do not say what the row says about them: some do not
// exist, and the silence of those who have lost entries themselves proves nothing.
func (a *auditor) weighSilence(ctx context.Context, id uint64, b *aside) error {
	type claim struct {
		kind  relKind
		out   bool
		other uint64
	}
	said := make(map[claim]bool, len(b.ev.Edges))
	for _, e := range b.ev.Edges {
		said[claim{follow, e.Out, e.ID}] = true
	}
	for _, e := range b.ev.Beside {
		for _, s := range besides {
			if s.section == e.Section {
				said[claim{s.kind, s.out, e.ID}] = true
			}
		}
	}
	l, err := a.look(ctx, id, false)
	if err != nil {
		return err
	}
	silent, all := map[uint64]bool{}, int64(0)
	l.each(func(e entry) {
		all++
		if !said[claim{e.kind, e.out, e.other}] {
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
		if why, err := a.lost(ctx, other); err != nil || why != nil && !errors.As(why, new(lostError)) {
			return cmp.Or(err, why)
		}
	}
	return nil
}

// lost looks whether a row has lost entries, and returns why it cannot be believed then:
// it is damaged, counts more than there is, or names an account that does not exist where
// nothing but damage explains that.
func (a *auditor) lost(ctx context.Context, id uint64) (why, err error) {
	unsound, known := a.unsound[id]
	if !known {
		l, err := a.look(ctx, id, true)
		if err != nil {
			return nil, err
		}
		var named []uint64
		l.each(func(e entry) { named = append(named, e.other) })
		missing, err := a.cfg.Rows.Missing(ctx, named)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(missing, func(other uint64, _ bool) bool { return a.gone(other) })
		if err := cmp.Or(a.doubt, plausible(int64(len(missing)), int64(len(named)))); len(missing) > 0 && err != nil {
			return err, nil
		}
		unsound = l.damaged || l.short || len(missing) > 0
		if unsound || len(a.unsound) < maxNoted {
			a.unsound[id] = unsound
		}
	}
	if unsound {
		return lostError(id), nil
	}
	return nil, nil
}
