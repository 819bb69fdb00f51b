package promotion

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/app/home"
	"kith/repo/event"
)

func page(from uint64, n int) (items []home.Item) {
	for i := range n {
		items = append(items, home.Item{Entry: home.Entry{Event: event.Event{ID: from - uint64(i)}}})
	}
	return items
}

func places(slots []slot) (out []int) {
	for _, s := range slots {
		out = append(out, s.after)
	}
	return out
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		all  []live
		want []int
	}{
		{"none", 20, nil, nil},
		{"one", 20, []live{{1, 11, 5, 1}}, []int{5}},
		{"one in a page of one more", 6, []live{{1, 11, 5, 1}}, []int{5}},
		{"three", 20, []live{{1, 11, 5, 1}, {2, 12, 5, 9}, {3, 13, 5, 1}}, []int{5, 10, 15}},
		{"four, and never at the end", 20, []live{{1, 11, 5, 1}, {2, 12, 5, 1}, {3, 13, 5, 1}, {4, 14, 5, 1}}, []int{5, 10, 15}},
		{"one rare", 20, []live{{1, 11, 2, 1}, {2, 12, 10, 1}}, []int{2, 10}},
		{"two entries", 2, []live{{1, 11, 1, 1}}, []int{1}},
		{"one entry", 1, []live{{1, 11, 1, 1}}, nil},
		{"no entry", 0, []live{{1, 11, 1, 1}}, nil},
	} {
		if got := places(place(c.all, 7, page(1000, c.n))); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPlace_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []live
		least := MaxEvery
		for i := range rapid.IntRange(1, 100).Draw(t, "promotions") {
			p := live{uint64(i + 1), uint64(i + 1), rapid.IntRange(MinEvery, 60).Draw(t, "every"), rapid.IntRange(1, MaxWeight).Draw(t, "weight")}
			all, least = append(all, p), min(least, p.every)
		}
		reader, items := rapid.Uint64().Draw(t, "reader"), page(rapid.Uint64Range(1000, 1<<62).Draw(t, "from"), rapid.IntRange(0, 40).Draw(t, "entries"))
		slots := place(all, reader, items)
		if !slices.Equal(slots, place(all, reader, items)) {
			t.Fatal("the same page shows others")
		}
		last, seen := 0, map[uint64]bool{}
		for _, s := range slots {
			if s.after < 1 || s.after >= len(items) || last > 0 && s.after-last < least || seen[s.id] || s.every < len(items) && s.after < s.every {
				t.Fatalf("got %v of %d entries", slots, len(items))
			}
			last, seen[s.id] = s.after, true
		}
	})
}

// Over many pages each comes as often as its weight says, and after as many entries.
func TestPlace_Shares(t *testing.T) {
	const pages, size = 20_000, 20
	count := func(all ...live) map[uint64]int {
		got := map[uint64]int{}
		for i := range uint64(pages) {
			for _, s := range place(all, i%50, page(1<<40-i*size, size)) {
				got[s.id]++
			}
		}
		return got
	}
	near := func(name string, got, want int) {
		if got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: shown %d times, want about %d", name, got, want)
		}
	}
	heavy := count(live{1, 11, 15, 1}, live{2, 12, 15, 3})
	near("weight 1", heavy[1], pages/4)
	near("weight 3", heavy[2], pages*3/4)
	rare := count(live{1, 11, 100, 1})
	near("every 100", rare[1], pages*(size-1)/100)
	rare = count(live{1, 11, 100, 1}, live{2, 12, 300, 1000})
	mixed := count(live{1, 11, 2, 1}, live{2, 12, 100, 1})
	near("every 100 beside one of every 2", mixed[2], pages*16/100) // of nine places each, 2 in 100, and half of the first
	near("both", rare[1]+rare[2], pages*(size-1)/100)
	near("every 300 of them", rare[2], pages*(size-1)/300)
}
