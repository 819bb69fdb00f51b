package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A value in memcached is a header and the packed value of the row:
//
//	byte  0      layout, 1
//	byte  1      kind: 0 row (or absent, where ver is 0), 1 hole
//	bytes 2-9    ver, big-endian
//	bytes 10-13  length of the packed value, big-endian
//	bytes 14-    the packed value
const (
	layout     = 1
	kindRow    = 0
	kindHole   = 1
	headerSize = 14
)

// maxValue is the longest packed value that is held. A memcached item is at
// most 1 MiB unless told otherwise (-I), its key and its own header included.
const maxValue = 1<<20 - 2<<10

// errLayout says that the bytes of an item are not ours or of another release.
var errLayout = errors.New("unknown layout")

// tooLarge tells whether an entry can only leave a hole.
func (e Entry) tooLarge() bool { return len(e.Value) > maxValue }

// encode returns the bytes of an item: of a hole, if e is too large.
func encode(e Entry) []byte {
	kind, value := byte(kindRow), e.Value
	if e.tooLarge() {
		kind = kindHole
	}
	if e.tooLarge() || e.Ver == 0 {
		value = nil
	}
	b := make([]byte, 0, headerSize+len(value))
	b = append(b, layout, kind)
	b = binary.BigEndian.AppendUint64(b, e.Ver)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

// decode takes the bytes of an item apart. The entry it returns has no key,
// and its value shares b.
func decode(b []byte) (e Entry, hole bool, err error) {
	if len(b) < headerSize {
		return Entry{}, false, fmt.Errorf("%d bytes: %w", len(b), errLayout)
	}
	kind := b[1]
	e.Ver = binary.BigEndian.Uint64(b[2:10])
	e.Value = b[headerSize:]
	length := binary.BigEndian.Uint32(b[10:headerSize])
	switch {
	case b[0] != layout, kind != kindRow && kind != kindHole:
		return Entry{}, false, fmt.Errorf("layout %d kind %d: %w", b[0], kind, errLayout)
	case uint64(length) != uint64(len(e.Value)):
		return Entry{}, false, fmt.Errorf("value of %d bytes where %d were said: %w", len(e.Value), length, errLayout)
	case length > 0 && (kind == kindHole || e.Ver == 0):
		return Entry{}, false, fmt.Errorf("value of %d bytes where none belongs: %w", length, errLayout)
	}
	return e, kind == kindHole, nil
}
