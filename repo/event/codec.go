package event

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"kith/repo"
)

// Events have three packed forms. A number is a uvarint, as short as it can be; ms, sequence
// and bucket are the parts of an id.
//
// A feed has events of one author, a list events of any, both the newest first:
//
//	byte      0x11 a feed, 0x21 a list: the kind and the version of the form
//	number    events
//	          of a list: the table of authors, by id
//	number      authors
//	numbers     how much higher each id is than the one before it, the first than 0
//	          of each event
//	byte        tag: bits 0-3 the low bits of the sequence, 4 it is a repost, 5 the high bits
//	            follow, 6-7 the low bits of its author's place in the table; of a feed 0
//	number      of a list: the other bits of that place
//	number      how much lower its ms is than that of the event before; of the first: its ms
//	number      where bit 5 is set: the high bits of the sequence, not 0
//	            of a repost, the id of the post that it reposts
//	2 bytes     tag, big-endian: bits 0-9 the bucket, 10-13 the low bits of the sequence,
//	            14 the high bits follow, 15 its ms is higher than the repost's
//	number      how much lower, or higher, its ms is than the repost's
//	number      where bit 14 is set: the high bits of the sequence, not 0
//
// The bucket of an event is that of its author. A post that is reposted is newer than the
// repost only where clocks differ. A record is one event; records stand one behind the
// other in any order:
//
//	byte      0x31, of a repost 0x32
//	8 bytes   id, big-endian
//	number    author
//	8 bytes   of a repost: the post that it reposts, big-endian
//
// The same events have the same bytes, and no others are taken. A list takes 5.5 bytes an
// event, or 8 where 4 of 10 are reposts (TestSpace). In the Higgs data 27 % of these repost
// what the same 800 events bring anyway: to name its place there would save 7 %, and was
// not worth a second pass.
const (
	feedForm   = 0x11
	listForm   = 0x21
	recordForm = 0x31
	repostForm = 0x32

	tagRepost   = 1 << 4
	tagHigh     = 1 << 5
	placeShift  = 6
	placeBits   = 2
	originHigh  = 1 << 14
	originNewer = 1 << 15

	lowMask = 1<<randomBits - 1
	maxID   = math.MaxInt64
	maxHigh = 1<<(sequenceBits-randomBits) - 1
	maxMS   = maxID >> timeShift
)

// ErrFormat says that bytes are no packed events. Every error of a Read wraps it.
var ErrFormat = errors.New("bad event bytes")

// The parts of an id: ms<<timeShift | high<<highShift | low<<repo.BucketBits | bucket.
const highShift = repo.BucketBits + randomBits

func ms(id uint64) uint64     { return id >> timeShift }
func high(id uint64) uint64   { return id >> highShift & maxHigh }
func low(id uint64) uint64    { return id >> repo.BucketBits & lowMask }
func bucket(id uint64) uint64 { return id & (repo.Buckets - 1) }

// AppendFeed appends the packed form of events of an author, the newest first, each once.
// Others give an error.
func AppendFeed(b []byte, author uint64, events []Event) ([]byte, error) {
	if err := check(events); err != nil {
		return b, err
	}
	out := binary.AppendUvarint(append(b, feedForm), uint64(len(events)))
	before := Event{}
	for _, e := range events {
		if e.Author != author {
			return b, fmt.Errorf("pack event %d of %d into the feed of %d", e.ID, e.Author, author)
		}
		out = appendEvent(append(out, tag(e, 0)), before, e)
		before = e
	}
	return out, nil
}

// AppendList appends the packed form of events, the newest first, each once. Others give an
// error.
func AppendList(b []byte, events []Event) ([]byte, error) {
	if err := check(events); err != nil {
		return b, err
	}
	authors := make([]uint64, len(events))
	for i, e := range events {
		authors[i] = e.Author
	}
	slices.Sort(authors)
	authors = slices.Compact(authors)
	b = binary.AppendUvarint(append(b, listForm), uint64(len(events)))
	b = binary.AppendUvarint(b, uint64(len(authors)))
	last := uint64(0)
	for _, a := range authors {
		b = binary.AppendUvarint(b, a-last)
		last = a
	}
	before := Event{}
	for _, e := range events {
		place, _ := slices.BinarySearch(authors, e.Author)
		b = binary.AppendUvarint(append(b, tag(e, place)), uint64(place>>placeBits))
		b = appendEvent(b, before, e)
		before = e
	}
	return b, nil
}

// check says what is wrong with events that are to be packed.
func check(events []Event) error {
	for i, e := range events {
		switch {
		case !e.valid():
			return fmt.Errorf("pack events: %+v is none", e)
		case i > 0 && e.ID >= events[i-1].ID:
			return fmt.Errorf("pack events: %d stands behind %d", e.ID, events[i-1].ID)
		}
	}
	return nil
}

func (e Event) valid() bool {
	return 0 < e.ID && e.ID <= maxID && 0 < e.Author && e.Author <= maxID && e.Origin <= maxID && repo.Bucket(e.ID) == repo.Bucket(e.Author)
}

func tag(e Event, place int) byte {
	t := byte(low(e.ID)) | byte(place)<<placeShift
	if e.Origin != 0 {
		t |= tagRepost
	}
	if high(e.ID) != 0 {
		t |= tagHigh
	}
	return t
}

// appendEvent appends what a feed and a list have alike of an event, all from its ms on.
func appendEvent(b []byte, before, e Event) []byte {
	at := ms(e.ID)
	if before.ID == 0 {
		b = binary.AppendUvarint(b, at)
	} else {
		b = binary.AppendUvarint(b, ms(before.ID)-at)
	}
	if high(e.ID) != 0 {
		b = binary.AppendUvarint(b, high(e.ID))
	}
	if e.Origin == 0 {
		return b
	}
	tag := uint16(e.Origin & (1<<highShift - 1))
	apart := at - ms(e.Origin)
	if ms(e.Origin) > at {
		tag, apart = tag|originNewer, -apart
	}
	if high(e.Origin) != 0 {
		tag |= originHigh
	}
	b = binary.AppendUvarint(binary.BigEndian.AppendUint16(b, tag), apart)
	if high(e.Origin) != 0 {
		b = binary.AppendUvarint(b, high(e.Origin))
	}
	return b
}

// AppendRecord appends the record of an event.
func AppendRecord(b []byte, e Event) []byte {
	form := byte(recordForm)
	if e.Origin != 0 {
		form = repostForm
	}
	b = binary.BigEndian.AppendUint64(append(b, form), e.ID)
	b = binary.AppendUvarint(b, e.Author)
	if e.Origin != 0 {
		b = binary.BigEndian.AppendUint64(b, e.Origin)
	}
	return b
}

// ReadFeed appends to dst the events of a feed of an author, the newest first. After an
// error it returns dst as it was.
func ReadFeed(dst []Event, b []byte, author uint64) ([]Event, error) {
	r := reader{b: b}
	r.form(feedForm)
	n := r.number(uint64(len(b)))
	out := slices.Grow(dst, int(n))
	before := uint64(math.MaxUint64)
	for range n {
		tag := r.byte()
		if tag>>placeShift != 0 {
			r.bad = true
		}
		e := r.event(tag, before, author)
		out, before = append(out, e), e.ID
	}
	return r.end(dst, out)
}

// ReadList appends to dst the events of a list, the newest first. After an error it returns
// dst as it was.
func ReadList(dst []Event, b []byte) ([]Event, error) {
	l, err := OpenList(b)
	if err != nil {
		return dst, err
	}
	return l.Read(dst, l.Left)
}

// List is a list that is read a part at a time, the newest events first.
type List struct {
	Left int // events that are not read yet

	reader  reader
	authors []uint64 // with those marked that had events
	before  uint64   // the id of the last event
}

// OpenList begins to read a list.
func OpenList(b []byte) (List, error) {
	r := reader{b: b}
	r.form(listForm)
	n := r.number(uint64(len(b)))
	many := r.number(n)
	authors, last := make([]uint64, many), uint64(0)
	for i := range authors {
		more := r.number(maxID - last)
		if more == 0 {
			r.bad = true
			break
		}
		last += more
		authors[i] = last
	}
	if r.bad || n > 0 && len(authors) == 0 || n == 0 && r.at != len(b) {
		return List{}, r.err()
	}
	if n == 0 {
		return List{}, nil
	}
	return List{int(n), r, authors, math.MaxUint64}, nil
}

// Read appends the next n events to dst, Left at most. After an error it returns dst as it
// was, and the list is of no use any more. Not before the last event is it known that the
// whole list is good.
func (l *List) Read(dst []Event, n int) ([]Event, error) {
	if n = min(n, l.Left); n == 0 {
		return dst, nil
	}
	r, authors, before := l.reader, l.authors, l.before
	out := slices.Grow(dst, n)[:len(dst)+n]
	for i := len(dst); i < len(out); i++ {
		e := &out[i]
		if !r.plain(authors, before, e) {
			tag := r.byte()
			place := r.number(uint64(len(authors)-1)>>placeBits)<<placeBits | uint64(tag>>placeShift)
			if place >= uint64(len(authors)) {
				return dst, r.err()
			}
			authors[place] |= used
			*e = r.event(tag, before, authors[place]&^used)
		}
		before = e.ID
	}
	l.reader, l.before, l.Left = r, before, l.Left-n
	if l.Left > 0 {
		if r.bad {
			return dst, r.err()
		}
		return out, nil
	}
	for _, a := range authors {
		if a&used == 0 {
			r.bad = true
		}
	}
	*l = List{}
	return r.end(dst, out)
}

// used marks an author in the table who has an event.
const used = maxID + 1

// ReadRecords appends to dst the events of records, in their order. After an error it
// returns dst as it was. No bytes are no records.
func ReadRecords(dst []Event, b []byte) ([]Event, error) {
	r, out := reader{b: b}, dst
	for r.at < len(b) {
		e := Event{}
		form := r.byte()
		e.ID = r.fixed()
		e.Author = r.number(maxID)
		if form == repostForm {
			e.Origin = r.fixed()
		}
		if r.bad || form != recordForm && form != repostForm || !e.valid() || form == repostForm && e.Origin == 0 {
			return dst, r.err()
		}
		out = append(out, e)
	}
	return out, nil
}

// reader reads bytes from the first on. What is not as it must be makes it bad, and what
// it then returns means nothing.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) err() error {
	return fmt.Errorf("%w: %d bytes, at %d", ErrFormat, len(r.b), r.at)
}

// end returns out, or dst and an error where not all was good or something is left.
func (r *reader) end(dst, out []Event) ([]Event, error) {
	if r.bad || r.at != len(r.b) {
		return dst, r.err()
	}
	return out, nil
}

func (r *reader) form(want byte) {
	if r.byte() != want {
		r.bad = true
	}
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.bad = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) fixed() uint64 {
	if len(r.b)-r.at < 8 {
		r.bad = true
		return 0
	}
	r.at += 8
	return binary.BigEndian.Uint64(r.b[r.at-8:])
}

// number reads a number up to most, or returns 0.
func (r *reader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 || v > most || n > 1 && r.b[r.at+n-1] == 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}

// high reads the high bits of a sequence, which are not 0.
func (r *reader) high() uint64 {
	v := r.number(maxHigh)
	if v == 0 {
		r.bad = true
	}
	return v << highShift
}

// plain reads an event of a list as most are, a post with a low sequence by one of the first
// 512 authors, from eight bytes at once. Of another, or a bad one, it reads nothing. Without
// it 800 posts took 1.7 times as long: 18 instead of 11 µs of a core that others used, too.
func (r *reader) plain(authors []uint64, before uint64, e *Event) bool {
	if len(r.b)-r.at < 8 || before == math.MaxUint64 {
		return false
	}
	w := binary.LittleEndian.Uint64(r.b[r.at:]) // tag, place, and up to six bytes of less
	ends := ^w & 0x8080808080800000
	place := w>>8&0x7f<<placeBits | w>>placeShift&(1<<placeBits-1)
	if w&(tagRepost|tagHigh|0x8000) != 0 || ends == 0 || place >= uint64(len(authors)) {
		return false
	}
	size := bits.TrailingZeros64(ends)/8 - 1
	less := w >> 16 & (1<<(8*size) - 1)
	less = less&0x7f | less&0x7f00>>1 | less&0x7f0000>>2 | less&0x7f000000>>3 | less&0x7f00000000>>4 | less&0x7f0000000000>>5
	author := authors[place] &^ used
	id := (ms(before)-less)<<timeShift | w&lowMask<<repo.BucketBits | bucket(author)
	if less > ms(before) || size > 1 && less>>(7*(size-1)) == 0 || id >= before || id == 0 {
		return false
	}
	authors[place] |= used
	r.at += 2 + size
	*e = Event{ID: id, Author: author}
	return true
}

// event reads an event from its ms on. The id of the one before it is higher.
func (r *reader) event(tag byte, before, author uint64) Event {
	at := uint64(0)
	if before == math.MaxUint64 {
		at = r.number(maxMS)
	} else {
		at = ms(before) - r.number(ms(before))
	}
	e := Event{ID: at<<timeShift | uint64(tag&lowMask)<<repo.BucketBits | bucket(author), Author: author}
	if tag&tagHigh != 0 {
		e.ID |= r.high()
	}
	if tag&tagRepost != 0 {
		e.Origin = r.origin(at)
	}
	if e.ID >= before || !e.valid() {
		r.bad = true
	}
	return e
}

// origin reads what a repost of a time reposts.
func (r *reader) origin(at uint64) uint64 {
	tag := uint64(r.byte())<<8 | uint64(r.byte())
	if tag&originNewer == 0 {
		at -= r.number(at)
	} else {
		more := r.number(maxMS - at)
		if more == 0 {
			r.bad = true
		}
		at += more
	}
	id := at<<timeShift | tag&(1<<highShift-1)
	if tag&originHigh != 0 {
		id |= r.high()
	}
	if id == 0 {
		r.bad = true
	}
	return id
}
