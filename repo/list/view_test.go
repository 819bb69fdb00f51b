package list

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestView_Zero(t *testing.T) {
	var v View
	if errs := useAll(v); len(errs) != 0 {
		t.Fatalf("got %v, want an empty list", errs)
	}
	if err := v.Check(); !errors.Is(err, ErrFormat) {
		t.Fatalf("check: got %v, want %v: there are no bytes", err, ErrFormat)
	}
}

func TestView_Each(t *testing.T) {
	l := New()
	l.AddFollowing(1, 10)
	l.AddFollowing(2, 20)
	l.AddFollower(2, 5)
	l.AddFollower(3, 30)
	l.AddFollower(4, 40)
	l.Put(Muting, 5, 50)
	l.SetOption(9, Option{Notify: true})
	l.SetOption(6, Option{Notify: true})
	v := view(t, l)
	for s, want := range map[Section][]entry{
		Friends:     {{2, 20, 5}},
		Followers:   {{4, 0, 40}, {3, 0, 30}},
		Following:   {{1, 10, 0}},
		Muting:      {{5, 50, 0}},
		Options:     {{6, 0, 0}, {9, 0, 0}},
		Blocking:    nil,
		numSections: nil,
	} {
		for stop := 1; stop <= 3; stop++ {
			var got []entry
			err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
				got = append(got, entry{id, mine, theirs})
				return len(got) < stop
			})
			if want := want[:min(len(want), stop)]; err != nil || !slices.Equal(got, want) {
				t.Errorf("%v up to %d: got %v, error %v, want %v", s, stop, got, err, want)
			}
		}
	}
}

func TestView_Page_Edges(t *testing.T) {
	l := New()
	for id := uint64(1); id <= 5; id++ {
		l.AddFollower(id, 0)
		l.Put(Requests, id, math.MaxUint32)
	}
	v := view(t, l)
	ids := func(from, to uint64) (ids []uint64) {
		for id := from; id >= to; id-- {
			ids = append(ids, id)
		}
		return ids
	}
	cases := []struct {
		name string
		o    Order
		r    Range
		want []uint64
		more bool
	}{
		{"time 0 from the newest", ByFollower, Range{Limit: 2}, ids(5, 4), true},
		{"time 0 before", ByFollower, Range{Before: Cursor{0, 4}, Limit: 2}, ids(3, 2), true},
		{"time 0 after", ByFollower, Range{After: Cursor{0, 4}, Limit: 2}, ids(5, 5), false},
		{"time 0 oldest after", ByFollower, Range{After: Cursor{0, 1}, Limit: 2, Oldest: true}, ids(3, 2), true},
		{"last time before", ByRequest, Range{Before: Cursor{math.MaxUint32, 3}, Limit: 9}, ids(2, 1), false},
		{"last time after", ByRequest, Range{After: Cursor{math.MaxUint32, 3}, Limit: 9}, ids(5, 4), false},
		{"nothing between", ByRequest, Range{Before: Cursor{9, 9}, After: Cursor{9, 9}, Limit: 9}, nil, false},
		{"no limit", ByRequest, Range{Limit: math.MaxInt}, ids(5, 1), false},
		{"limit 0", ByRequest, Range{}, nil, true},
		{"limit below 0", ByRequest, Range{Limit: -7, Oldest: true}, nil, true},
		{"cursor without id", ByRequest, Range{Before: Cursor{Time: 5}, Limit: 1}, ids(5, 5), true},
		{"empty section", ByMuting, Range{Limit: 1}, nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page, more, err := v.Page(c.o, c.r, make([]Entry, 1, 3))
			var got []uint64
			for _, e := range page {
				got = append(got, e.ID)
			}
			if err != nil || more != c.more || !slices.Equal(got, c.want) {
				t.Fatalf("got %v more %v, error %v, want %v more %v", got, more, err, c.want, c.more)
			}
		})
	}
	if _, _, err := v.Page(numOrders, Range{Limit: 1}, nil); err == nil {
		t.Fatal("unknown order: got no error")
	}
	if got := v.AppendIDs(nil, numOrders); got != nil {
		t.Fatalf("unknown order: got %v, want nothing", got)
	}
}

func TestView_NoAllocations(t *testing.T) {
	v := view(t, benchList(2_000))
	ids, out := v.AppendIDs(nil, ByFollower)[:128], make([]Rel, 128)
	buf := make([]Entry, 0, 64)
	for name, f := range map[string]func(){
		"Parse": func() { Parse(v.Bytes()) },
		"Rels":  func() { v.Rels(ids, out) },
		"Page":  func() { v.Page(ByFollower, Range{Limit: 40}, buf) },
	} {
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%s: got %v allocations, want none", name, n)
		}
	}
}

func TestCursor(t *testing.T) {
	for _, c := range []Cursor{{0, 1}, {1_700_000_000, 5}, {math.MaxUint32, MaxID}} {
		got, err := ParseCursor(c.String())
		if err != nil || got != c {
			t.Errorf("%v: got %v, error %v", c, got, err)
		}
	}
	for _, s := range []string{
		"", "-", "1", "1-", "-1", "1-0", "01-1", "1-01", "+1-1", "1-+1", " 1-1", "1-1 ", "1-1-1", "1--1",
		"4294967296-1", "1-9223372036854775808", "1_0-1", "0x1-1", "a-b", "١-1",
	} {
		if got, err := ParseCursor(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, got)
		}
	}
}

func TestSection_String(t *testing.T) {
	for s, want := range map[Section]string{
		Friends: "friends", BlockedBy: "blocked_by", Options: "options", numSections: "section 9",
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
