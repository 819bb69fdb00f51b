package suggest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/repo/list"
)

// ErrFormat says that bytes are no suggestions. Every decode error wraps it.
var ErrFormat = errors.New("bad suggest bytes")

const (
	formatVersion = 1
	headerBytes   = 6
	narrow, wide  = 4, 8
)

// Bounds of a row.
const (
	MaxSuggested = 100
	MaxDismissed = 1000 // the oldest go first
)

// Row is one suggest row. Ver 0 means that there is none yet.
type Row struct {
	AccountID uint64
	Ver       uint64
	MadeAt    uint32   // unix seconds, 0: never made
	Suggested []uint64 // best first
	Dismissed []uint64 // newest first
}

// Suggest replaces the suggestions, without those that were dismissed, and
// dates them.
func (r *Row) Suggest(ids []uint64, now uint32) {
	r.Suggested = slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return slices.Contains(r.Dismissed, id) })
	r.Suggested = r.Suggested[:min(len(r.Suggested), MaxSuggested)]
	r.MadeAt = now
}

// Dismiss keeps id from being suggested; false where it was so already.
func (r *Row) Dismiss(id uint64) bool {
	if slices.Contains(r.Dismissed, id) {
		return false
	}
	r.Dismissed = slices.Insert(slices.Clone(r.Dismissed), 0, id)
	r.Dismissed = r.Dismissed[:min(len(r.Dismissed), MaxDismissed)]
	r.Suggested = slices.DeleteFunc(slices.Clone(r.Suggested), func(s uint64) bool { return s == id })
	return true
}

func (r Row) encode() []byte {
	width := narrow
	for _, ids := range [][]uint64{r.Suggested, r.Dismissed} {
		if len(ids) > 0 && slices.Max(ids) > math.MaxUint32 {
			width = wide
		}
	}
	b := make([]byte, 0, headerBytes+width*(len(r.Suggested)+len(r.Dismissed)))
	b = binary.BigEndian.AppendUint16(append(b, formatVersion, byte(width)), uint16(len(r.Suggested)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Dismissed)))
	for _, ids := range [][]uint64{r.Suggested, r.Dismissed} {
		for _, id := range ids {
			if width == narrow {
				b = binary.BigEndian.AppendUint32(b, uint32(id))
			} else {
				b = binary.BigEndian.AppendUint64(b, id)
			}
		}
	}
	return b
}

// decode reads what encode wrote into r. Errors wrap ErrFormat.
func (r *Row) decode(b []byte) error {
	if len(b) < headerBytes || b[0] != formatVersion || b[1] != narrow && b[1] != wide {
		return fmt.Errorf("%w: header", ErrFormat)
	}
	width := int(b[1])
	suggested, dismissed := int(binary.BigEndian.Uint16(b[2:])), int(binary.BigEndian.Uint16(b[4:]))
	b = b[headerBytes:]
	if suggested > MaxSuggested || dismissed > MaxDismissed || len(b) != width*(suggested+dismissed) {
		return fmt.Errorf("%w: %d bytes for %d and %d ids", ErrFormat, len(b), suggested, dismissed)
	}
	ids := make([]uint64, suggested+dismissed)
	for i := range ids {
		if width == narrow {
			ids[i] = uint64(binary.BigEndian.Uint32(b[i*narrow:]))
		} else {
			ids[i] = binary.BigEndian.Uint64(b[i*wide:])
		}
		if ids[i] == 0 || ids[i] > list.MaxID {
			return fmt.Errorf("%w: id %d", ErrFormat, i)
		}
	}
	r.Suggested, r.Dismissed = ids[:suggested:suggested], ids[suggested:]
	return nil
}
