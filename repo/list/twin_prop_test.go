package list

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var anyOps = rapid.Custom(func(t *rapid.T) []op {
	return readOps(rapid.SliceOfN(rapid.Byte(), 30*rapid.IntRange(0, 30).Draw(t, "length"), 900).Draw(t, "ops"))
})

var anyCursor = rapid.Custom(func(t *rapid.T) Cursor {
	return Cursor{
		Time: rapid.SampledFrom(opTimes).Draw(t, "time"),
		ID:   rapid.SampledFrom(opIDs).Draw(t, "id"),
	}
})

var anyRange = rapid.Custom(func(t *rapid.T) Range {
	return Range{
		Before: anyCursor.Draw(t, "before"),
		After:  anyCursor.Draw(t, "after"),
		Limit:  rapid.IntRange(-1, 20).Draw(t, "limit"),
		Oldest: rapid.Bool().Draw(t, "oldest"),
	}
})

func TestList_Twin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w := New(), newTwin()
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			w.run(rt, l, anyOps.Draw(rt, "ops"))
			v := w.same(rt, l)
			var err error
			if rapid.Bool().Draw(rt, "reopen") {
				if l, err = v.Open(); err != nil {
					rt.Fatal(err)
				}
			} else {
				l = l.Clone()
			}
		}
	})
}

func TestView_Page_Twin(t *testing.T) {
	buf := make([]Entry, 0, 5)
	rapid.Check(t, func(rt *rapid.T) {
		l, w := New(), newTwin()
		w.run(rt, l, anyOps.Draw(rt, "ops"))
		v := view(rt, l)
		for range 20 {
			r := anyRange.Draw(rt, "range")
			for o := range numOrders {
				got, more, err := v.Page(o, r, buf)
				want, wantMore := w.page(o, r)
				if err != nil || more != wantMore || !slices.Equal(got, want) {
					rt.Fatalf("order %d: got %v more %v, error %v, want %v more %v", o, got, more, err, want, wantMore)
				}
			}
		}
	})
}

func TestView_AppendIDs_Twin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w := New(), newTwin()
		w.run(rt, l, anyOps.Draw(rt, "ops"))
		v := view(rt, l)
		for o := range numOrders {
			got, want := v.AppendIDs([]uint64{7}, o), []uint64{7}
			for _, e := range w.order(o) {
				want = append(want, e.ID)
			}
			slices.Sort(got[1:])
			slices.Sort(want[1:])
			if !slices.Equal(got, want) {
				rt.Fatalf("order %d: got %v, want %v", o, got, want)
			}
		}
	})
}

func anyEdges(t *rapid.T) (edges []Edge) {
	for range rapid.IntRange(0, 60).Draw(t, "edges") {
		edges = append(edges, Edge{
			ID:   rapid.SampledFrom(opIDs).Draw(t, "id"),
			Time: rapid.SampledFrom(opTimes).Draw(t, "time"),
			Out:  rapid.Bool().Draw(t, "out"),
		})
	}
	return edges
}

// oneByOne is what Merge promises, in the plainest way.
func oneByOne(l *List, edges []Edge) (n MergeCount) {
	edges = slices.Clone(edges)
	slices.SortStableFunc(edges, func(a, b Edge) int { return int(int64(a.Time) - int64(b.Time)) })
	for _, e := range edges {
		rel := l.Rel(e.ID)
		if rel&(IsBlocking|IsBlockedBy) != 0 {
			continue
		}
		added := false
		if e.Out {
			l.Drop(Requested, e.ID)
			if added = l.AddFollowing(e.ID, e.Time); added {
				n.Following++
			}
		} else {
			l.Drop(Requests, e.ID)
			if added = l.AddFollower(e.ID, e.Time); added {
				n.Followers++
			}
		}
		if added && rel&(IsFollower|IsFollowing) != 0 {
			n.Friends++
		}
	}
	return n
}

func TestList_Merge_OneByOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := New()
		newTwin().run(rt, l, anyOps.Draw(rt, "ops"))
		plain, edges := l.Clone(), anyEdges(rt)
		given := slices.Clone(edges)
		got, want := l.Merge(edges), oneByOne(plain, edges)
		if got != want {
			rt.Fatalf("got %+v, want %+v", got, want)
		}
		if a, b := encode(rt, l), encode(rt, plain); !bytes.Equal(a, b) {
			rt.Fatalf("got %x, want %x", a, b)
		}
		if !slices.Equal(edges, given) {
			rt.Fatalf("edges were changed: got %v, want %v", edges, given)
		}
	})
}
