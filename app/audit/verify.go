package audit

import (
	"context"
	"errors"
	"fmt"

	"kith/repo/list"
	"kith/repo/relation"
)

// verifyAll judges suspects. Rows that turn out to have gaps are filled first,
// and the pairs that showed it judged after that.
func (a *auditor) verifyAll(ctx context.Context, suspects []pair) error {
	suspects, err := a.forgetNobodies(ctx, suspects)
	for err == nil && len(suspects)+len(a.aside)+len(a.pairs) > 0 {
		if err = a.rebuild(ctx); err == nil {
			suspects, err = a.judgeAll(ctx, append(suspects, a.shown()...))
		}
	}
	return err
}

// judgeAll judges suspects, one after the other, and returns those to be judged
// again: each of them set a row aside, which happens once to a row.
func (a *auditor) judgeAll(ctx context.Context, suspects []pair) (again []pair, err error) {
	for i, p := range suspects {
		if a.bad[p.a] || a.bad[p.b] || a.reported[p] {
			continue // what is wrong with them was reported
		}
		if err := a.step(ctx, "verify", int64(i), int64(len(suspects))); err != nil {
			return nil, err
		}
		later, err := a.verify(ctx, p)
		if err != nil {
			return nil, err
		}
		if later {
			again = append(again, p)
			continue
		}
		a.sum.Suspects++
	}
	return again, nil
}

// verify judges a suspect by both rows, and reports or mends it; later where one
// of them has gaps that are to be filled first.
func (a *auditor) verify(ctx context.Context, p pair) (later bool, err error) {
	if fine, err := a.plain(ctx, p); fine || err != nil {
		return false, err
	}
	var faults []Fault
	for range judgements {
		if faults, err = a.judge(ctx, p); err != nil || len(faults) == 0 {
			return false, err
		}
	}
	later, failed, err := a.heedGaps(ctx, faults)
	if later || err != nil {
		return later, err
	}
	if a.cfg.Repair && failed == nil {
		failed = a.mend(ctx, p)
	}
	a.tell(p)
	a.reportAll(faults, failed)
	return false, ctx.Err()
}

// plain reports whether one unlocked look at two rows shows that nothing is
// wrong.
func (a *auditor) plain(ctx context.Context, p pair) (bool, error) {
	rows, err := a.cfg.Rows.Fresh(ctx, []uint64{p.a, p.b})
	if err != nil {
		return false, err
	}
	x, err := openSide(rows[p.a])
	if err != nil {
		return false, badBytes(err)
	}
	y, err := openSide(rows[p.b])
	return err == nil && fine(x, y), badBytes(err)
}

// judgements is how often a fault must be found: a row that does not exist yet
// cannot be locked, and may come to be while the other is read.
const judgements = 2

// side is an opened row, and whether it says that there is no archive. A
// draft takes counts for true; here they may be what is wrong.
type side struct {
	*relation.Draft
	alone bool
}

func openSide(r relation.Row) (side, error) {
	d, err := relation.Open(r)
	if err != nil {
		return side{}, err
	}
	v, err := r.View()
	return side{d, relation.Kept(v) == r.Counts && len(r.Archived) == 0}, err
}

// knows reports whether the list alone says what id is to its owner.
func (s side) knows(id uint64) bool {
	return s.alone
}

// fine reports whether two lists alone show that nothing is wrong.
func fine(x, y side) bool {
	return x.knows(y.AccountID()) && y.knows(x.AccountID()) && len(compare(x.Draft, y.Draft)) == 0
}

// badBytes lets an error pass that the next audit will find to be a fault.
func badBytes(err error) error {
	if errors.Is(err, list.ErrFormat) {
		return nil
	}
	return err
}

// tell notes that the faults of a pair are reported, if they stay.
func (a *auditor) tell(p pair) {
	if !a.cfg.Repair {
		a.reported[p] = true
	}
}

// judge compares two rows, and what is archived of them, under their locks.
func (a *auditor) judge(ctx context.Context, p pair) (faults []Fault, err error) {
	for range judgeTries {
		var won bool
		won, err = a.cfg.Edits.Locked(ctx, []uint64{p.a, p.b}, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
			faults = nil
			if search(rows[p.a], rows[p.b]) {
				faults = compare(rows[p.a], rows[p.b])
			}
			return nil, nil
		})
		if errors.Is(err, list.ErrFormat) {
			return nil, nil
		}
		if err != nil || won {
			return faults, err
		}
	}
	return nil, fmt.Errorf("lock accounts %d and %d: no luck %d times", p.a, p.b, judgeTries)
}

// judgeTries is how often two rows are locked in vain.
const judgeTries = 20

// search makes sure that both rows say all there is about the two.
func search(x, y *relation.Draft) bool {
	first, second := x.Search(y.AccountID()), y.Search(x.AccountID())
	return first && second
}

// mend makes both rows agree, by one edit.
func (a *auditor) mend(ctx context.Context, p pair) error {
	if _, err := a.cfg.Relations.Repair(ctx, p.a, p.b, search); err != nil {
		return fmt.Errorf("mend accounts %d and %d: %w", p.a, p.b, err)
	}
	return nil
}

// compare returns what two rows do not agree about.
func compare(a, b *relation.Draft) (faults []Fault) {
	for _, p := range [][2]*relation.Draft{{a, b}, {b, a}} {
		faults = append(faults, compareFollow(p[0], p[1])...)
		faults = append(faults, compareBeside(p[0], p[1])...)
	}
	for _, p := range [][2]*relation.Draft{{a, b}, {b, a}} {
		x, y := p[0].AccountID(), p[1].AccountID()
		if r := p[0].Rel(y); contradictory(r) {
			return append(faults, between(Beside, x, y, "the row of account %d says of %d what does not go together: %s", x, y, inWords(r)))
		}
	}
	return faults
}

func compareFollow(x, y *relation.Draft) []Fault {
	from, to := x.AccountID(), y.AccountID()
	out, in := x.Rel(to)&list.IsFollowing != 0, y.Rel(from)&list.IsFollower != 0
	outAt, _ := x.Times(to)
	_, inAt := y.Times(from)
	switch {
	case out && !in:
		return []Fault{between(Edge, to, from, "account %d follows %d since %s, but is not among the followers of %d", from, to, since(outAt), to)}
	case in && !out:
		return []Fault{between(Edge, to, from, "account %d has %d among its followers since %s, but %d does not follow it", to, from, since(inAt), from).by(from)}
	case out && outAt != inAt:
		return []Fault{between(Time, to, from, "account %d follows %d since %s by its own row, since %s by the row of %d", from, to, since(outAt), since(inAt), to)}
	}
	return nil
}

// mirrors are the sections that must say the same.
var mirrors = []struct {
	kind         Kind
	mine, theirs list.Section
	verb         string
}{{Block, list.Blocking, list.BlockedBy, "block"}, {Request, list.Requested, list.Requests, "request to follow"}}

func compareBeside(x, y *relation.Draft) (faults []Fault) {
	from, to := x.AccountID(), y.AccountID()
	for _, m := range mirrors {
		_, is := x.Time(m.mine, to)
		_, told := y.Time(m.theirs, from)
		switch {
		case is && !told:
			faults = append(faults, between(m.kind, to, from, "the %s of account %d to %d stands in the section %s of %d, but not in %s of %d", m.verb, from, to, m.mine, from, m.theirs, to))
		case told && !is:
			faults = append(faults, between(m.kind, to, from, "the %s of account %d to %d stands in the section %s of %d, but not in %s of %d", m.verb, from, to, m.theirs, to, m.mine, from).by(from))
		}
	}
	return faults
}

// inWords names what one account is to another.
func inWords(r list.Rel) (s string) {
	for i, word := range []string{"following", "follower", "blocking", "blocked by", "muting", "request", "requested", "options"} {
		if r>>i&1 != 0 {
			s += ", " + word
		}
	}
	if s == "" {
		return "nothing"
	}
	return s[2:]
}
