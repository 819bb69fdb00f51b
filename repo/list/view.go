package list

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

const (
	formatVersion = 3
	headerBytes   = 4
	narrow, wide  = 4, 8 // widths of an id in bytes
)

// View answers from the packed bytes of a list. The zero View is an empty
// list without bytes. A View is a small value, safe to copy and to use from
// many goroutines.
type View struct {
	b     []byte
	width uint32
	parts [numSections]part
}

// part says where a section stands in the bytes.
type part struct {
	n   uint32 // entries
	ids uint32 // offset of its ids
	col uint32 // offset of its column
	end uint32 // end of its column
}

// Parse reads the header of a list. It checks that the widths are known, that counts are
// no wider than they have to be, and that counts and lengths add up to exactly len(b);
// ids and columns are left to Check. It keeps b, which the caller must not change
// afterwards, and does not allocate. Errors wrap ErrFormat.
func Parse(b []byte) (View, error) {
	if len(b) > MaxBytes {
		return View{}, fmt.Errorf("%w: %d bytes are longer than a list may be", ErrFormat, len(b))
	}
	var o Outline
	start, err := o.read(b)
	if err != nil {
		return View{}, err
	}
	v := View{b: b, width: uint32(b[1] & 15)}
	at, sections := uint64(start), binary.BigEndian.Uint16(b[2:])
	for rest := sections; rest != 0; rest &= rest - 1 {
		s := Section(bits.TrailingZeros16(rest))
		p := &v.parts[s]
		p.n, p.ids = o.n[s], uint32(at)
		if at += uint64(p.n) * uint64(v.width); at > uint64(len(b)) {
			return View{}, fmt.Errorf("%w: ids of %v end early", ErrFormat, s)
		}
	}
	size := uint64(1)
	for rest := sections; rest != 0 && at < uint64(len(b)); rest &= rest - 1 { // the last sections may have no column
		s := Section(bits.TrailingZeros16(rest))
		n := 0
		if size, n = uvarint(b[at:]); n == 0 {
			return View{}, fmt.Errorf("%w: length of the column of %v", ErrFormat, s)
		}
		if at += uint64(n); size > uint64(len(b))-at {
			return View{}, fmt.Errorf("%w: column of %v ends early", ErrFormat, s)
		}
		v.parts[s].col, v.parts[s].end = uint32(at), uint32(at+size)
		at += size
	}
	switch {
	case size == 0:
		return View{}, fmt.Errorf("%w: an empty column at the end", ErrFormat)
	case at != uint64(len(b)):
		return View{}, fmt.Errorf("%w: %d bytes after the end", ErrFormat, uint64(len(b))-at)
	}
	return v, nil
}

// Bytes returns the packed bytes, as given to Parse.
func (v View) Bytes() []byte { return v.b }

// Len returns the number of entries in a section.
func (v View) Len(s Section) int {
	if s >= numSections {
		return 0
	}
	return int(v.parts[s].n)
}

// ids returns the bytes of the ids of a section.
func (v *View) ids(s Section) []byte {
	p := &v.parts[s]
	return v.b[p.ids : p.ids+p.n*v.width]
}

func (v *View) column(s Section) []byte {
	p := &v.parts[s]
	return v.b[p.col:p.end]
}

// id returns the i-th id of what ids returns.
func (v *View) id(ids []byte, i int) uint64 {
	if v.width == narrow {
		return uint64(binary.BigEndian.Uint32(ids[i*narrow:]))
	}
	return binary.BigEndian.Uint64(ids[i*wide:])
}

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

// has4 looks for a 4-byte id that is given as a little-endian load reads it, which saves
// swapping the bytes of each entry.
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

// Each calls fn for each entry of a section, newest first, until it returns
// false. Friends have both times: when the owner followed (mine) and when they
// did (theirs). Followers have theirs, every other section has mine, options
// have none and come by id. A time of 0 is unknown. Errors wrap ErrFormat;
// entries before the bad byte have been handed to fn by then.
func (v View) Each(s Section, fn func(id uint64, mine, theirs uint32) bool) error {
	if s >= numSections {
		return nil
	}
	if s == Options {
		ids := v.ids(s)
		for i := range v.Len(s) {
			if !fn(v.id(ids, i), 0, 0) {
				break
			}
		}
		return nil
	}
	w := v.walk(s)
	for w.step() {
		mine, theirs := w.times()
		if !fn(w.id(), mine, theirs) {
			return nil
		}
	}
	return w.done()
}

// Check checks everything that Parse leaves out: ids and their order, columns that end
// with their last entry, options within their limits, no id twice within a section or
// within friends, followers and following together, and ids no wider than they have to
// be. A list that passes is opened and encoded again to the same bytes. Errors wrap
// ErrFormat.
func (v View) Check() error {
	if v.b == nil {
		return fmt.Errorf("%w: no bytes", ErrFormat)
	}
	for s := range Options {
		if _, err := v.section(s, false); err != nil {
			return fmt.Errorf("check list: %w", err)
		}
	}
	err := v.eachRawOption(v.column(Options), func(uint64, rawOption) {})
	if err == nil {
		err = v.checkOnce()
	}
	if err == nil && v.width == wide && !v.anyWide() {
		err = fmt.Errorf("%w: ids wider than they have to be", ErrFormat)
	}
	if err != nil {
		return fmt.Errorf("check list: %w", err)
	}
	return nil
}

// checkOnce looks for ids that stand twice. Options, which are sorted by id, have none.
func (v *View) checkOnce() error {
	seen := newIndex(v.Len(Friends) + v.Len(Followers) + v.Len(Following))
	for s := range Options {
		if !s.edge() {
			seen = newIndex(v.Len(s))
		}
		ids := v.ids(s)
		for i := range v.Len(s) {
			if id := v.id(ids, i); !seen.add(id, 0) {
				return fmt.Errorf("%w: id %d of %v stands twice", ErrFormat, id, s)
			}
		}
	}
	return nil
}

func (v *View) anyWide() bool {
	for s := range numSections {
		if v.wide(s) {
			return true
		}
	}
	return false
}

// wide reports whether a section has an id that needs 8 bytes.
func (v *View) wide(s Section) bool {
	ids := v.ids(s)
	for i := range v.Len(s) {
		if v.id(ids, i) > math.MaxUint32 {
			return true
		}
	}
	return false
}

// maxCountWidth is the most bytes that the number of entries of a section takes.
const maxCountWidth = 4

// OutlineBytes is how many bytes at the start of a list tell its Outline, at most.
const OutlineBytes = headerBytes + maxCountWidth*int(numSections)

// Outline tells how many entries each section of a list has, and nothing else.
type Outline struct{ n [numSections]uint32 }

// Len returns the number of entries in a section.
func (o Outline) Len(s Section) int {
	if s >= numSections {
		return 0
	}
	return int(o.n[s])
}

// Has reports whether a section is there.
func (o Outline) Has(s Section) bool { return o.Len(s) > 0 }

// ReadOutline reads the outline from the first OutlineBytes of a list, or from all of a
// shorter one. Errors wrap ErrFormat.
func ReadOutline(start []byte) (Outline, error) {
	var o Outline
	if _, err := o.read(start); err != nil {
		return Outline{}, err
	}
	return o, nil
}

// read checks the header and reads the counts, and returns where they end.
func (o *Outline) read(b []byte) (int, error) {
	if len(b) < headerBytes {
		return 0, fmt.Errorf("%w: %d bytes are shorter than a header", ErrFormat, len(b))
	}
	idWidth, width, sections := b[1]&15, int(b[1]>>4), binary.BigEndian.Uint16(b[2:])
	switch {
	case b[0] != formatVersion:
		return 0, fmt.Errorf("%w: unknown version %d", ErrFormat, b[0])
	case idWidth != narrow && idWidth != wide:
		return 0, fmt.Errorf("%w: id width %d", ErrFormat, idWidth)
	case width != 1 && width != 2 && width != 4:
		return 0, fmt.Errorf("%w: count width %d", ErrFormat, width)
	case sections>>numSections != 0:
		return 0, fmt.Errorf("%w: unknown sections %#x", ErrFormat, sections)
	}
	at, most := headerBytes, uint32(0)
	for rest := sections; rest != 0; rest &= rest - 1 {
		s := Section(bits.TrailingZeros16(rest))
		if at+maxCountWidth > len(b) { // behind a shorter count is an id at least
			return 0, fmt.Errorf("%w: counts end early", ErrFormat)
		}
		n := binary.BigEndian.Uint32(b[at:]) >> (8 * (maxCountWidth - width) & 31)
		if n == 0 {
			return 0, fmt.Errorf("%w: %v is there but has no entries", ErrFormat, s)
		}
		o.n[s] = n
		most |= n
		at += width
	}
	if width != countWidth(most) {
		return 0, fmt.Errorf("%w: counts of %d bytes are wider than they have to be", ErrFormat, width)
	}
	return at, nil
}

// countWidth returns how many bytes a count takes in a list in which none is larger.
func countWidth(most uint32) int {
	switch {
	case most <= math.MaxUint8:
		return 1
	case most <= math.MaxUint16:
		return 2
	}
	return maxCountWidth
}
