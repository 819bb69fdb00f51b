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

// Parse reads the header of a list and makes sure that widths are known, counts
// are no wider than they have to be, and counts and lengths add up to exactly
// len(b); what stands in ids and columns is left to Check. It keeps b, which the
// caller must not change afterwards, and does not allocate. Errors wrap ErrFormat.
func Parse(b []byte) (View, error) {
	v := View{b: b}
	if err := checkHeader(b); err != nil {
		return View{}, err
	}
	v.width = uint32(b[1] & 15)
	at, err := v.locateIDs()
	if err != nil {
		return View{}, err
	}
	if at, err = v.locateColumns(at); err != nil {
		return View{}, err
	}
	if at != uint64(len(b)) {
		return View{}, fmt.Errorf("%w: %d bytes after the end", ErrFormat, uint64(len(b))-at)
	}
	return v, nil
}

func checkHeader(b []byte) error {
	switch {
	case len(b) < headerBytes:
		return fmt.Errorf("%w: %d bytes are shorter than a header", ErrFormat, len(b))
	case len(b) > MaxBytes:
		return fmt.Errorf("%w: %d bytes are longer than a list may be", ErrFormat, len(b))
	case b[0] != formatVersion:
		return fmt.Errorf("%w: unknown version %d", ErrFormat, b[0])
	case b[1]&15 != narrow && b[1]&15 != wide:
		return fmt.Errorf("%w: id width %d", ErrFormat, b[1]&15)
	case b[1]>>4 != 1 && b[1]>>4 != 2 && b[1]>>4 != 4:
		return fmt.Errorf("%w: count width %d", ErrFormat, b[1]>>4)
	case there(b)>>numSections != 0:
		return fmt.Errorf("%w: unknown sections %#x", ErrFormat, there(b))
	}
	return nil
}

// there returns which sections a list has, bit n for section n.
func there(b []byte) uint16 { return binary.BigEndian.Uint16(b[2:]) }

// locateIDs reads the counts and returns where the ids end.
func (v *View) locateIDs() (uint64, error) {
	var o Outline
	start, err := o.read(v.b)
	if err != nil {
		return 0, err
	}
	at := uint64(start)
	for rest := there(v.b); rest != 0; rest &= rest - 1 {
		s := Section(bits.TrailingZeros16(rest))
		p := &v.parts[s]
		p.n, p.ids = o.n[s], uint32(at)
		at += uint64(p.n) * uint64(v.width)
		if at > uint64(len(v.b)) {
			return 0, fmt.Errorf("%w: ids of %v end early", ErrFormat, s)
		}
	}
	return at, nil
}

// locateColumns reads the lengths of the columns and returns where they end.
// Where the bytes end, the sections that are left have no column.
func (v *View) locateColumns(at uint64) (uint64, error) {
	size := uint64(1)
	for rest := there(v.b); rest != 0 && at < uint64(len(v.b)); rest &= rest - 1 {
		s := Section(bits.TrailingZeros16(rest))
		n := 0
		if size, n = uvarint(v.b[at:]); n == 0 {
			return 0, fmt.Errorf("%w: length of the column of %v", ErrFormat, s)
		}
		at += uint64(n)
		if size > uint64(len(v.b))-at {
			return 0, fmt.Errorf("%w: column of %v ends early", ErrFormat, s)
		}
		v.parts[s].col, v.parts[s].end = uint32(at), uint32(at+size)
		at += size
	}
	if size == 0 {
		return 0, fmt.Errorf("%w: an empty column at the end", ErrFormat)
	}
	return at, nil
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

// ReadOutline reads the outline from the first OutlineBytes of a list, or from
// all of a shorter one; a walk over many rows need not fetch their lists.
// Errors wrap ErrFormat.
func ReadOutline(start []byte) (Outline, error) {
	var o Outline
	if err := checkHeader(start[:min(len(start), OutlineBytes)]); err != nil {
		return Outline{}, err
	}
	if _, err := o.read(start); err != nil {
		return Outline{}, err
	}
	return o, nil
}

// read reads the counts, which stand behind a header without fault, and returns
// where they end.
func (o *Outline) read(b []byte) (int, error) {
	width, at, most := int(b[1]>>4), headerBytes, uint32(0)
	for rest := there(b); rest != 0; rest &= rest - 1 {
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
