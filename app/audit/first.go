package audit

import (
	"context"
	"fmt"

	"kith/repo/list"
	"kith/repo/relation"
)

// firstPass sums up everything and checks each account by itself.
func (a *auditor) firstPass(ctx context.Context) error {
	w := a.walk("sums", func(owner uint64, v list.View) { eachEntry(owner, v, a.sumUp) })
	w.doubtful = a.doubt
	w.between = a.noteOrphans
	err := w.run(ctx)
	a.sum.Rows, a.sum.Archives, a.sum.Segments = w.rows, w.archives, w.segments
	a.doubted = plausible(a.nobodies, w.rows)
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
	if a.lone(id) {
		return nil // nothing of it is to stay
	}
	l, err := a.look(ctx, id, true, false, nobody)
	if err != nil {
		return err
	}
	for _, other := range l.beside {
		a.pairs[pairOf(id, other)] = true
	}
	if l.damaged || l.short && len(a.aside) < maxAside {
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
