package affinity

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/repo/list"
)

// ErrFormat says that bytes are no affinity list. Every decode error wraps it.
var ErrFormat = errors.New("bad affinity bytes")

const (
	formatVersion = 1
	headerBytes   = 8
	narrow, wide  = 4, 8
	scoreBytes    = 4
)

// MaxEntries is the longest list; the settings keep to less.
const MaxEntries = 10_000

// Entry is one other account and its score as of the row's At.
type Entry struct {
	ID    uint64
	Score float32
}

// Row is one affinity row. Ver 0 means that there is none yet.
type Row struct {
	AccountID uint64
	Ver       uint64
	At        uint32  // unix seconds: the moment of the scores
	Entries   []Entry // highest score first, and by id among equals
}

// Sort puts entries into the order of a row.
func Sort(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
}

// encode packs a row whose entries are sorted.
func (r Row) encode() ([]byte, error) {
	n, width := len(r.Entries), narrow
	if n > MaxEntries {
		return nil, fmt.Errorf("%w: %d entries", ErrFormat, n)
	}
	for _, e := range r.Entries {
		if e.ID > math.MaxUint32 {
			width = wide
		}
	}
	b := make([]byte, 0, headerBytes+n*(width+scoreBytes))
	b = binary.BigEndian.AppendUint16(append(b, formatVersion, byte(width)), uint16(n))
	b = binary.BigEndian.AppendUint32(b, r.At)
	for _, e := range r.Entries {
		if width == narrow {
			b = binary.BigEndian.AppendUint32(b, uint32(e.ID))
		} else {
			b = binary.BigEndian.AppendUint64(b, e.ID)
		}
	}
	for _, e := range r.Entries {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(e.Score))
	}
	return b, nil
}

// decode reads what encode wrote into r. Errors wrap ErrFormat.
func (r *Row) decode(b []byte) error {
	if len(b) < headerBytes || b[0] != formatVersion || b[1] != narrow && b[1] != wide {
		return fmt.Errorf("%w: header", ErrFormat)
	}
	width, n := int(b[1]), int(binary.BigEndian.Uint16(b[2:]))
	if n > MaxEntries || len(b) != headerBytes+n*(width+scoreBytes) {
		return fmt.Errorf("%w: %d bytes for %d entries", ErrFormat, len(b), n)
	}
	r.At = binary.BigEndian.Uint32(b[4:])
	ids, scores := b[headerBytes:], b[headerBytes+n*width:]
	r.Entries = make([]Entry, n)
	for i := range r.Entries {
		e := &r.Entries[i]
		if width == narrow {
			e.ID = uint64(binary.BigEndian.Uint32(ids[i*narrow:]))
		} else {
			e.ID = binary.BigEndian.Uint64(ids[i*wide:])
		}
		e.Score = math.Float32frombits(binary.BigEndian.Uint32(scores[i*scoreBytes:]))
	}
	return r.check()
}

// check refuses entries that cannot be: bad ids, scores that are no positive
// number, or another order than that of a row.
func (r *Row) check() error {
	for i, e := range r.Entries {
		if e.ID == 0 || e.ID > list.MaxID || !(e.Score > 0) || math.IsInf(float64(e.Score), 0) {
			return fmt.Errorf("%w: entry %d", ErrFormat, i)
		}
		if i == 0 {
			continue
		}
		if before := r.Entries[i-1]; before.Score < e.Score || before.Score == e.Score && before.ID >= e.ID {
			return fmt.Errorf("%w: entry %d is out of order", ErrFormat, i)
		}
	}
	return nil
}
