package list

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// entry is one account in an opened section. Sections other than friends have
// one of the two times, the other is 0.
type entry struct {
	id           uint64
	mine, theirs uint32
}

// key is the time that sorts the entry: of a friend, the later of the two.
func (e entry) key() uint32 { return max(e.mine, e.theirs) }

func (e entry) compare(f entry) int {
	if c := cmp.Compare(e.key(), f.key()); c != 0 {
		return c
	}
	return cmp.Compare(e.id, f.id)
}

// run is an opened section: entries oldest first, so that what is new, which
// most edits bring, goes at the end. Until an edit needs its entries it stays packed:
// most edits change one section of a list and only ask the others.
//
// An id is found by a plain scan. Once scans have cost more than an index
// would, index maps each id to its key; the position then comes from a binary
// search. So the index need not follow entries as they move, and may keep ids
// that are gone: the search does not find them.
type run struct {
	packed  *View // which has the entries, in section; nil once they are unpacked
	section Section
	entries []entry
	index   *index
	scanned int // entries that scans have looked at
}

// indexAfter is how many full scans cost about as much as making the index, and
// packedScan how many packed entries are looked at in the time of an unpacked one.
const (
	indexAfter = 12
	packedScan = 4
)

// len returns the number of entries.
func (r *run) len() int {
	if r.packed != nil {
		return r.packed.Len(r.section)
	}
	return len(r.entries)
}

// all returns the entries, oldest first.
func (r *run) all() []entry {
	r.unpack()
	return r.entries
}

func (r *run) unpack() {
	if r.packed == nil {
		return
	}
	entries, err := r.packed.openSection(r.section)
	if err != nil {
		panic("list: section was not checked when it came in: " + err.Error())
	}
	r.entries, r.packed = entries, nil
}

// has reports whether id stands in the run.
func (r *run) has(id uint64) bool {
	if r.packed == nil || r.worthIndex() {
		_, ok := r.find(id)
		return ok
	}
	r.scanned += r.packed.Len(r.section) / packedScan
	if r.packed.width == narrow && id > math.MaxUint32 {
		return false
	}
	return r.packed.has(r.packed.ids(r.section), id)
}

// find returns where id stands.
func (r *run) find(id uint64) (int, bool) {
	if r.packed != nil && !r.has(id) {
		return 0, false
	}
	r.unpack()
	if r.index == nil && !r.worthIndex() {
		return r.scan(id)
	}
	key, ok := r.index.get(id)
	if !ok {
		return 0, false
	}
	return r.position(entry{id: id, mine: key})
}

func (r *run) scan(id uint64) (int, bool) {
	for i := range r.entries {
		if r.entries[i].id == id {
			r.scanned += i
			return i, true
		}
	}
	r.scanned += len(r.entries)
	return 0, false
}

// worthIndex makes the index if scans have become too many.
func (r *run) worthIndex() bool {
	if n := r.len(); n < 64 || r.scanned < indexAfter*n {
		return false
	}
	r.unpack()
	r.index = newIndex(len(r.entries))
	for _, e := range r.entries {
		r.index.add(e.id, e.key())
	}
	return true
}

// position returns where an entry of the key and id of e stands or would stand.
func (r *run) position(e entry) (int, bool) {
	r.unpack()
	if n := len(r.entries); n == 0 || r.entries[n-1].compare(e) < 0 {
		return n, false
	}
	return slices.BinarySearchFunc(r.entries, e, entry.compare)
}

// insert puts an entry whose id is not there yet where it belongs.
func (r *run) insert(e entry) {
	at, _ := r.position(e)
	r.entries = slices.Insert(r.entries, at, e)
	if r.index != nil {
		r.index.add(e.id, e.key())
	}
}

// remove takes out the entry at an index that find returned.
func (r *run) remove(at int) entry {
	r.unpack()
	e := r.entries[at]
	r.entries = slices.Delete(r.entries, at, at+1)
	return e
}

// replace exchanges all entries for others, which must be sorted.
func (r *run) replace(entries []entry) { *r = run{entries: entries} }

// index maps ids to the times that sort their entries. It is an open-addressing
// table with linear probing, at most two thirds full; ids are never taken out. A Go map does the same
// and was measured: making one of 10,000 entries took half of the time of a
// commit of 256 follows.
type index struct {
	slots []indexSlot // power of two
	shift int         // takes the upper bits of a hash down to a slot
	n     int
}

type indexSlot struct {
	id  uint64 // 0 is free
	key uint32
}

// newIndex returns an index with room for n ids and some more.
func newIndex(n int) *index {
	log := bits.Len(uint(n + n/2 + 7))
	return &index{slots: make([]indexSlot, 1<<log), shift: 64 - log}
}

// at returns the slot of id, or the free one where it would go.
func (x *index) at(id uint64) int {
	i := int(hash(id) >> x.shift)
	for x.slots[i].id != 0 && x.slots[i].id != id {
		i = x.next(i)
	}
	return i
}

func (x *index) next(i int) int { return (i + 1) & (len(x.slots) - 1) }

func (x *index) get(id uint64) (key uint32, ok bool) {
	s := x.slots[x.at(id)]
	return s.key, s.id == id && id != 0
}

// add sets the key of an id, which must not be 0. It returns false if the id
// was there.
func (x *index) add(id uint64, key uint32) bool {
	i := x.at(id)
	was := x.slots[i].id == id
	x.slots[i] = indexSlot{id: id, key: key}
	if was {
		return false
	}
	if x.n++; x.n*3 > len(x.slots)*2 {
		x.grow()
	}
	return true
}

func (x *index) grow() {
	bigger := newIndex(2 * x.n)
	for _, s := range x.slots {
		if s.id != 0 {
			bigger.add(s.id, s.key)
		}
	}
	*x = *bigger
}
