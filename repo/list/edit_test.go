package list

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kith/repo"
)

func TestList_Follow(t *testing.T) {
	l := New()
	steps := []struct {
		name         string
		edit         func() bool
		changed      bool
		rel          Rel
		mine, theirs uint32
	}{
		{"drop an unknown account", func() bool { return l.DropFollowing(5) }, false, 0, 0, 0},
		{"follow", func() bool { return l.AddFollowing(5, 100) }, true, IsFollowing, 100, 0},
		{"follow again", func() bool { return l.AddFollowing(5, 200) }, false, IsFollowing, 100, 0},
		{"drop what is not", func() bool { return l.DropFollower(5) }, false, IsFollowing, 100, 0},
		{"followed back before", func() bool { return l.AddFollower(5, 50) }, true, IsFollowing | IsFollower, 100, 50},
		{"followed back again", func() bool { return l.AddFollower(5, 60) }, false, IsFollowing | IsFollower, 100, 50},
		{"unfollow", func() bool { return l.DropFollowing(5) }, true, IsFollower, 0, 50},
		{"follow at unknown time", func() bool { return l.AddFollowing(5, 0) }, true, IsFollowing | IsFollower, 0, 50},
		{"lose follower", func() bool { return l.DropFollower(5) }, true, IsFollowing, 0, 0},
		{"follow again, unknown kept", func() bool { return l.AddFollowing(5, 9) }, false, IsFollowing, 0, 0},
		{"unfollow at last", func() bool { return l.DropFollowing(5) }, true, 0, 0, 0},
	}
	for _, s := range steps {
		if got := s.edit(); got != s.changed {
			t.Fatalf("%s: got changed %v, want %v", s.name, got, s.changed)
		}
		if mine, theirs := l.Times(5); l.Rel(5) != s.rel || mine != s.mine || theirs != s.theirs {
			t.Fatalf("%s: got rel %b times %d %d, want %b %d %d", s.name, l.Rel(5), mine, theirs, s.rel, s.mine, s.theirs)
		}
	}
}

func TestList_RefusedIDs(t *testing.T) {
	l := New()
	for _, id := range []uint64{0, MaxID + 1, math.MaxUint64} {
		if l.AddFollowing(id, 1) || l.AddFollower(id, 1) || l.Put(Blocking, id, 1) {
			t.Fatalf("id %d was taken", id)
		}
		if _, err := l.SetOption(id, Option{Notify: true}); err == nil {
			t.Fatalf("option of %d was taken", id)
		}
		if n := l.Merge([]Edge{{ID: id, Out: true}, {ID: id}}); n != (MergeCount{}) {
			t.Fatalf("merge of %d: got %+v, want nothing", id, n)
		}
	}
	if b := encode(t, l); len(b) != headerBytes {
		t.Fatalf("got %x, want an empty list", b)
	}
}

// A count takes the bytes that the longest section needs, in all sections.
func TestList_Encode_CountWidth(t *testing.T) {
	for _, c := range []struct{ n, width int }{
		{1, 1}, {math.MaxUint8, 1}, {math.MaxUint8 + 1, 2}, {math.MaxUint16, 2}, {math.MaxUint16 + 1, 4},
	} {
		edges := make([]Edge, c.n)
		for i := range edges {
			edges[i].ID = uint64(i + 2)
		}
		l := New()
		l.Merge(edges)
		l.AddFollowing(1, 0)
		v := view(t, l)
		if err := v.Check(); err != nil || v.Len(Followers) != c.n || v.Len(Following) != 1 {
			t.Fatalf("%d followers, 1 following: got %d and %d, error %v", c.n, v.Len(Followers), v.Len(Following), err)
		}
		if got, want := len(v.Bytes()), headerBytes+2*c.width+narrow*(c.n+1); got != want {
			t.Errorf("%d followers: got %d bytes, want %d", c.n, got, want)
		}
	}
}

func TestList_Put_Sections(t *testing.T) {
	l := New()
	for s := range numSections + 3 {
		want := s >= Blocking && s <= Requested
		if got := l.Put(s, 5, 7); got != want {
			t.Errorf("put in %v: got %v, want %v", s, got, want)
		}
		if at, ok := l.Time(s, 5); ok != want || ok && at != 7 {
			t.Errorf("time in %v: got %d %v, want %v", s, at, ok, want)
		}
	}
	want := IsBlocking | IsBlockedBy | IsMuting | HasRequest | IsRequested
	if got := l.Rel(5); got != want {
		t.Errorf("rel: got %b, want %b", got, want)
	}
	for s := range numSections + 3 {
		want := s >= Blocking && s <= Requested
		if got := l.Drop(s, 5); got != want || l.Drop(s, 5) {
			t.Errorf("drop from %v: got %v, want %v once", s, got, want)
		}
	}
}

func TestList_Width(t *testing.T) {
	for name, leave := range map[string]func(l *List, id uint64){
		"edge":    func(l *List, id uint64) { l.AddFollower(id, 1); l.DropFollower(id) },
		"section": func(l *List, id uint64) { l.Put(Muting, id, 1); l.Drop(Muting, id) },
		"option":  func(l *List, id uint64) { l.SetOption(id, Option{Notify: true}); l.SetOption(id, Option{}) },
	} {
		t.Run(name, func(t *testing.T) {
			l := New()
			l.AddFollowing(math.MaxUint32, 1)
			narrowBytes := encode(t, l)
			leave(l, 1<<32)
			if got := encode(t, l); !slices.Equal(got, narrowBytes) {
				t.Fatalf("got %x, want %x again", got, narrowBytes)
			}
		})
	}
	l := New()
	l.AddFollowing(math.MaxUint32, 1)
	l.SetOption(1<<32, Option{Notify: true})
	if v := view(t, l); v.width != wide || v.Rel(math.MaxUint32) != IsFollowing || v.Rel(1<<32) != HasOption {
		t.Fatalf("got width %d, want %d", v.width, wide)
	}
}

func TestView_Rel_OtherWidth(t *testing.T) {
	l := New()
	l.AddFollowing(5, 1)
	v := view(t, l)
	ids, out := []uint64{5, 1<<32 + 5, 0, MaxID + 1, 5 << 32, 5}, make([]Rel, 6)
	v.Rels(ids, out)
	if want := []Rel{IsFollowing, 0, 0, 0, 0, IsFollowing}; !slices.Equal(out, want) {
		t.Fatalf("got %v, want %v", out, want)
	}
}

func TestList_Clone(t *testing.T) {
	l := New()
	l.AddFollowing(5, 1)
	l.Put(Muting, 6, 1)
	l.SetOption(7, Option{MuteUntil: 1})
	before := encode(t, l)
	c := l.Clone()
	c.AddFollower(5, 2)
	c.Drop(Muting, 6)
	c.SetOption(7, Option{MuteUntil: 2})
	c.SetOption(8, Option{Note: true})
	if got := encode(t, l); !slices.Equal(got, before) {
		t.Fatalf("edits of a clone changed the list: got %x, want %x", got, before)
	}
}

// Edits of an opened list, whatever they unpack, leave the bytes it came from alone.
func TestView_Open_Bytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		v := view(rt, l)
		before := slices.Clone(v.Bytes())
		opened, err := v.Open()
		if err != nil {
			rt.Fatal(err)
		}
		ids := spread(700, 32)
		for range rnd.IntN(30) {
			o := op{kind: uint8(rnd.IntN(14)), id: ids[rnd.IntN(len(ids))], at: 1_700_000_000 + rnd.Uint32N(100_000)}
			if got, want := o.apply(rt, opened, w); got != want {
				rt.Fatalf("%+v: got %v, want %v", o, got, want)
			}
		}
		if !slices.Equal(v.Bytes(), before) {
			rt.Fatal("edits changed the bytes")
		}
		plain, again := encode(rt, opened), view(rt, opened)
		w.sameSections(rt, opened, again)
		if !slices.Equal(plain, again.Bytes()) {
			rt.Fatal("encoded twice: other bytes")
		}
	})
}

func TestList_Encode_Appends(t *testing.T) {
	l := New()
	l.AddFollowing(5, 1)
	want := encode(t, l)
	got, err := l.Encode([]byte("before"))
	if err != nil || string(got) != "before"+string(want) {
		t.Fatalf("got %x, error %v, want %x behind what was there", got, err, want)
	}
}

// TestList_Encode_MaxBytes fills a list to the last byte with languages.
func TestList_Encode_MaxBytes(t *testing.T) {
	l, codes := New(), slices.Repeat([]string{strings.Repeat("x", MaxLanguage)}, MaxLanguages)
	set := func(id uint64, codes []string) {
		t.Helper()
		if _, err := l.SetOption(id, Option{Languages: codes}); err != nil {
			t.Fatal(err)
		}
	}
	const long = 4 + 1 + 2 + MaxLanguages*(MaxLanguage+1) - 1 // an id, flags, the length of the text, the text
	for id := uint64(1); id <= MaxBytes/long-1; id++ {
		set(id, codes)
	}
	const short = 4 + 1 + 1 + MaxLanguage
	for id := uint64(1 << 30); id < 1<<30+(long-100)/short; id++ {
		set(id, codes[:1])
	}
	for id := uint64(1 << 31); len(encode(t, l)) < MaxBytes; id++ {
		free := MaxBytes - len(encode(t, l)) - 6
		if free > MaxLanguage {
			free = min(MaxLanguage, free-7) // leave room for one more
		}
		set(id, []string{strings.Repeat("x", free)})
	}
	b := encode(t, l)
	if len(b) != MaxBytes {
		t.Fatalf("got %d bytes, want %d", len(b), MaxBytes)
	}
	v, err := Parse(b)
	if err != nil || v.Check() != nil {
		t.Fatalf("parse %d bytes: %v, check: %v", len(b), err, v.Check())
	}
	l.AddFollower(1, 1)
	if _, err := l.Encode(nil); !errors.Is(err, repo.ErrTooLarge) {
		t.Fatalf("got error %v, want %v", err, repo.ErrTooLarge)
	}
	if _, err := Parse(append(b, 0)); !errors.Is(err, ErrFormat) {
		t.Fatalf("parse too many bytes: got error %v, want %v", err, ErrFormat)
	}
}

func TestList_Encode_TooManyIDs(t *testing.T) {
	l := New()
	entries := make([]entry, MaxBytes/4+1)
	for i := range entries {
		entries[i].id = uint64(i + 1)
	}
	l.runs[Followers].replace(entries)
	if _, err := l.Encode(nil); !errors.Is(err, repo.ErrTooLarge) {
		t.Fatalf("got error %v, want %v", err, repo.ErrTooLarge)
	}
}

func TestList_Merge_Counts(t *testing.T) {
	l := New()
	l.AddFollower(1, 10)
	l.AddFollowing(2, 10)
	l.Put(Blocking, 3, 1)
	l.Put(BlockedBy, 4, 1)
	l.Put(Requested, 5, 1)
	l.Put(Requests, 5, 1)
	l.Put(Requested, 6, 1)
	got := l.Merge([]Edge{
		{ID: 1, Time: 20, Out: true}, // becomes a friend
		{ID: 2, Time: 5, Out: true},  // was followed: time kept
		{ID: 3, Time: 5}, {ID: 4, Time: 5, Out: true},
		{ID: 5, Time: 9, Out: true}, {ID: 5, Time: 7, Out: true},
		{ID: 6, Time: 9},
		{ID: 7, Time: 9}, {ID: 7, Time: 8, Out: true},
	})
	if want := (MergeCount{Following: 3, Followers: 2, Friends: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for id, want := range map[uint64]Rel{
		1: IsFollowing | IsFollower, 2: IsFollowing, 3: IsBlocking, 4: IsBlockedBy,
		5: IsFollowing | HasRequest, 6: IsFollower | IsRequested, 7: IsFollowing | IsFollower,
	} {
		if got := l.Rel(id); got != want {
			t.Errorf("rel of %d: got %b, want %b", id, got, want)
		}
	}
	for id, want := range map[uint64][2]uint32{1: {20, 10}, 2: {10, 0}, 5: {7, 0}, 7: {8, 9}} {
		if mine, theirs := l.Times(id); mine != want[0] || theirs != want[1] {
			t.Errorf("times of %d: got %d %d, want %v", id, mine, theirs, want)
		}
	}
}
