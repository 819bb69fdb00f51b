package list

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

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
