package list

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// fewIDs is how many ids are looked up one by one: so many plain scans cost
// less than one scan through the filter.
const fewIDs = 3

// Rels answers Rel for many ids in one scan: out[i] is that of ids[i]. out
// must be at least as long as ids. Ids may repeat. Up to 128 ids are answered
// without an allocation.
func (v View) Rels(ids []uint64, out []Rel) {
	out = out[:len(ids)]
	if len(ids) <= fewIDs {
		for i, id := range ids {
			out[i] = v.rel(id)
		}
		return
	}
	clear(out)
	var w wanted
	var small [smallSlots]slot
	if w.slots = small[:]; 2*len(ids) > smallSlots {
		w.slots = make([]slot, 1<<bits.Len(uint(2*len(ids))))
	}
	w.fill(ids, v.width)
	for s := range numSections {
		switch {
		case v.parts[s].n == 0:
		case v.width == narrow:
			w.scan4(v.ids(s), relOf[s], out)
		default:
			w.scan8(v.ids(s), relOf[s], out)
		}
	}
	w.copyRepeats(ids, out)
}

const (
	filterBits = 14  // 2 KiB: with 100 ids wanted, 6 of 1000 others pass
	smallSlots = 256 // for up to 128 ids
)

// wanted is a set of ids to be found in one scan: a bit filter that nearly all other ids
// fail, and behind it an open-addressing table. Ids are kept as a little-endian load reads
// them, so that the scan does not swap bytes.
type wanted struct {
	filter  [1 << filterBits / 64]uint64
	slots   []slot // power of two, at most half full
	narrow  bool
	repeats bool
}

type slot struct {
	raw uint64 // 0 is free
	i   int32  // where the id stands first in what was asked
}

// fill puts ids into the set. The caller brings the slots, at least twice as many as ids,
// which keeps them off the heap.
func (w *wanted) fill(ids []uint64, width uint32) {
	w.narrow = width == narrow
	for i, id := range ids {
		raw, ok := w.raw(id)
		if !ok {
			continue
		}
		h := hash(raw)
		w.filter[h>>(64-filterBits)/64] |= 1 << (h >> (64 - filterBits) % 64)
		p := w.find(raw)
		if p.raw == raw {
			w.repeats = true
			continue
		}
		*p = slot{raw: raw, i: int32(i)}
	}
}

// raw turns an id into what a load of its bytes gives, and reports whether a list of this
// width can hold it.
func (w *wanted) raw(id uint64) (uint64, bool) {
	if !w.narrow {
		return bits.ReverseBytes64(id), validID(id)
	}
	return uint64(bits.ReverseBytes32(uint32(id))), id != 0 && id <= math.MaxUint32
}

// hash spreads raw; its upper bits are the ones to use.
func hash(raw uint64) uint64 { return raw * 0x9e3779b97f4a7c15 }

// find returns the slot of raw, or the free one where it would go.
func (w *wanted) find(raw uint64) *slot {
	mask := len(w.slots) - 1
	at := int(hash(raw)>>32) & mask
	for w.slots[at].raw != 0 && w.slots[at].raw != raw {
		at = (at + 1) & mask
	}
	return &w.slots[at]
}

// test returns an odd number if raw may be wanted.
func (w *wanted) test(raw uint64) uint64 {
	h := hash(raw) >> (64 - filterBits)
	return w.filter[h/64] >> (h % 64)
}

// hit notes bits for raw if it is wanted.
func (w *wanted) hit(raw uint64, r Rel, out []Rel) {
	if p := w.find(raw); p.raw == raw && raw != 0 {
		out[p.i] |= r
	}
}

func (w *wanted) scan4(b []byte, r Rel, out []Rel) {
	for ; len(b) >= 16; b = b[16:] {
		r0 := uint64(binary.LittleEndian.Uint32(b))
		r1 := uint64(binary.LittleEndian.Uint32(b[4:]))
		r2 := uint64(binary.LittleEndian.Uint32(b[8:]))
		r3 := uint64(binary.LittleEndian.Uint32(b[12:]))
		if (w.test(r0)|w.test(r1)|w.test(r2)|w.test(r3))&1 != 0 {
			w.hit(r0, r, out)
			w.hit(r1, r, out)
			w.hit(r2, r, out)
			w.hit(r3, r, out)
		}
	}
	for ; len(b) >= 4; b = b[4:] {
		w.hit(uint64(binary.LittleEndian.Uint32(b)), r, out)
	}
}

func (w *wanted) scan8(b []byte, r Rel, out []Rel) {
	for ; len(b) >= 16; b = b[16:] {
		r0 := binary.LittleEndian.Uint64(b)
		r1 := binary.LittleEndian.Uint64(b[8:])
		if (w.test(r0)|w.test(r1))&1 != 0 {
			w.hit(r0, r, out)
			w.hit(r1, r, out)
		}
	}
	if len(b) >= 8 {
		w.hit(binary.LittleEndian.Uint64(b), r, out)
	}
}

// copyRepeats answers repeated ids as their first ones.
func (w *wanted) copyRepeats(ids []uint64, out []Rel) {
	if !w.repeats {
		return
	}
	for i, id := range ids {
		if raw, ok := w.raw(id); ok {
			out[i] = out[w.find(raw).i]
		}
	}
}

// index maps ids to the times that sort their entries. It is an open-addressing table with
// linear probing, at most two thirds full; ids are never removed. To make a Go map of
// 10,000 entries instead took half of the time of a commit of 256 follows.
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
