package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kith/repo/list"
	"kith/repo/relation"
)

// pair is two accounts, the smaller id first.
type pair struct{ a, b uint64 }

func pairOf(x, y uint64) pair { return pair{min(x, y), max(x, y)} }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
}

// suspect remembers two accounts whose rows may not agree.
func (a *auditor) suspect(x, y uint64) { a.pairs[pairOf(x, y)] = true }

// differing reads the rows again for the entries of the slices whose sides differ, and
// returns the pairs that seem not to agree.
func (a *auditor) differing(ctx context.Context) (suspects []pair, err error) {
	groups := a.sums.groups(a.cfg.Collect)
	for i, g := range groups {
		a.sum.Slices += int64(len(g.slices))
		if i >= maxPasses || len(suspects) > max(a.cfg.Collect, maxNoted) {
			a.sum.Unlooked += int64(len(g.slices))
			continue
		}
		found := make([]entry, 0, max(g.entries, 0))
		w := walk{auditor: a, phase: "differing", each: func(e entry) {
			if at, _ := a.sums.slice(e); g.slices[at] && !a.bad[e.owner] && !a.bad[e.other] {
				found = append(found, e)
			}
		}}
		if err := w.run(ctx); err != nil {
			return nil, err
		}
		suspects = append(suspects, a.unmatched(found)...)
	}
	return suspects, nil
}

// unmatched returns the pairs whose entries are not the same from both sides, and notes
// whose own row lacks what the other says it did.
func (a *auditor) unmatched(found []entry) (out []pair) {
	slices.SortFunc(found, entry.compare)
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n].compare(found[0]) == 0 {
			n++
		}
		if n != 2 || found[0].out == found[1].out || found[0].kind == follow && found[0].at != found[1].at {
			from, to := found[0].ends()
			out = append(out, pairOf(from, to))
			if !slices.ContainsFunc(found[:n], func(e entry) bool { return e.out }) {
				a.lacking[from]++
			}
		}
		found = found[n:]
	}
	return out
}

// verify compares the rows of suspects, those that one row alone showed among them, and
// repairs what is wrong. Pairs with an unknown account are left for the end.
func (a *auditor) verify(ctx context.Context, suspects []pair) error {
	suspects = slices.AppendSeq(suspects, maps.Keys(a.pairs))
	clear(a.pairs)
	slices.SortFunc(suspects, pair.compare)
	suspects = slices.Compact(suspects)
	suspects, err := a.splitUnknown(ctx, suspects)
	if err == nil {
		err = a.reportLost(ctx, suspects)
	}
	for i, p := range suspects {
		if err == nil {
			err = a.step(ctx, "verify", int64(i), int64(len(suspects)))
		}
		if err == nil && !a.bad[p.a] && !a.bad[p.b] {
			a.sum.Suspects++
			err = a.verifyPair(ctx, p)
		}
	}
	if err == nil {
		err = a.step(ctx, "verify", int64(len(suspects)), int64(len(suspects)))
	}
	return err
}

// reportLost reports accounts whose row was lost, so that nothing is taken from others
// because it lacks that: those that have no row though two or more others name them, and
// those whose row has less of what they did than it lacks, as one that was made anew by
// the first edit after the loss. A single entry is one half of an edge.
func (a *auditor) reportLost(ctx context.Context, suspects []pair) error {
	named := count(suspects)
	maps.DeleteFunc(named, func(_ uint64, n int) bool { return n < 2 })
	rows, err := a.cfg.Rows.Outlines(ctx, slices.Collect(maps.Keys(named)))
	if err != nil {
		return err
	}
	pairs := map[uint64][]pair{} // of those that lack something
	for _, p := range suspects {
		for _, id := range []uint64{p.a, p.b} {
			if a.lacking[id] >= 2 {
				pairs[id] = append(pairs[id], p)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		f := fault(Row, id, "there is no row, but the rows of %d others name the account", named[id])
		if _, is := rows[id]; is {
			if a.lacking[id] < 2 {
				continue
			}
			has, lost, err := a.lacksMost(ctx, id, pairs[id])
			if err != nil {
				return err
			}
			if !lost {
				continue
			}
			f = fault(Row, id, "its row lacks %d follows, blocks and requests that the rows of others know of, and has only %d", a.lacking[id], has)
		}
		a.bad[id] = true
		f.Rebuild, f.Err = id, lostError(id)
		a.report(f)
	}
	return nil
}

// lacksMost reports how much a row has of what its account did, and whether it lacks more,
// two entries at least. That is by what the rows of its pairs say under their locks: the
// account may have ended follows while the rows were read.
func (a *auditor) lacksMost(ctx context.Context, id uint64, pairs []pair) (has int, lost bool, err error) {
	x, err := a.examine(ctx, id, false)
	if err != nil {
		return 0, false, err
	}
	x.each(func(e entry) {
		if e.out {
			has++
		}
	})
	need := max(has+1, 2)
	if a.lacking[id] < need {
		return has, false, nil
	}
	for _, p := range pairs {
		faults, err := a.compareLocked(ctx, p)
		if err != nil {
			return 0, false, err
		}
		for _, f := range faults {
			if f.silent == id {
				need--
			}
		}
		if need <= 0 {
			return has, true, nil
		}
	}
	return has, false, nil
}

// count returns in how many pairs each account stands.
func count(pairs []pair) map[uint64]int {
	n := map[uint64]int{}
	for _, p := range pairs {
		n[p.a]++
		n[p.b]++
	}
	return n
}

// verifyPair compares two rows, and reports or repairs what they do not agree about.
// An entry that the row of the one who made it lacks is taken away only if that row has
// not lost entries.
func (a *auditor) verifyPair(ctx context.Context, p pair) error {
	var faults []Fault
	for range confirmations {
		var err error
		if faults, err = a.compareLocked(ctx, p); err != nil || len(faults) == 0 {
			return err
		}
	}
	var why error
	for i, f := range faults {
		if f.silent == 0 || why != nil {
			continue
		}
		var err error
		if why, err = a.checkLost(ctx, f.silent); err != nil {
			return err
		}
		if errors.As(why, new(lostError)) {
			faults[i].Rebuild = f.silent
		}
	}
	if a.cfg.Repair && why == nil {
		if _, err := a.cfg.Relations.Repair(ctx, p.a, p.b, search); err != nil {
			why = fmt.Errorf("repair accounts %d and %d: %w", p.a, p.b, err)
		}
	}
	a.reportAll(faults, why)
	return ctx.Err()
}

// confirmations is how often a fault must be found: a row that does not exist yet
// cannot be locked, and may be inserted while the other is read.
const confirmations = 2

// lockTries is how often the lock of two rows is tried.
const lockTries = 20

// compareLocked compares two rows, and what is archived of them, under their locks. Of
// one that cannot be read it says nothing: the next audit finds that.
func (a *auditor) compareLocked(ctx context.Context, p pair) (faults []Fault, err error) {
	for range lockTries {
		won, err := a.cfg.Rows.Locked(ctx, []uint64{p.a, p.b}, nil, func(rows map[uint64]*relation.Draft) ([]relation.Row, error) {
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
	return nil, fmt.Errorf("lock accounts %d and %d: lost %d times to other writers", p.a, p.b, lockTries)
}

// search reads what the archives of both say about the other, and reports whether that
// was possible.
func search(x, y *relation.Draft) bool {
	first, second := x.Search(y.AccountID()), y.Search(x.AccountID())
	return first && second
}

// compare returns the faults between two rows.
func compare(a, b *relation.Draft) (faults []Fault) {
	sides := [][2]*relation.Draft{{a, b}, {b, a}}
	for _, p := range sides {
		faults = append(faults, compareFollow(p[0], p[1])...)
		faults = append(faults, compareOthers(p[0], p[1])...)
	}
	for _, p := range sides {
		x, y := p[0].AccountID(), p[1].AccountID()
		if r := p[0].Rel(y); contradictory(r) {
			return append(faults, between(Conflict, x, y, "the row of account %d contradicts itself about %d: %s", x, y, relNames(r)))
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
		f := between(Edge, to, from, "account %d has %d among its followers since %s, but %d does not follow it", to, from, since(inAt), from)
		f.silent = from
		return []Fault{f}
	case out && outAt != inAt:
		return []Fault{between(Time, to, from, "account %d follows %d since %s by its own row, since %s by the row of %d", from, to, since(outAt), since(inAt), to)}
	}
	return nil
}

func compareOthers(x, y *relation.Draft) (faults []Fault) {
	from, to := x.AccountID(), y.AccountID()
	for _, b := range counterparts {
		if !b.out {
			continue
		}
		kind, verb := Block, "block"
		if b.kind == request {
			kind, verb = Request, "request to follow"
		}
		_, mine := x.Time(b.section, to)
		_, theirs := y.Time(b.counterpart, from)
		if mine == theirs {
			continue
		}
		f := between(kind, to, from, "the %s of account %d to %d stands in the section %s of %d, but not in %s of %d", verb, from, to, b.section, from, b.counterpart, to)
		if theirs {
			f = between(kind, to, from, "the %s of account %d to %d stands in the section %s of %d, but not in %s of %d", verb, from, to, b.counterpart, to, b.section, from)
			f.silent = from
		}
		faults = append(faults, f)
	}
	return faults
}

// relNames names the bits of a Rel.
func relNames(r list.Rel) string {
	var words []string
	for i, word := range []string{"following", "follower", "blocking", "blocked by", "muting", "request", "requested", "options"} {
		if r>>i&1 != 0 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
