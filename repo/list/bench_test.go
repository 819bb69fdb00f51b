package list

import (
	"math/rand/v2"
	"testing"
)

const benchNow = 1_700_000_000

// benchList returns a list of n edges as an account that is followed back a
// lot has: 3 of 10 friends, 5 of 10 followers; times over three years.
func benchList(n int) *List {
	rnd := rand.New(rand.NewPCG(1, 2))
	var edges []Edge
	for i := range n {
		id := uint64(i)*4001%uint64(4_000_000_000) + 1
		at := func() uint32 { return benchNow - rnd.Uint32N(3*365*86400) }
		kind := i % 10
		if kind < 8 {
			edges = append(edges, Edge{ID: id, Time: at()})
		}
		if kind < 3 || kind >= 8 {
			edges = append(edges, Edge{ID: id, Time: at(), Out: true})
		}
	}
	l := New()
	l.Merge(edges)
	return l
}

func BenchmarkParse(b *testing.B) {
	v := view(b, benchList(10_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(v.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	v := view(b, benchList(10_000))
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	v := view(b, benchList(10_000))
	b.ReportAllocs()
	b.SetBytes(int64(len(v.Bytes())))
	for b.Loop() {
		if _, err := v.Open(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	l := benchList(10_000)
	buf := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Encode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRels(b *testing.B, v View, wanted int) {
	all := v.AppendIDs(v.AppendIDs(nil, ByFollower), ByFollowing)
	ids, out := make([]uint64, wanted), make([]Rel, wanted)
	for i := range ids {
		ids[i] = all[i*7919%len(all)]
		if i%2 == 0 {
			ids[i] += 2 // in no section, mostly
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		v.Rels(ids, out)
	}
}

func BenchmarkRels1In20000(b *testing.B)   { benchRels(b, view(b, benchList(20_000)), 1) }
func BenchmarkRels3In20000(b *testing.B)   { benchRels(b, view(b, benchList(20_000)), 3) }
func BenchmarkRels4In20000(b *testing.B)   { benchRels(b, view(b, benchList(20_000)), 4) }
func BenchmarkRels40In200(b *testing.B)    { benchRels(b, view(b, benchList(200)), 40) }
func BenchmarkRels100In2000(b *testing.B)  { benchRels(b, view(b, benchList(2_000)), 100) }
func BenchmarkRels100In20000(b *testing.B) { benchRels(b, view(b, benchList(20_000)), 100) }
func BenchmarkRels1000In20000(b *testing.B) {
	benchRels(b, view(b, benchList(20_000)), 1000)
}

func BenchmarkRels100In20000Wide(b *testing.B) {
	l := benchList(20_000)
	l.AddFollower(1<<32, benchNow)
	benchRels(b, view(b, l), 100)
}

func benchPage(b *testing.B, o Order, r Range) { benchPageOf(b, benchList(10_000), o, r) }

func benchPageOf(b *testing.B, l *List, o Order, r Range) {
	v := view(b, l)
	buf := make([]Entry, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		if page, _, err := v.Page(o, r, buf); err != nil || len(page) != r.Limit {
			b.Fatal(len(page), err)
		}
	}
}

func BenchmarkPageFirst(b *testing.B)       { benchPage(b, ByFollower, Range{Limit: 40}) }
func BenchmarkPageFirstFriend(b *testing.B) { benchPage(b, ByFriend, Range{Limit: 40}) }

// deep is a cursor below nine tenths of the entries.
var deep = Cursor{Time: benchNow - 985*86400, ID: 1}

func BenchmarkPageDeep(b *testing.B) { benchPage(b, ByFollower, Range{Before: deep, Limit: 40}) }

// BenchmarkPageDeepFan is that of an account that follows none back.
func BenchmarkPageDeepFan(b *testing.B) {
	l := New()
	for i := range uint32(10_000) {
		l.AddFollower(uint64(i+1), benchNow-i*9461)
	}
	benchPageOf(b, l, ByFollower, Range{Before: deep, Limit: 40})
}

func BenchmarkPageOldest(b *testing.B) {
	benchPage(b, ByFollower, Range{After: deep, Limit: 40, Oldest: true})
}

// BenchmarkInsertFront is what a committer does for a hot row: open, 256 new
// followers, encode.
func BenchmarkInsertFront(b *testing.B) {
	v := view(b, benchList(10_000))
	buf := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		l, err := v.Open()
		if err != nil {
			b.Fatal(err)
		}
		for i := range uint64(256) {
			l.AddFollower(3_900_000_000+i, benchNow+uint32(i))
		}
		if _, err := l.Encode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDrop is as InsertFront, with 256 unfollows from all over the list.
func BenchmarkDrop(b *testing.B) {
	v := view(b, benchList(10_000))
	ids := v.AppendIDs(nil, ByFollower)
	buf := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		l, err := v.Open()
		if err != nil {
			b.Fatal(err)
		}
		for i := range 256 {
			if !l.DropFollower(ids[i*31]) {
				b.Fatal("not a follower")
			}
		}
		if _, err := l.Encode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func benchMerge(b *testing.B, have, n int) {
	base := benchList(have)
	rnd := rand.New(rand.NewPCG(3, 4))
	edges := make([]Edge, n)
	for i := range edges {
		edges[i] = Edge{ID: 1 + rnd.Uint64N(1<<31), Time: benchNow - rnd.Uint32N(1<<26), Out: i%4 == 0}
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		l := base.Clone()
		b.StartTimer()
		l.Merge(edges)
	}
}

func BenchmarkMerge100Into10000(b *testing.B)     { benchMerge(b, 10_000, 100) }
func BenchmarkMerge10000Into10000(b *testing.B)   { benchMerge(b, 10_000, 10_000) }
func BenchmarkMerge1000000Into10000(b *testing.B) { benchMerge(b, 10_000, 1_000_000) }
