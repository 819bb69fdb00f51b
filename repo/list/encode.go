package list

import (
	"encoding/binary"
	"fmt"
	"math"

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
	if dst == nil {
		dst = make([]byte, 0, l.about(width, all))
	}
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

// about is how many bytes the list will take, seldom too few.
func (l *List) about(width, all int) int {
	n := OutlineBytes + all*width + int(numSections)*binary.MaxVarintLen64 + l.OptionBytes()
	for s := range l.runs {
		if r := &l.runs[s]; r.packed != nil {
			n += len(r.packed.column(r.section))
		} else {
			n += 3 * len(r.entries)
		}
	}
	return n + 8
}

// widthAndCount returns the id width that the list needs and how many entries
// it has.
func (l *List) widthAndCount() (width, all int) {
	var seen uint64
	for s := range l.runs {
		r := &l.runs[s]
		all += r.len()
		if r.packed != nil && (r.packed.width == narrow || r.packed.wide(r.section)) {
			seen |= uint64(r.packed.width-narrow) << 32
			continue
		}
		for i := range r.entries {
			seen |= r.entries[i].id
		}
	}
	all += l.options.len()
	if v := l.options.packed; v != nil && (v.width == narrow || v.wide(Options)) {
		seen |= uint64(v.width-narrow) << 32
	}
	for i := range l.options.entries {
		seen |= l.options.entries[i].id
	}
	if seen > math.MaxUint32 {
		return wide, all
	}
	return narrow, all
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
		if v := l.options.packed; v != nil && int(v.width) == width {
			return append(dst, v.ids(s)...)
		}
		for _, o := range l.options.all() {
			dst = appendID(dst, o.id, width)
		}
		return dst
	}
	if r := &l.runs[s]; r.packed != nil && int(r.packed.width) == width {
		return append(dst, r.packed.ids(s)...)
	}
	entries := l.runs[s].all()
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
	switch {
	case s == Options && l.options.packed != nil:
		dst = append(dst, l.options.packed.column(s)...)
	case s == Options:
		for _, o := range l.options.entries {
			dst = append(dst, o.packed...)
		}
	case l.runs[s].packed != nil:
		dst = append(dst, l.runs[s].packed.column(s)...)
	default:
		dst = appendTimes(dst, l.runs[s].entries, s == Friends)
	}
	size := len(dst) - body
	at := start + binary.PutUvarint(dst[start:], uint64(size))
	copy(dst[at:], dst[body:])
	return dst[:at+size]
}
