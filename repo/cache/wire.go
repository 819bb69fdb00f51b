package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A value in memcached is a header, the entry's value and its body:
//
//	byte  0      layout, 2
//	byte  1      kind: 0 whole (or absent, where ver is 0), 1 hole, 2 apart
//	bytes 2-9    ver, big-endian
//	bytes 10-13  length of the value, big-endian
//	bytes 14-17  length of the body, big-endian
//	bytes 18-    the value, the body
//
// A hole and an entry apart have no body here. That of an entry apart is under
// the key's bodyKey, in an item of kind whole that has the value too. That of a
// hole is nowhere.
const (
	layout     = 2
	kindWhole  = 0
	kindHole   = 1
	kindApart  = 2
	headerSize = 18
)

const (
	// maxBytes is the longest entry that is held. A memcached item is at most
	// 1 MiB unless told otherwise (-I), its key and its own header included.
	maxBytes = 1<<20 - 2<<10
	// maxInline is the longest body that stands with its value. Longer ones
	// would make pages of many heads slow.
	maxInline = 2 << 10
)

// errLayout says that the bytes of an item are not ours or of another release.
var errLayout = errors.New("unknown layout")

func (e Entry) bytes() int { return len(e.Value) + len(e.Body) }

// tooLarge tells whether an entry can only leave a hole.
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

// encode returns the bytes of the item under the entry's own key.
func encode(e Entry) []byte {
	kind := e.kind()
	if kind != kindWhole {
		e.Body = nil
	}
	if e.tooLarge() {
		e.Value = nil // without a body, and too large still
	}
	return pack(kind, e)
}

func pack(kind byte, e Entry) []byte {
	if e.Ver == 0 {
		e.Value, e.Body = nil, nil
	}
	b := make([]byte, 0, headerSize+e.bytes())
	b = append(b, layout, kind)
	b = binary.BigEndian.AppendUint64(b, e.Ver)
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.Value)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.Body)))
	return append(append(b, e.Value...), e.Body...)
}

// decode takes the bytes of an item apart. The entry it returns has no key, and
// its bytes share b. One that is not whole is Partial.
func decode(b []byte) (e Entry, kind byte, err error) {
	if len(b) < headerSize {
		return Entry{}, 0, fmt.Errorf("%d bytes: %w", len(b), errLayout)
	}
	kind = b[1]
	e.Ver = binary.BigEndian.Uint64(b[2:10])
	e.Partial = kind != kindWhole
	value, body := uint64(binary.BigEndian.Uint32(b[10:14])), uint64(binary.BigEndian.Uint32(b[14:headerSize]))
	switch {
	case b[0] != layout, kind > kindApart:
		return Entry{}, 0, fmt.Errorf("layout %d kind %d: %w", b[0], kind, errLayout)
	case value+body != uint64(len(b)-headerSize):
		return Entry{}, 0, fmt.Errorf("%d bytes where %d and %d were said: %w", len(b)-headerSize, value, body, errLayout)
	case body > 0 && e.Partial, e.Ver == 0 && (value+body > 0 || e.Partial):
		return Entry{}, 0, fmt.Errorf("bytes where none belong: %w", errLayout)
	}
	end := headerSize + int(value)
	e.Value, e.Body = b[headerSize:end:end], b[end:]
	return e, kind, nil
}

// bodySuffix ends no other key.
const bodySuffix = "+"

// bodyKey is where the body of an entry apart is.
func bodyKey(key string) string { return key + bodySuffix }
