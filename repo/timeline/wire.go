package timeline

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"kith/repo/event"
)

// The item of a line has a base, and behind it what was pushed since:
//
//	byte      0x42, the version of the form
//	8 bytes   nonce, which the presence of the account repeats
//	uvarint   length of the rest of the base; 0: the line is being built
//	uvarint     BuiltAt, unix milliseconds
//	8 bytes     Floor
//	8 bytes     Follows
//	8 bytes     RowVer
//	uvarint     number of Pulled
//	uvarints    how much higher each is than the one before it, the first than 0
//	bytes       the events: event.AppendList
//	bytes     records: event.AppendRecord
//
// The item of a presence is the nonce and when it was last renewed, in unix seconds, 8 bytes
// each. All numbers of a fixed length are big-endian.
const (
	lineForm      = 0x42
	headBytes     = 1 + 8
	presenceBytes = 16
)

var errWire = errors.New("bad bytes of a hot timeline")

// empty returns the item of a line that is being built.
func empty(nonce uint64) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{lineForm}, nonce), 0)
}

// nonceOf returns the nonce of an item that is ours.
func nonceOf(item []byte) uint64 { return binary.BigEndian.Uint64(item[1:headBytes]) }

// pack returns the base of a line.
func pack(nonce uint64, l Line) ([]byte, error) {
	l = l.Cut(MaxEvents)
	b := binary.AppendUvarint(make([]byte, 0, 64+8*len(l.Events)), uint64(l.BuiltAt.UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, l.Floor)
	b = binary.BigEndian.AppendUint64(b, l.Follows)
	b = binary.BigEndian.AppendUint64(b, l.RowVer)
	b = appendIDs(b, l.Pulled)
	b, err := event.AppendList(b, l.Events)
	if err != nil {
		return nil, err
	}
	head := binary.BigEndian.AppendUint64([]byte{lineForm}, nonce)
	return append(binary.AppendUvarint(head, uint64(len(b))), b...), nil
}

// unpack reads the item of a line whose presence has a nonce. It is false where the nonce is
// another or the line is being built, which is no error.
func unpack(b []byte, nonce uint64) (Line, bool, error) {
	if len(b) < headBytes || b[0] != lineForm {
		return Line{}, false, fmt.Errorf("%w: %d bytes", errWire, len(b))
	}
	size, n := binary.Uvarint(b[headBytes:])
	if n <= 0 || size > uint64(len(b)-headBytes-n) {
		return Line{}, false, fmt.Errorf("%w: a base of %d bytes in %d", errWire, size, len(b))
	}
	if size == 0 || nonceOf(b) != nonce {
		return Line{}, false, nil
	}
	base, records := b[headBytes+n:][:size], b[headBytes+n:][size:]
	l, err := unpackBase(base)
	if err != nil {
		return Line{}, false, err
	}
	pushed, err := event.ReadRecords(nil, records)
	if err != nil {
		return Line{}, false, fmt.Errorf("%w: %w", errWire, err)
	}
	l.Appended = len(pushed)
	if n := len(l.Events); slices.ContainsFunc(pushed, func(e event.Event) bool { return n > 0 && e.ID < l.Events[n-1].ID }) {
		l = l.Whole()
	}
	return l.Add(pushed), true, nil
}

func unpackBase(b []byte) (l Line, err error) {
	built, n := binary.Uvarint(b)
	if n <= 0 || len(b) < n+24 {
		return Line{}, fmt.Errorf("%w: the head of a base of %d bytes", errWire, len(b))
	}
	l.BuiltAt = time.UnixMilli(int64(built)).UTC()
	l.Floor, l.Follows, l.RowVer = binary.BigEndian.Uint64(b[n:]), binary.BigEndian.Uint64(b[n+8:]), binary.BigEndian.Uint64(b[n+16:])
	if l.Pulled, b, err = readIDs(b[n+24:]); err != nil {
		return Line{}, err
	}
	l.older, err = event.OpenList(b)
	if err == nil {
		l.Events, err = l.older.Read(nil, NewestEvents)
	}
	if err != nil {
		return Line{}, fmt.Errorf("%w: %w", errWire, err)
	}
	return l, nil
}

// appendIDs appends how many ids there are, each once, and how much higher each is than the
// one before it.
func appendIDs(b []byte, ids []uint64) []byte {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	b = binary.AppendUvarint(b, uint64(len(ids)))
	last := uint64(0)
	for _, id := range ids {
		b = binary.AppendUvarint(b, id-last)
		last = id
	}
	return b
}

// readIDs reads what appendIDs wrote and returns the rest.
func readIDs(b []byte) (ids []uint64, rest []byte, err error) {
	many, n := binary.Uvarint(b)
	if n <= 0 || many > uint64(len(b)) {
		return nil, nil, fmt.Errorf("%w: the pulled authors", errWire)
	}
	b = b[n:]
	last := uint64(0)
	for range many {
		more, n := binary.Uvarint(b)
		if n <= 0 || more == 0 || last+more < last {
			return nil, nil, fmt.Errorf("%w: the pulled authors", errWire)
		}
		last += more
		ids, b = append(ids, last), b[n:]
	}
	return ids, b, nil
}

// Add returns a line with more events, which may come in any order, twice, be there already
// or lie below the Floor. It sorts them in place.
func (l Line) Add(more []event.Event) Line {
	events := l.Events
	if len(more) == 0 && (len(events) == 0 || events[len(events)-1].ID >= l.Floor) {
		return l // mostly
	}
	slices.SortFunc(more, func(a, b event.Event) int { return cmp.Compare(b.ID, a.ID) })
	l.Events = make([]event.Event, 0, len(events)+len(more))
	for len(events)+len(more) > 0 {
		from := &events
		if len(events) == 0 || len(more) > 0 && more[0].ID >= events[0].ID {
			from = &more
		}
		e := (*from)[0]
		*from = (*from)[1:]
		if e.ID < l.Floor {
			break
		}
		if n := len(l.Events); n == 0 || l.Events[n-1].ID != e.ID {
			l.Events = append(l.Events, e)
		}
	}
	return l
}
