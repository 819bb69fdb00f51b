package relation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"kith/repo"
	"kith/repo/list"
)

// words are what was told, in an order in which it is found.
type words struct{ Told }

// newWords sorts what was told; nil if nobody told anything.
func newWords(t *Told) *words {
	if t == nil {
		return nil
	}
	w := &words{*t}
	if t.Gaps {
		w.Told = t.own()
	}
	w.Edges = slices.SortedFunc(slices.Values(w.Edges), func(a, b list.Edge) int { return cmp.Compare(a.ID, b.ID) })
	w.Beside = slices.SortedFunc(slices.Values(w.Beside), Beside.compare)
	return w
}

// own returns what was told of what the account itself does.
func (t *Told) own() Told {
	out := *t
	out.Edges = slices.DeleteFunc(slices.Clone(t.Edges), func(e list.Edge) bool { return !e.Out })
	out.Beside = slices.DeleteFunc(slices.Clone(t.Beside), func(b Beside) bool { return b.Section != list.Blocking && b.Section != list.Requested })
	return out
}

func (b Beside) compare(c Beside) int {
	return cmp.Or(cmp.Compare(b.ID, c.ID), cmp.Compare(b.Section, c.Section))
}

// edge is what two accounts are to each other, seen from one of them.
type edge struct {
	rel          list.Rel
	mine, theirs uint32
}

// edgeIn returns what a list says about id.
func edgeIn(l *list.List, id uint64) edge {
	mine, theirs := l.Times(id)
	return edge{l.Rel(id) & edges, mine, theirs}
}

// edge returns what was told about id.
func (w *words) edge(id uint64) (e edge) {
	at, _ := slices.BinarySearchFunc(w.Edges, id, func(e list.Edge, id uint64) int { return cmp.Compare(e.ID, id) })
	for ; at < len(w.Edges) && w.Edges[at].ID == id; at++ {
		if w.Edges[at].Out {
			e.rel, e.mine = e.rel|list.IsFollowing, w.Edges[at].Time
		} else {
			e.rel, e.theirs = e.rel|list.IsFollower, w.Edges[at].Time
		}
	}
	return e
}

// has reports whether it was told that id stands in a section.
func (w *words) has(s list.Section, id uint64) bool {
	_, ok := slices.BinarySearchFunc(w.Beside, Beside{Section: s, Entry: list.Entry{ID: id}}, Beside.compare)
	return ok
}

// holds reports whether the row or the archive has id in friends, followers or
// following.
func (w *rewrite) holds(id uint64) bool {
	_, ok := slices.BinarySearch(w.ids, id)
	return ok
}

// believe makes the list say what others told.
func (w *rewrite) believe() {
	var missing, other []list.Edge
	for _, e := range w.told.Edges {
		switch there := w.holds(e.ID); {
		case w.nobody[e.ID]:
		case !there && (w.yields(e.ID) || w.blank), w.gaps() && (!there || w.out[e.ID]):
			missing = append(missing, e)
		case there && w.yields(e.ID) && w.out[e.ID]:
			other = append(other, e)
		}
	}
	n := w.list.Merge(missing)
	w.done.Added += n.Followers + n.Following
	w.list.Merge(other)
	for id := range w.out {
		switch {
		case !w.yields(id):
		case w.told.edge(id).rel == 0:
			w.done.Dropped++
		default:
			w.done.Righted++
		}
	}
	for _, b := range w.told.Beside {
		if w.missing(b) && w.list.Put(b.Section, b.ID, b.Time) {
			w.done.Added++
		}
	}
	for _, b := range w.unsaid() {
		if w.list.Drop(b.Section, b.ID) {
			w.done.Dropped++
		}
	}
	w.forgetNobody(w.list)
}

// missing reports whether an entry that was told of counts and is not there.
func (w *rewrite) missing(b Beside) bool {
	_, there := w.list.Time(b.Section, b.ID)
	there = there || w.past[Beside{Section: b.Section, Entry: list.Entry{ID: b.ID}}]
	return !there && !w.nobody[b.ID] && (w.yields(b.ID) || w.gaps() || slices.Contains(w.done.Lost, b.Section))
}

// unsaid returns those who blocked the owner or asked to follow it as the list
// has it, and do not say so.
func (w *rewrite) unsaid() (out []Beside) {
	for _, s := range []list.Section{list.BlockedBy, list.Requests} {
		for _, id := range w.list.AppendIDs(nil, s) {
			if w.yields(id) && !w.told.has(s, id) {
				out = append(out, Beside{Section: s, Entry: list.Entry{ID: id}})
			}
		}
	}
	return out
}

// maxAskAgain bounds how many others are asked again while a row is locked.
const maxAskAgain = 1000

// askAgain asks those whose word would change something. While the row is
// locked nothing changes between it and them, since that takes a swap of pool.
func (w *rewrite) askAgain(ctx context.Context) error {
	doubt := map[uint64]bool{}
	add := func(id uint64) {
		if (w.yields(id) || w.gaps()) && !w.nobody[id] {
			doubt[id] = true
		}
	}
	for id := range w.out {
		add(id)
	}
	for _, e := range w.told.Edges {
		if !w.holds(e.ID) {
			add(e.ID)
		}
	}
	for _, b := range w.told.Beside {
		if w.missing(b) {
			add(b.ID)
		}
	}
	for _, b := range w.unsaid() {
		add(b.ID)
	}
	if len(doubt) > maxAskAgain {
		return fmt.Errorf("written to since %d others were asked who say otherwise: %w", len(doubt), repo.ErrConflict)
	}
	now := Told{Ver: w.row.Ver, Weak: maps.Clone(w.told.Weak), Gaps: w.told.Gaps, Nobody: w.told.Nobody}
	now.Edges = slices.DeleteFunc(w.told.Edges, func(e list.Edge) bool { return doubt[e.ID] })
	now.Beside = slices.DeleteFunc(w.told.Beside, func(b Beside) bool { return doubt[b.ID] })
	for _, id := range slices.Sorted(maps.Keys(doubt)) {
		if err := now.ask(ctx, w, id); err != nil {
			return err
		}
	}
	w.told = newWords(&now)
	return nil
}

// ask adds what the row and archive of id say about the account. Whoever cannot
// answer has no say.
func (t *Told) ask(ctx context.Context, w *rewrite, id uint64) error {
	rows, err := w.store.Store.Load(ctx, w.q, []uint64{id})
	if err != nil {
		return err
	}
	said := list.New()
	hear := func(b []byte) bool {
		v, err := list.Parse(b)
		if err != nil || v.Check() != nil {
			return false
		}
		l, err := v.Open()
		if err != nil {
			return false
		}
		t.hear(id, w.row.AccountID, l)
		said.Take(l, w.row.AccountID)
		return true
	}
	ok := hear(rows[id].List)
	if ok && said.Rel(w.row.AccountID) == 0 {
		err = eachSegment(ctx, w.q, id, func(g Segment) error { ok = ok && hear(g.List); return nil })
	}
	if !ok {
		if t.Weak == nil {
			t.Weak = map[uint64]bool{}
		}
		t.Weak[id] = true
	}
	return err
}

// hear adds what a list of id says about an account.
func (t *Told) hear(id, account uint64, l *list.List) {
	e := edgeIn(l, account)
	if e.rel&list.IsFollowing != 0 {
		t.Edges = append(t.Edges, list.Edge{ID: id, Time: e.mine})
	}
	if e.rel&list.IsFollower != 0 {
		t.Edges = append(t.Edges, list.Edge{ID: id, Time: e.theirs, Out: true})
	}
	for _, s := range []struct{ mine, theirs list.Section }{
		{list.Blocking, list.BlockedBy}, {list.BlockedBy, list.Blocking}, {list.Requests, list.Requested}, {list.Requested, list.Requests},
	} {
		if at, is := l.Time(s.theirs, account); is {
			t.Beside = append(t.Beside, Beside{Section: s.mine, Entry: list.Entry{ID: id, Time: at}})
		}
	}
}
