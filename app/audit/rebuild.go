package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kith/repo/list"
	"kith/repo/relation"
)

// badAccount is one whose lists are not as they must be.
type badAccount struct {
	faults []Fault
	lost   bool // part of it cannot be read
	told   relation.Told
	deaf   bool // nothing that others know can be missing
	blocks bool // blocks or requests that it made are
}

// setAside keeps an account for a rebuild.
func (a *auditor) setAside(l *look) {
	a.aside[l.row.AccountID] = &badAccount{faults: l.faults, lost: l.lost, told: relation.Told{Ver: l.row.Ver, Gaps: !l.damaged}, deaf: !l.damaged && !l.shortOut, blocks: l.blocking}
}

// errTooMany is why a list was not made anew.
var errTooMany = errors.New("too many accounts or entries to be made anew in one audit; run it again")

// rebuild asks all rows what they know about the accounts that were set aside,
// takes all of these out of the checksums, and, if asked to, makes their lists
// anew.
func (a *auditor) rebuild(ctx context.Context) error {
	if err := a.orphanAside(ctx); err != nil || len(a.aside) == 0 {
		return err
	}
	weak, deaf := maps.Clone(a.bad), true
	for id, b := range a.aside {
		weak[id], b.told.Weak = true, weak
		deaf = deaf && b.deaf
	}
	if deaf {
		return a.rebuildAll(ctx, true)
	}
	room := a.cfg.Collect
	w := a.walk("rebuild", func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			by, own := a.aside[e.owner]
			about, named := a.aside[e.other]
			if (own && !by.told.Gaps || named && !about.told.Gaps) && !a.recent(e) {
				a.sums.count(e, -1)
			}
			if !named || !about.hears(e) || e.owner == e.other || a.lone(e.owner) || room <= 0 {
				return
			}
			room--
			about.hear(e)
			if own && a.cfg.Repair { // neither is to be trusted: both are judged when both can be read
				a.pairs[pairOf(e.owner, e.other)] = true
			}
		})
	})
	if err := w.run(ctx); err != nil {
		return err
	}
	return a.rebuildAll(ctx, room > 0)
}

func (a *auditor) rebuildAll(ctx context.Context, complete bool) error {
	heard := 0
	for _, id := range slices.Sorted(maps.Keys(a.aside)) {
		if err := a.pause(ctx); err != nil {
			return err
		}
		b, err := a.aside[id], errTooMany
		if !b.deaf {
			heard++
		}
		if b.deaf || complete && heard <= maxBad {
			err = a.rebuildOne(ctx, id, b)
		}
		if a.bad[id] = (!a.cfg.Repair || err != nil) && !b.deaf; !a.bad[id] {
			delete(a.bad, id)
		}
		a.reportAll(b.faults, err)
	}
	clear(a.aside)
	return ctx.Err()
}

// rebuildOne makes the list of one account anew, and notes what that took.
func (a *auditor) rebuildOne(ctx context.Context, id uint64, b *badAccount) error {
	if b.told.Gaps {
		return a.fill(ctx, id, b)
	}
	known := fmt.Sprintf("other rows know %d follows and %d blocks and requests of account %d", len(b.told.Edges), len(b.told.Beside), id)
	if !a.cfg.Repair {
		b.note(known)
		return nil
	}
	if err := a.heedSilent(ctx, id, b); err != nil {
		return err
	}
	done, err := a.cfg.Edits.Rewrite(ctx, id, &b.told)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s; %d of them were put back", known, done.Added)
	if done.Righted > 0 {
		note += fmt.Sprintf(", %d accounts stand as their own rows have it", done.Righted)
	}
	if done.Dropped > 0 {
		note += fmt.Sprintf(", %d accounts were dropped whose own rows know nothing of it", done.Dropped)
	}
	if slices.Contains(done.Lost, list.Options) {
		note += ", its options and notes are lost"
	}
	if slices.Contains(done.Lost, list.Muting) {
		note += ", whom it muted is lost"
	}
	if n := len(a.aside) - 1; b.lost && n > 0 {
		note += fmt.Sprintf(", and so is what was between it and %d other accounts that were made anew", n)
	}
	b.note(note)
	return a.recheck(ctx, id, b)
}

// recheck makes suspects of those who do not say what an account that was made
// anew says: it kept whom it blocks or asked, which they may not know.
func (a *auditor) recheck(ctx context.Context, id uint64, b *badAccount) error {
	found := b.seen(id)
	l, err := a.look(ctx, id, false, false, func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			from, to := e.ends()
			found = append(found, seen{from, to, e.at, e.kind, e.out})
		})
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found, seen.compare)
	for _, p := range unmatched(found) {
		a.pairs[p] = true
	}
	for _, other := range l.beside {
		a.pairs[pairOf(id, other)] = true
	}
	return nil
}

func (b *badAccount) note(text string) {
	for i := range b.faults {
		b.faults[i].Note = text
	}
}

// hear notes what another row says about the account.
func (b *badAccount) hear(e entry) {
	if e.kind == follow {
		b.told.Edges = append(b.told.Edges, list.Edge{ID: e.owner, Time: e.at, Out: !e.out})
		return
	}
	for _, s := range besides {
		if s.kind == e.kind && s.out != e.out {
			b.told.Beside = append(b.told.Beside, relation.Beside{Section: s.section, Entry: list.Entry{ID: e.owner, Time: e.at}})
		}
	}
}

// seen returns what was heard about the account of id, as the others have it.
func (b *badAccount) seen(id uint64) (out []seen) {
	add := func(kind relKind, other uint64, at uint32, mine bool) {
		s := seen{from: other, to: id, at: at, kind: kind, out: true}
		if mine { // so the other has the other end of it
			s = seen{from: id, to: other, at: at, kind: kind}
		}
		out = append(out, s)
	}
	for _, e := range b.told.Edges {
		add(follow, e.ID, e.Time, e.Out)
	}
	for _, e := range b.told.Beside {
		for _, s := range besides {
			if s.section == e.Section {
				add(s.kind, e.ID, e.Time, s.out)
			}
		}
	}
	return out
}
