package list

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Rel returns what id is to the owner of the list.
func (v View) Rel(id uint64) Rel { return v.rel(id) }

func (v *View) rel(id uint64) (r Rel) {
	if !validID(id) || v.width == narrow && id > math.MaxUint32 {
		return 0
	}
	for s := range numSections {
		if v.parts[s].n != 0 && v.has(v.ids(s), id) {
			r |= relOf[s]
		}
	}
	return r
}

func (v *View) has(ids []byte, id uint64) bool {
	if v.width == narrow {
		return has4(ids, bits.ReverseBytes32(uint32(id)))
	}
	return has8(ids, bits.ReverseBytes64(id))
}

// has4 looks for a 4-byte id that is given as a little-endian load sees it,
// which saves turning each entry.
func has4(b []byte, raw uint32) bool {
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint32(b) == raw || binary.LittleEndian.Uint32(b[4:]) == raw ||
			binary.LittleEndian.Uint32(b[8:]) == raw || binary.LittleEndian.Uint32(b[12:]) == raw {
			return true
		}
	}
	for ; len(b) >= 4; b = b[4:] {
		if binary.LittleEndian.Uint32(b) == raw {
			return true
		}
	}
	return false
}

// has8 is has4 for 8-byte ids.
func has8(b []byte, raw uint64) bool {
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) == raw || binary.LittleEndian.Uint64(b[8:]) == raw {
			return true
		}
	}
	return len(b) >= 8 && binary.LittleEndian.Uint64(b) == raw
}

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
		w.slots = manySlots(len(ids))
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
