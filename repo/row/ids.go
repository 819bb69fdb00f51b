package row

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kith/repo/list"
)

// A packed list of ids: the width of an id, 4 while all fit in 32 bits, else 8, the
// kind of row says where; then the ids, big-endian, in an order that means something.
const narrow, wide = 4, 8

// Width returns how wide ids are packed.
func Width(lists ...[]uint64) int {
	for _, ids := range lists {
		if len(ids) > 0 && slices.Max(ids) > math.MaxUint32 {
			return wide
		}
	}
	return narrow
}

// AppendIDs packs ids of a width.
func AppendIDs(b []byte, width int, ids []uint64) []byte {
	for _, id := range ids {
		if width == narrow {
			b = binary.BigEndian.AppendUint32(b, uint32(id))
		} else {
			b = binary.BigEndian.AppendUint64(b, id)
		}
	}
	return b
}

// ReadIDs reads n ids of a width, which are all that b has. Bytes that cannot be those
// give an error.
func ReadIDs(b []byte, width, n int) ([]uint64, error) {
	if width != narrow && width != wide || n < 0 || len(b) != width*n {
		return nil, fmt.Errorf("%d bytes for %d ids of width %d", len(b), n, width)
	}
	ids := make([]uint64, n)
	for i := range ids {
		if width == narrow {
			ids[i] = uint64(binary.BigEndian.Uint32(b[i*narrow:]))
		} else {
			ids[i] = binary.BigEndian.Uint64(b[i*wide:])
		}
		if ids[i] == 0 || ids[i] > list.MaxID {
			return nil, fmt.Errorf("id %d is %d", i, ids[i])
		}
	}
	return ids, nil
}
