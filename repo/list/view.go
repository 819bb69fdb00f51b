package list

import (
	"encoding/binary"
	"fmt"
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
	at, err := v.placeIDs()
	if err != nil {
		return View{}, err
	}
	if at, err = v.placeColumns(at); err != nil {
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

// placeIDs reads the counts and returns where the ids end.
func (v *View) placeIDs() (uint64, error) {
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

// placeColumns reads the lengths of the columns and returns where they end.
// Where the bytes end, the sections that are left have no column.
func (v *View) placeColumns(at uint64) (uint64, error) {
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
