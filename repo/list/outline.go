package list

import (
	"encoding/binary"
	"fmt"
)

// OutlineBytes is how many bytes at the start of a list tell its Outline.
const OutlineBytes = headerBytes + 4*int(numSections)

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
func ReadOutline(start []byte) (o Outline, err error) {
	if err := checkHeader(start[:min(len(start), OutlineBytes)]); err != nil {
		return o, err
	}
	at := headerBytes
	for s := range numSections {
		if binary.BigEndian.Uint16(start[2:])>>s&1 == 0 {
			continue
		}
		if at+4 > len(start) {
			return Outline{}, fmt.Errorf("%w: counts end early", ErrFormat)
		}
		if o.n[s] = binary.BigEndian.Uint32(start[at:]); o.n[s] == 0 {
			return Outline{}, fmt.Errorf("%w: %v is there but has no entries", ErrFormat, s)
		}
		at += 4
	}
	return o, nil
}
