package list

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kith/repo"
)

// Encode appends the canonical bytes of the list to dst. A list that would
// take more than MaxBytes gives repo.ErrTooLarge.
func (l *List) Encode(dst []byte) ([]byte, error) {
	width, all := l.widthAndCount()
	if all*width > MaxBytes {
		return nil, fmt.Errorf("encode list of %d entries: %w", all, repo.ErrTooLarge)
	}
	start := len(dst)
	dst = slices.Grow(dst, OutlineBytes+all*(width+3))
	dst = l.appendHeader(dst, width)
	for s := range numSections {
		dst = l.appendIDs(dst, s, width)
	}
	dst = l.appendColumns(dst)
	if n := len(dst) - start; n > MaxBytes {
		return nil, fmt.Errorf("encode list of %d bytes: %w", n, repo.ErrTooLarge)
	}
	return dst, nil
}

// widthAndCount returns the id width that the list needs and how many entries
// it has.
func (l *List) widthAndCount() (width, all int) {
	var seen uint64
	for s := range l.runs {
		all += len(l.runs[s].entries)
		for i := range l.runs[s].entries {
			seen |= l.runs[s].entries[i].id
		}
	}
	for i := range l.options {
		seen |= l.options[i].id
	}
	if seen > math.MaxUint32 {
		return wide, all + len(l.options)
	}
	return narrow, all + len(l.options)
}

func (l *List) appendHeader(dst []byte, width int) []byte {
	sections, most := uint16(0), 0
	for s := range numSections {
		if n := l.Len(s); n != 0 {
			sections |= 1 << s
			most = max(most, n)
		}
	}
	counts := countWidth(uint32(most))
	dst = append(dst, formatVersion, byte(counts<<4|width))
	dst = binary.BigEndian.AppendUint16(dst, sections)
	for s := range numSections {
		if n := l.Len(s); n != 0 {
			dst = appendCount(dst, uint32(n), counts)
		}
	}
	return dst
}

func appendCount(dst []byte, n uint32, width int) []byte {
	var b [maxCountWidth]byte
	binary.BigEndian.PutUint32(b[:], n)
	return append(dst, b[maxCountWidth-width:]...)
}

func (l *List) appendIDs(dst []byte, s Section, width int) []byte {
	if s == Options {
		for i := range l.options {
			dst = appendID(dst, l.options[i].id, width)
		}
		return dst
	}
	entries := l.runs[s].entries
	for i := len(entries) - 1; i >= 0; i-- {
		dst = appendID(dst, entries[i].id, width)
	}
	return dst
}

func appendID(dst []byte, id uint64, width int) []byte {
	if width == narrow {
		return binary.BigEndian.AppendUint32(dst, uint32(id))
	}
	return binary.BigEndian.AppendUint64(dst, id)
}

// appendColumns adds the columns up to the last that has bytes. One that has none
// is its length, a single byte.
func (l *List) appendColumns(dst []byte) []byte {
	end := len(dst)
	for s := range numSections {
		if l.Len(s) == 0 {
			continue
		}
		before := len(dst)
		if dst = l.appendColumn(dst, s); len(dst) > before+1 {
			end = len(dst)
		}
	}
	return dst[:end]
}

// appendColumn adds the column of a section behind its length. The length
// takes a varying number of bytes and is known last: room for the most it can
// be is left, and the column moved down over what is too much.
func (l *List) appendColumn(dst []byte, s Section) []byte {
	var room [binary.MaxVarintLen64]byte
	start := len(dst)
	dst = append(dst, room[:]...)
	body := len(dst)
	if s == Options {
		for i := range l.options {
			dst = append(dst, l.options[i].packed...)
		}
	} else {
		dst = appendTimes(dst, l.runs[s].entries, s == Friends)
	}
	size := len(dst) - body
	at := start + binary.PutUvarint(dst[start:], uint64(size))
	copy(dst[at:], dst[body:])
	return dst[:at+size]
}
