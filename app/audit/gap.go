package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kith/repo/list"
)

// hears reports whether what another row says is to be kept for the account. One
// that has gaps hears what it does itself: all else its own row need not know.
func (b *badAccount) hears(e entry) bool {
	if !b.told.Gaps {
		return true
	}
	return !b.deaf && !e.out && (e.kind == follow || b.blocks || len(b.told.Nobody) > 0)
}

// fill adds to a row what it has lost and others know, takes out who is nobody,
// and counts it anew.
func (a *auditor) fill(ctx context.Context, id uint64, b *badAccount) error {
	known := fmt.Sprintf("other rows know %d follows and %d blocks and requests that account %d made", len(b.told.Edges), len(b.told.Beside), id)
	if !a.cfg.Repair {
		if !b.deaf {
			b.note(known)
		}
		return nil
	}
	done, err := a.cfg.Edits.Rewrite(ctx, id, &b.told)
	if err != nil {
		return err
	}
	if !b.deaf {
		b.note(fmt.Sprintf("%s; %d of them were put back", known, done.Added))
	}
	b.faults = slices.DeleteFunc(b.faults, func(f Fault) bool {
		return f.Kind == Nobody && !slices.Contains(done.Nobody, f.Other) // it came to be meanwhile
	})
	return nil
}

// asideNobodies sets a row aside that names accounts that do not exist. False
// where it does not.
func (a *auditor) asideNobodies(ctx context.Context, owner uint64, ids []uint64) (bool, error) {
	l, err := a.look(ctx, owner, true, false, nobody)
	if err != nil || l.damaged {
		return false, err // it is so since: the next audit finds it
	}
	gone, err := a.nobodiesIn(ctx, owner, ids)
	if err != nil || len(gone) == 0 || gone[0] == owner {
		return false, err
	}
	l.faults = nil // these were reported
	a.setAside(l)
	b := a.aside[owner]
	b.told.Nobody, b.deaf = gone, false
	for _, id := range gone {
		b.faults = append(b.faults, namesNobody(owner, id))
		a.reported[pairOf(owner, id)] = true
	}
	return true, nil
}

// gapped reports whether entries of a row are lost, and sets it aside then. An
// error says why it cannot be told.
func (a *auditor) gapped(ctx context.Context, id uint64) (is bool, doubt, err error) {
	if a.aside[id] != nil || a.whole[id] {
		return a.aside[id] != nil, nil, nil
	}
	missing, l, doubt, err := a.named(ctx, id)
	switch {
	case err != nil || doubt != nil:
		return false, doubt, err
	case l.damaged || l.shortOut:
		a.setAside(l)
		return true, nil, nil
	case len(missing) > 0:
		if is, err = a.asideNobodies(ctx, id, missing); is || err != nil {
			return is, nil, err
		}
	}
	if len(a.whole) >= maxAside {
		clear(a.whole)
	}
	a.whole[id] = true
	return false, nil, nil
}

// named looks at an account, and returns those whom it names and who do not
// exist. Where these are too many to be believed, doubt says so.
func (a *auditor) named(ctx context.Context, id uint64) (missing []uint64, l *look, doubt, err error) {
	var ids []uint64
	l, err = a.look(ctx, id, true, false, func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) { ids = append(ids, e.other) })
	})
	if err != nil {
		return nil, nil, nil, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	gone, err := a.cfg.Rows.Missing(ctx, ids)
	if len(gone) > 0 {
		doubt = a.doubted
		if doubt == nil {
			doubt = plausible(int64(len(gone)), int64(len(ids)))
		}
	}
	return slices.Sorted(maps.Keys(gone)), l, doubt, err
}

// maxDoubted bounds the rows that are looked at for gaps before one damaged row is
// made anew.
const maxDoubted = 1000

// heedSilent makes weak those who say nothing of what a damaged row says about
// them, if entries of theirs are lost: that they are silent is no word then.
func (a *auditor) heedSilent(ctx context.Context, id uint64, b *badAccount) error {
	told := b.seen(id)
	slices.SortFunc(told, seen.compare)
	var silent []uint64
	_, err := a.look(ctx, id, false, false, func(owner uint64, v list.View) {
		eachEntry(owner, v, func(e entry) {
			from, to := e.ends()
			_, is := slices.BinarySearchFunc(told, seen{from: from, to: to, kind: e.kind}, seen.compare)
			if !is && !b.told.Weak[e.other] && len(silent) < maxDoubted {
				silent = append(silent, e.other)
			}
		})
	})
	for _, other := range silent {
		if err != nil || a.whole[other] || b.told.Weak[other] {
			continue
		}
		missing, l, doubt, failed := a.named(ctx, other)
		if err = failed; err == nil && (len(missing) > 0 || doubt != nil || l.damaged || l.short) {
			b.told.Weak[other] = true // the map of all that are made anew now
		}
	}
	return err
}

// heedGaps looks at the rows that do not know what others say they did: one that
// has gaps is set aside, and its word is no reason to take anything away. It
// reports whether one was.
func (a *auditor) heedGaps(ctx context.Context, faults []Fault) (later bool, doubt, err error) {
	for _, f := range faults {
		if f.silent == 0 {
			continue
		}
		is, why, err := a.gapped(ctx, f.silent)
		if err != nil {
			return false, nil, err
		}
		later = later || is
		if why != nil {
			doubt = why
		}
	}
	return later, doubt, nil
}
