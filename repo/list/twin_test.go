package list

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"reflect"
	"slices"

	"pgregory.net/rapid"
)

// twin is the plain slow version of a list: maps, sorted when asked.
type twin struct {
	out, in map[uint64]uint32 // edges: who I follow, who follows me
	beside  [numSections]map[uint64]uint32
	options map[uint64]Option
}

func newTwin() *twin {
	t := &twin{out: map[uint64]uint32{}, in: map[uint64]uint32{}, options: map[uint64]Option{}}
	for s := Blocking; s <= Requested; s++ {
		t.beside[s] = map[uint64]uint32{}
	}
	return t
}

func twinPut(m map[uint64]uint32, id uint64, at uint32) bool {
	if _, ok := m[id]; ok || id == 0 || id > MaxID {
		return false
	}
	m[id] = at
	return true
}

func twinDrop(m map[uint64]uint32, id uint64) bool {
	_, ok := m[id]
	delete(m, id)
	return ok
}

func (w *twin) rel(id uint64) (r Rel) {
	for bit, m := range map[Rel]map[uint64]uint32{
		IsFollowing: w.out, IsFollower: w.in, IsBlocking: w.beside[Blocking],
		IsBlockedBy: w.beside[BlockedBy], IsMuting: w.beside[Muting],
		HasRequest: w.beside[Requests], IsRequested: w.beside[Requested],
	} {
		if _, ok := m[id]; ok {
			r |= bit
		}
	}
	if _, ok := w.options[id]; ok {
		r |= HasOption
	}
	return r
}

func (w *twin) times(id uint64) (mine, theirs uint32) { return w.out[id], w.in[id] }

// section returns the entries of a section, newest first.
func (w *twin) section(s Section) (entries []entry) {
	switch {
	case s.timed():
		for id, at := range w.beside[s] {
			entries = append(entries, entry{id: id, mine: at})
		}
	default:
		for id := range mergeKeys(w.out, w.in) {
			mine, theirs := w.times(id)
			if w.rel(id)&(IsFollowing|IsFollower) == relOf[s] {
				entries = append(entries, entry{id: id, mine: mine, theirs: theirs})
			}
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return b.compare(a) })
	return entries
}

func mergeKeys(a, b map[uint64]uint32) map[uint64]uint32 {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// order returns all entries of a page order, newest first.
func (w *twin) order(o Order) (all []Entry) {
	m := map[uint64]uint32{}
	switch o {
	case ByFollower:
		m = w.in
	case ByFollowing:
		m = w.out
	case ByFriend:
		for _, e := range w.section(Friends) {
			m[e.id] = e.key()
		}
	default:
		m = w.beside[sortedBy[o]]
	}
	for id, at := range m {
		all = append(all, Entry{ID: id, Time: at})
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.ID, a.ID))
	})
	return all
}

func (w *twin) page(o Order, r Range) ([]Entry, bool) {
	all := slices.DeleteFunc(w.order(o), func(e Entry) bool {
		return r.Before.ID != 0 && e.Cursor().Compare(r.Before) >= 0 ||
			r.After.ID != 0 && e.Cursor().Compare(r.After) <= 0
	})
	n := max(0, min(r.Limit, len(all)))
	if r.Oldest {
		return all[len(all)-n:], n < len(all)
	}
	return all[:n], n < len(all)
}

// run applies all edits to a list and its twin.
func (w *twin) run(t rapid.TB, l *List, ops []op) {
	t.Helper()
	for i, o := range ops {
		if got, want := o.apply(t, l, w); got != want {
			t.Fatalf("edit %d %+v: got %v, want %v", i, o, got, want)
		}
	}
}

// same compares an opened list with its twin, and then its bytes.
func (w *twin) same(t rapid.TB, l *List) View {
	t.Helper()
	v := view(t, l)
	if err := v.Check(); err != nil {
		t.Fatalf("check what was encoded: %v", err)
	}
	w.sameSections(t, l, v)
	w.sameStates(t, l, v)
	again, err := v.Open()
	if err != nil {
		t.Fatal(err)
	}
	if b := encode(t, again); !bytes.Equal(b, v.Bytes()) {
		t.Fatalf("encoded again:\n got %x\nwant %x", b, v.Bytes())
	}
	return v
}

func (w *twin) sameSections(t rapid.TB, l *List, v View) {
	t.Helper()
	for s := range Options {
		var got []entry
		err := v.Each(s, func(id uint64, mine, theirs uint32) bool {
			got = append(got, entry{id, mine, theirs})
			return true
		})
		want := w.section(s)
		if err != nil || !slices.Equal(got, want) || v.Len(s) != len(want) || l.Len(s) != len(want) {
			t.Fatalf("section %v: got %v (Len %d, opened %d, error %v), want %v", s, got, v.Len(s), l.Len(s), err, want)
		}
	}
	if want := len(w.options); v.Len(Options) != want || l.Len(Options) != want {
		t.Fatalf("options: got %d, opened %d, want %d", v.Len(Options), l.Len(Options), want)
	}
}

func (w *twin) sameStates(t rapid.TB, l *List, v View) {
	t.Helper()
	rels := make([]Rel, len(opIDs))
	v.Rels(opIDs, rels)
	options, err := v.Options()
	if err != nil || len(options) != len(w.options) {
		t.Fatalf("options: got %v, error %v, want %v", options, err, w.options)
	}
	for i, id := range opIDs {
		if want := w.rel(id); rels[i] != want || v.Rel(id) != want || l.Rel(id) != want {
			t.Fatalf("rel of %d: got %b among many, %b alone, %b opened, want %b", id, rels[i], v.Rel(id), l.Rel(id), want)
		}
		mine, theirs := l.Times(id)
		if m, th := w.times(id); mine != m || theirs != th {
			t.Fatalf("times of %d: got %d %d, want %d %d", id, mine, theirs, m, th)
		}
		for s := Blocking; s <= Requested; s++ {
			at, ok := l.Time(s, id)
			if wantAt, wantOK := w.beside[s][id]; at != wantAt || ok != wantOK {
				t.Fatalf("time of %d in %v: got %d %v, want %d %v", id, s, at, ok, wantAt, wantOK)
			}
		}
		w.sameOption(t, l, v, id, options[id])
	}
}

func (w *twin) sameOption(t rapid.TB, l *List, v View, id uint64, among Option) {
	t.Helper()
	want, wantOK := w.options[id]
	got, ok, err := v.Option(id)
	for _, o := range []Option{got, among, l.Option(id)} {
		if err != nil || ok != wantOK || !reflect.DeepEqual(normal(o), normal(want)) {
			t.Fatalf("option of %d: got %+v %v, error %v, want %+v %v", id, o, ok, err, want, wantOK)
		}
	}
}

func encode(t rapid.TB, l *List) []byte {
	t.Helper()
	b, err := l.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func view(t rapid.TB, l *List) View {
	t.Helper()
	v, err := Parse(encode(t, l))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// spread returns n ids without a pattern, of the given number of bits.
func spread(n, bits int) []uint64 {
	ids := make([]uint64, n)
	var b [8]byte
	for i := range ids {
		binary.LittleEndian.PutUint64(b[:], uint64(i+1)*0xbf58476d1ce4e5b9)
		slices.Reverse(b[:])
		ids[i] = binary.LittleEndian.Uint64(b[:])>>(64-bits) | 1
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
