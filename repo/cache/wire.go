package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A value in memcached is a short head, the entry's value and its body:
//
//	byte  0   layout 4 in the high four bits; in the low ones the kind: 0 whole
//	          (or absent, where ver is 0), 1 hole, 2 apart
//	uvarint   ver
//	uvarint   length of the value
//	bytes     the value, and then the body
//	8 bytes   checksum over all of it and the key (sealer.tag)
//
// A hole and an entry apart have no body here. That of an entry apart is under
// the key with bodySuffix, in an item of kind whole that has the value too. That of a
// hole is nowhere.
const (
	layout    = 4
	kindWhole = 0
	kindHole  = 1
	kindApart = 2
)

const (
	// maxBytes is the longest entry that is held. A memcached item is at most
	// 1 MiB unless started otherwise (-I), its key and its own header included.
	maxBytes = 1<<20 - 2<<10
	// maxInline is the longest body that stands with its value. Longer ones
	// would make pages of many heads slow.
	maxInline = 2 << 10
)

// errLayout says that the bytes of an item are not ours or of another release.
var errLayout = errors.New("unknown layout")

func (e Entry) bytes() int { return len(e.Value) + len(e.Body) }

// tooLarge reports whether an entry can only leave a hole.
func (e Entry) tooLarge() bool { return e.bytes() > maxBytes }

// kind returns how an entry is stored under its own key.
func (e Entry) kind() byte {
	switch {
	case e.tooLarge():
		return kindHole
	case e.Partial, len(e.Body) > maxInline:
		return kindApart
	default:
		return kindWhole
	}
}

// apart reports whether the body of an entry is stored apart.
func (e Entry) apart() bool { return e.kind() == kindApart && !e.Partial }

// encode returns the bytes of the item under the entry's own key.
func encode(e Entry) []byte {
	kind := e.kind()
	if kind != kindWhole {
		e.Body = nil
	}
	if e.tooLarge() {
		e.Value = nil // without a body, and too large still
	}
	return pack(nil, kind, e)
}

// pack appends the bytes of an item to b, with room for a checksum.
func pack(b []byte, kind byte, e Entry) []byte {
	if e.Ver == 0 {
		e.Value, e.Body = nil, nil
	}
	b = slices.Grow(b, 1+2*binary.MaxVarintLen64+e.bytes()+tagBytes)
	b = append(b, layout<<4|kind)
	b = binary.AppendUvarint(b, e.Ver)
	b = binary.AppendUvarint(b, uint64(len(e.Value)))
	return append(append(b, e.Value...), e.Body...)
}

// decode takes the bytes of an item apart. The entry it returns has no key, and
// its bytes share b. One that is not whole is Partial.
func decode(b []byte) (e Entry, kind byte, err error) {
	if len(b) == 0 || b[0]>>4 != layout || b[0]&15 > kindApart {
		return Entry{}, 0, fmt.Errorf("%d bytes, %.4x: %w", len(b), b, errLayout)
	}
	kind = b[0] & 15
	ver, n := uvarint(b[1:])
	value, m := uvarint(b[1+n:])
	at := 1 + n + m
	if n == 0 || m == 0 || value > uint64(len(b)-at) {
		return Entry{}, 0, fmt.Errorf("%d bytes are cut: %w", len(b), errLayout)
	}
	end := at + int(value)
	e = Entry{Ver: ver, Value: b[at:end:end], Body: b[end:], Partial: kind != kindWhole}
	if len(e.Body) > 0 && e.Partial || e.Ver == 0 && (e.bytes() > 0 || e.Partial) {
		return Entry{}, 0, fmt.Errorf("bytes where none belong: %w", errLayout)
	}
	return e, kind, nil
}

// uvarint reads a number that takes no more bytes than it needs; n is 0 where
// there is none.
func uvarint(b []byte) (v uint64, n int) {
	if v, n = binary.Uvarint(b); n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, 0
	}
	return v, n
}

// bodySuffix ends the key of the body of an entry apart, and no other.
const bodySuffix = "+"
