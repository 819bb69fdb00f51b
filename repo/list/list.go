package list

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kith/repo"
)

// List is the opened form of a list, for edits. It reads the bytes it came from as
// long as it lives, which must not change meanwhile, and never writes to them. It is
// not safe for use by several goroutines.
type List struct {
	// Dirty says that an edit changed the list since it was made; the caller may reset it.
	Dirty bool

	runs    [Options]run
	options openOptions
}

// New returns an empty list.
func New() *List { return &List{} }

// Clone returns a copy that shares nothing that an edit changes.
func (l *List) Clone() *List {
	c := &List{options: openOptions{packed: l.options.packed, entries: slices.Clone(l.options.entries)}}
	for s := range l.runs {
		c.runs[s] = run{packed: l.runs[s].packed, section: l.runs[s].section, entries: slices.Clone(l.runs[s].entries)}
	}
	return c
}

// Len returns the number of entries in a section.
func (l *List) Len(s Section) int {
	switch {
	case s < Options:
		return l.runs[s].len()
	case s == Options:
		if v := l.options.packed; v != nil {
			return v.Len(Options)
		}
		return len(l.options.entries)
	}
	return 0
}

// Open makes the list ready for edits. It checks ids, order and columns; that no id stands
// twice is left to Check. A section is unpacked, from the bytes of v, when an edit needs its
// entries. Errors wrap ErrFormat.
func (v View) Open() (*List, error) {
	l := &List{}
	for s := range Options {
		if v.parts[s].n == 0 {
			continue
		}
		if _, err := v.section(s, false); err != nil {
			return nil, fmt.Errorf("open list: %w", err)
		}
		l.runs[s].packed, l.runs[s].section = &v, s
	}
	if v.Len(Options) > 0 {
		if err := v.eachRawOption(v.column(Options), func(uint64, rawOption) {}); err != nil {
			return nil, fmt.Errorf("open list: %w", err)
		}
		l.options.packed = &v
	}
	return l, nil
}

// section checks a section's ids, their order and its column, and returns the entries
// where they are wanted, with room for edits to append. They stand newest first in the
// bytes, so the slice is filled from its end.
func (v *View) section(s Section, wanted bool) (entries []entry, err error) {
	n := v.Len(s)
	if wanted {
		entries = make([]entry, n, n+n/32+8)
	}
	w := v.walk(s)
	last := Cursor{}
	for i := n - 1; w.step(); i-- {
		id := w.id()
		if !validID(id) {
			return nil, fmt.Errorf("%w: id %d in %v", ErrFormat, id, s)
		}
		if w.i > 1 && w.key == last.Time && id >= last.ID {
			return nil, fmt.Errorf("%w: order of %d in %v", ErrFormat, id, s)
		}
		last = Cursor{Time: w.key, ID: id}
		if wanted {
			mine, theirs := w.times()
			entries[i] = entry{id: id, mine: mine, theirs: theirs}
		}
	}
	return entries, w.done()
}

// entry is one account in an opened section. Only friends have both times; the other is 0.
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

// run is an opened section: entries oldest first, so that new ones mostly go at the end.
// It stays packed until an edit needs its entries: most edits change one section of a list
// and only ask the others.
//
// An id is found by a scan. Once scans have cost more than an index would, index maps each
// id to its key, and the position comes from a binary search. So the index need not follow
// entries as they move, and may keep ids that are gone: the search does not find them.
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

// all unpacks the run and returns the entries, oldest first.
func (r *run) all() []entry {
	if r.packed != nil {
		entries, err := r.packed.section(r.section, true)
		if err != nil {
			panic("list: section was not checked when it came in: " + err.Error())
		}
		r.entries, r.packed = entries, nil
	}
	return r.entries
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
	r.all()
	if r.index == nil && !r.worthIndex() {
		i := slices.IndexFunc(r.entries, func(e entry) bool { return e.id == id })
		if i < 0 {
			r.scanned += len(r.entries)
			return 0, false
		}
		r.scanned += i
		return i, true
	}
	key, ok := r.index.get(id)
	if !ok {
		return 0, false
	}
	return r.position(entry{id: id, mine: key})
}

// worthIndex makes the index if scans have become too many.
func (r *run) worthIndex() bool {
	if n := r.len(); n < 64 || r.scanned < indexAfter*n {
		return false
	}
	r.all()
	r.index = newIndex(len(r.entries))
	for _, e := range r.entries {
		r.index.add(e.id, e.key())
	}
	return true
}

// position returns where an entry of the key and id of e stands or would stand.
func (r *run) position(e entry) (int, bool) {
	r.all()
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
	r.all()
	e := r.entries[at]
	r.entries = slices.Delete(r.entries, at, at+1)
	return e
}

// replace exchanges all entries for others, which must be sorted.
func (r *run) replace(entries []entry) { *r = run{entries: entries} }

// Encode appends the canonical bytes of the list to dst. A list that would
// take more than MaxBytes gives repo.ErrTooLarge.
func (l *List) Encode(dst []byte) ([]byte, error) {
	width, all, about := l.measure()
	if all*width > MaxBytes {
		return nil, fmt.Errorf("encode list of %d entries: %w", all, repo.ErrTooLarge)
	}
	start := len(dst)
	if dst == nil {
		dst = make([]byte, 0, about)
	}
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
	for s := range numSections {
		dst = l.appendIDs(dst, s, width)
	}
	dst = l.appendColumns(dst)
	if n := len(dst) - start; n > MaxBytes {
		return nil, fmt.Errorf("encode list of %d bytes: %w", n, repo.ErrTooLarge)
	}
	return dst, nil
}

func appendCount(dst []byte, n uint32, width int) []byte {
	return binary.BigEndian.AppendUint32(dst, n<<(8*(maxCountWidth-width)))[:len(dst)+width]
}

// measure returns the id width that the list needs, how many entries it has, and about
// how many bytes it will take, seldom too few.
func (l *List) measure() (width, all, about int) {
	var seen uint64
	about = OutlineBytes + int(numSections)*binary.MaxVarintLen64 + l.OptionBytes() + 8
	for s := range numSections {
		all += l.Len(s)
		packed := l.options.packed
		if s < Options {
			packed = l.runs[s].packed
		}
		switch {
		case packed != nil:
			if s < Options {
				about += len(packed.column(s))
			}
			if packed.width == wide && packed.wide(s) {
				seen |= 1 << 32
			}
		case s < Options:
			entries := l.runs[s].entries
			about += 3 * len(entries)
			for i := range entries {
				seen |= entries[i].id
			}
		default:
			for i := range l.options.entries {
				seen |= l.options.entries[i].id
			}
		}
	}
	width = narrow
	if seen > math.MaxUint32 {
		width = wide
	}
	return width, all, about + all*width
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

// appendColumns adds the columns, each behind its length, up to the last that has bytes.
// A length takes a varying number of bytes and is known last: room for the longest is
// left, and the column is then moved down. One without bytes is its length alone.
func (l *List) appendColumns(dst []byte) []byte {
	var room [binary.MaxVarintLen64]byte
	end := len(dst)
	for s := range numSections {
		if l.Len(s) == 0 {
			continue
		}
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
		if dst = dst[:at+size]; size > 0 {
			end = len(dst)
		}
	}
	return dst[:end]
}
