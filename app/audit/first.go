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

// firstPass sums up everything and checks each account by itself.
func (a *auditor) firstPass(ctx context.Context) error {
	w := a.walk("sums", func(owner uint64, v list.View) { eachEntry(owner, v, a.sumUp) })
	w.doubtful = a.doubt
	err := w.run(ctx)
	a.sum.Rows, a.sum.Archives, a.sum.Segments = w.rows, w.archives, w.segments
	a.sum.Edges, a.sum.Blocks, a.sum.Requests = a.sums.total(follow), a.sums.total(block), a.sums.total(request)
	return err
}

func (a *auditor) sumUp(e entry) {
	if !a.recent(e) {
		a.sums.add(e)
	}
}

// longest is how long a walk may take for follows made meanwhile to be known by
// their time.
const longest = 48 * 60 * 60

// recent reports whether an entry was made since the audit began, if its time
// is true.
func (a *auditor) recent(e entry) bool {
	return e.kind == follow && e.at > a.start && e.at-a.start <= longest
}

// doubt looks at an account again, under its lock, and mends or reports what is
// wrong by itself.
func (a *auditor) doubt(ctx context.Context, l *look) error {
	id := l.row.AccountID
	l, err := a.look(ctx, id, true, false, nobody)
	if err != nil {
		return err
	}
	for _, other := range l.beside {
		a.pairs[pairOf(id, other)] = true
	}
	if l.lost {
		a.setAside(l)
		return nil
	}
	if len(l.faults) == 0 {
		return nil
	}
	if !a.cfg.Repair {
		a.reportAll(l.faults, nil)
		return nil
	}
	if err := a.pause(ctx); err != nil {
		return err
	}
	err = a.mendAlone(ctx, l)
	a.reportAll(l.faults, err)
	return ctx.Err()
}

// reportAll reports faults that were, if Repair is set, mended together.
func (a *auditor) reportAll(faults []Fault, err error) {
	for _, f := range faults {
		f.Mended, f.Err = a.cfg.Repair && err == nil, err
		if f.Kind == Double && f.Other != 0 {
			a.tell(pairOf(f.Account, f.Other))
		}
		a.report(f)
	}
}

// mendAlone puts an account right by itself: by an edit if only numbers are
// wrong, else by a rewrite.
func (a *auditor) mendAlone(ctx context.Context, l *look) error {
	id := l.row.AccountID
	if l.rewrite {
		_, err := a.cfg.Edits.Rewrite(ctx, id, nil)
		return err
	}
	err := a.cfg.Committer.Do(ctx, []uint64{id}, func(rows map[uint64]*relation.Draft) error {
		if !rows[id].Recount() {
			return relation.ErrRecall
		}
		rows[id].Touch() // the columns are made anew with every swap
		return nil
	})
	if err != nil {
		return fmt.Errorf("count account %d: %w", id, err)
	}
	return nil
}

// badAccount is one of which a part cannot be read.
type badAccount struct {
	faults []Fault
	told   relation.Told
}

// setAside keeps an account for a rebuild.
func (a *auditor) setAside(l *look) {
	a.aside[l.row.AccountID] = &badAccount{faults: l.faults}
}

// errTooMany is why a list was not made anew.
var errTooMany = errors.New("too many accounts or entries to be made anew in one audit; run it again")

// rebuild asks all rows what they know about the accounts that were set aside,
// takes all of these out of the checksums, and, if asked to, makes their lists
// anew.
func (a *auditor) rebuild(ctx context.Context) error {
	if len(a.aside) == 0 {
		return nil
	}
	room := a.cfg.Collect
	w := a.walk("rebuild", func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			_, own := a.aside[e.owner]
			about, named := a.aside[e.other]
			if (own || named) && !a.recent(e) {
				a.sums.count(e, -1)
			}
			if named && e.owner != e.other && room > 0 {
				room--
				about.hear(e)
			}
		})
	})
	if err := w.run(ctx); err != nil {
		return err
	}
	return a.rebuildAll(ctx, room > 0)
}

func (a *auditor) rebuildAll(ctx context.Context, complete bool) error {
	for i, id := range slices.Sorted(maps.Keys(a.aside)) {
		if err := a.pause(ctx); err != nil {
			return err
		}
		b, err := a.aside[id], errTooMany
		if complete && i < maxBad {
			err = a.rebuildOne(ctx, id, b)
		}
		a.bad[id] = !a.cfg.Repair || err != nil
		a.reportAll(b.faults, err)
	}
	clear(a.aside)
	return ctx.Err()
}

// rebuildOne makes the list of one account anew, and notes what that took.
func (a *auditor) rebuildOne(ctx context.Context, id uint64, b *badAccount) error {
	known := fmt.Sprintf("other rows know %d follows and %d blocks and requests of account %d", len(b.told.Edges), len(b.told.Beside), id)
	if !a.cfg.Repair {
		b.note(known)
		return nil
	}
	done, err := a.cfg.Edits.Rewrite(ctx, id, &b.told)
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s; %d of them were put back", known, done.Added)
	if slices.Contains(done.Lost, list.Options) {
		note += ", its options and notes are lost"
	}
	if slices.Contains(done.Lost, list.Muting) {
		note += ", whom it muted is lost"
	}
	if n := len(a.aside) - 1; n > 0 {
		note += fmt.Sprintf(", and so is what was between it and %d other accounts that were made anew", n)
	}
	b.note(note)
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
