package list

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestList_Cut cuts a section at a random position and puts it together again.
func TestList_Cut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, w, rnd := drawBulk(rt)
		for id := range w.in {
			if rnd.IntN(3) == 0 {
				l.Put(Blocking, id, rnd.Uint32N(50))
				_, _ = l.SetOption(id, Option{Notify: true})
			}
		}
		whole := encode(rt, l)
		for _, s := range []Section{Friends, Followers, Following, Blocking, Requested, Options} {
			n := l.Len(s)
			keep := rnd.IntN(n + 1)
			cut := l.Cut(s, keep)
			if cut == nil {
				if keep != n {
					rt.Fatalf("%v: nothing cut of %d, keep %d", s, n, keep)
				}
				continue
			}
			if l.Len(s) != keep || cut.Len(s) != n-keep {
				rt.Fatalf("%v: %d kept, %d cut, want %d of %d", s, l.Len(s), cut.Len(s), keep, n)
			}
			if newest, _ := cut.Bounds(s); s != Options && keep > 0 {
				if _, oldest := l.Bounds(s); oldest.Compare(newest) <= 0 {
					rt.Fatalf("%v: kept %v is not newer than cut %v", s, oldest, newest)
				}
			}
			if s == Options {
				for _, id := range idsOf(cut, s) {
					if err := l.SetPacked(id, cut.Packed(id)); err != nil {
						rt.Fatal(err)
					}
				}
			} else {
				l.Join(cut, s)
			}
		}
		if got := encode(rt, l); !bytes.Equal(got, whole) {
			rt.Fatalf("cut and joined: got %x, want %x", got, whole)
		}
	})
}

func idsOf(l *List, s Section) (ids []uint64) {
	l.Each(s, func(id uint64, _, _ uint32) { ids = append(ids, id) })
	return ids
}

// TestList_CutAt holds the two parts against the position.
func TestList_CutAt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l, _, rnd := drawBulk(rt)
		all := idsOf(l, Followers)
		at := Cursor{Time: 1_700_000_000 + rnd.Uint32N(100_000), ID: 1 + rnd.Uint64N(1<<32)}
		if len(all) > 0 && rnd.IntN(2) == 0 {
			id := all[rnd.IntN(len(all))]
			_, theirs := l.Times(id)
			at = Cursor{Time: theirs, ID: id}
		}
		older := l.CutAt(Followers, at)
		n := 0
		if older != nil {
			n = older.Len(Followers)
			if newest, _ := older.Bounds(Followers); newest.Compare(at) > 0 {
				rt.Fatalf("%v is newer than %v", newest, at)
			}
		}
		if _, oldest := l.Bounds(Followers); l.Len(Followers) > 0 && oldest.Compare(at) <= 0 {
			rt.Fatalf("%v stayed, which is not newer than %v", oldest, at)
		}
		if n+l.Len(Followers) != len(all) {
			rt.Fatalf("%d and %d entries, want %d", n, l.Len(Followers), len(all))
		}
	})
}
