package list

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bulk fills a list and its twin with n accounts, of which many share a time
// and many are friends with times far apart: what early ends of a scan, the
// heap of a page and the index of a run have to get right.
func bulk(rnd *rand.Rand, n int) (*List, *twin) {
	l, w := New(), newTwin()
	bits := 32 + 8*rnd.IntN(2)
	seconds := uint32(1 + n/(1+rnd.IntN(8)))
	friends := rnd.IntN(10)
	for _, id := range spread(n, bits) {
		at := func() uint32 { return 1_700_000_000 + rnd.Uint32N(seconds)*rnd.Uint32N(300) }
		kind := rnd.IntN(10)
		if kind < friends || kind%2 == 0 {
			w.in[id] = at()
			l.AddFollower(id, w.in[id])
		}
		if kind < friends || kind%2 == 1 {
			w.out[id] = at()
			l.AddFollowing(id, w.out[id])
		}
		if kind == 0 {
			w.beside[Requested][id] = at()
			l.Put(Requested, id, w.beside[Requested][id])
		}
	}
	return l, w
}

func drawBulk(t *rapid.T) (*List, *twin, *rand.Rand) {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	l, w := bulk(rnd, rapid.IntRange(1, 600).Draw(t, "accounts"))
	return l, w, rnd
}

func TestView_Page_Bulk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		v := view(rt, l)
		for o := range numOrders {
			all := w.order(o)
			cursor := func() Cursor {
				if len(all) == 0 || rnd.IntN(3) == 0 {
					return Cursor{}
				}
				c := all[rnd.IntN(len(all))].Cursor()
				c.ID += rnd.Uint64N(3) // on an entry or beside it
				return c
			}
			for range 10 {
				r := Range{Before: cursor(), After: cursor(), Limit: rnd.IntN(60), Oldest: rnd.IntN(2) == 0}
				got, more, err := v.Page(o, r, nil)
				want, wantMore := w.page(o, r)
				if err != nil || more != wantMore || !slices.Equal(got, want) {
					rt.Fatalf("order %d, %+v: got %v more %v, error %v, want %v more %v", o, r, got, more, err, want, wantMore)
				}
			}
		}
	})
}

// TestView_Page_Walk pages through whole lists in both directions.
func TestView_Page_Walk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		v, limit := view(rt, l), 1+rnd.IntN(80)
		for o := range numOrders {
			down, up := walkDown(rt, v, o, limit), walkUp(rt, v, o, limit)
			if want := w.order(o); !slices.Equal(down, want) || !slices.Equal(up, want) {
				rt.Fatalf("order %d by %d: got %v down, %v up, want %v", o, limit, down, up, want)
			}
		}
	})
}

func walkDown(t rapid.TB, v View, o Order, limit int) (all []Entry) {
	for r, more := (Range{Limit: limit}), true; more; {
		page, m, err := v.Page(o, r, nil)
		if err != nil || m && len(page) != limit {
			t.Fatalf("%+v: %d entries, more %v, error %v", r, len(page), m, err)
		}
		if all, more = append(all, page...), m; m {
			r.Before = page[len(page)-1].Cursor()
		}
	}
	return all
}

func walkUp(t rapid.TB, v View, o Order, limit int) (all []Entry) {
	for r, more := (Range{Limit: limit, Oldest: true}), true; more; {
		page, m, err := v.Page(o, r, nil)
		if err != nil || m && len(page) != limit {
			t.Fatalf("%+v: %d entries, more %v, error %v", r, len(page), m, err)
		}
		if all, more = append(slices.Clone(page), all...), m; m {
			r.After = page[0].Cursor()
		}
	}
	return all
}

func TestView_Rels_Bulk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		v := view(rt, l)
		known := v.AppendIDs(v.AppendIDs(nil, ByFollower), ByFollowing)
		ids := make([]uint64, rnd.IntN(400))
		for i := range ids {
			switch ids[i] = rnd.Uint64() >> rnd.IntN(40); {
			case len(known) > 0 && rnd.IntN(2) == 0:
				ids[i] = known[rnd.IntN(len(known))]
			case rnd.IntN(10) == 0:
				ids[i] = opIDs[rnd.IntN(len(opIDs))]
			}
		}
		got := make([]Rel, len(ids)+1)
		got[len(ids)] = 99
		v.Rels(ids, got)
		for i, id := range ids {
			if want := w.rel(id); got[i] != want || v.Rel(id) != want || l.Rel(id) != want {
				rt.Fatalf("rel of %d: got %b among many, %b alone, %b opened, want %b", id, got[i], v.Rel(id), l.Rel(id), want)
			}
		}
		if got[len(ids)] != 99 {
			rt.Fatalf("wrote past the answers")
		}
	})
}

// TestList_Index edits a list long enough for indexes, which must follow each
// move of an entry from section to section.
func TestList_Index(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		ids := spread(700, 32)
		for range 500 {
			o := op{kind: uint8(rnd.IntN(6)), id: ids[rnd.IntN(len(ids))], at: 1_700_000_000 + rnd.Uint32N(100_000)}
			if got, want := o.apply(rt, l, w); got != want {
				rt.Fatalf("%+v: got %v, want %v", o, got, want)
			}
		}
		w.sameSections(rt, l, view(rt, l))
	})
}

func TestList_Merge_Bulk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, _, rnd := drawBulk(rt)
		ids := spread(700, 32)
		var edges []Edge
		for range rnd.IntN(1000) {
			edges = append(edges, Edge{ID: ids[rnd.IntN(len(ids))], Time: 1_700_000_000 + rnd.Uint32N(100_000), Out: rnd.IntN(2) == 0})
		}
		plain := l.Clone()
		got, want := l.Merge(edges), oneByOne(plain, edges)
		if a, b := encode(rt, l), encode(rt, plain); got != want || !bytes.Equal(a, b) {
			rt.Fatalf("got %+v, want %+v; bytes equal: %v", got, want, bytes.Equal(a, b))
		}
		if again := l.Merge(edges); again != (MergeCount{}) {
			rt.Fatalf("merged again: got %+v, want nothing", again)
		}
	})
}

// A merge whose edge is there already and answers a request changes the list: it must be
// stored without the request.
func TestList_Merge_AnswersOnly(t *testing.T) {
	for out, want := range map[bool]Rel{true: IsFollowing | HasRequest, false: IsFollower | IsRequested} {
		l := New()
		l.Merge([]Edge{{ID: 7, Time: 5, Out: out}})
		l.Put(Requested, 7, 6)
		l.Put(Requests, 7, 6)
		l.Dirty = false
		added := l.Merge([]Edge{{ID: 7, Time: 9, Out: out}})
		if got := l.Rel(7); added != (MergeCount{}) || !l.Dirty || got != want {
			t.Errorf("out %v: added %+v, dirty %v, %b; want nothing added, dirty, %b", out, added, l.Dirty, got, want)
		}
	}
}
