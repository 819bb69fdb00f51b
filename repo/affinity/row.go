// Package affinity keeps how much each account has to do with others: one versioned row
// an account, with the others of the highest scores. The score is for ordering only and
// never leaves the program.
//
// A score fades with a half-life H: what weighs w at time t weighs
// w·2^-((u-t)/H) at time u. All scores of a row are as of one moment, At, so fading does
// not change their order. To add something all are faded to the newer moment first.
//
//	byte 0       format version, 1
//	byte 1       width of an id, 4 while all fit in 32 bits, else 8
//	2 bytes      entries, big-endian, as everything here
//	4 bytes      At, unix seconds
//	ids          highest score first, then by id
//	scores       float32 each, in the order of the ids
//
// A fold swaps the rows of many accounts of one bucket and deletes the batches that were
// folded, in one transaction. Each swap is guarded by ver and each batch must still be
// there, so a batch is folded once, also after a crash or a lost connection.
package affinity

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"kith/repo/row"
)

// ErrFormat says that bytes are no affinity list. Every decode error wraps it.
var ErrFormat = errors.New("bad affinity bytes")

const (
	formatVersion = 1
	headerBytes   = 8
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
	row.Meta
	At      uint32  // unix seconds: the moment of the scores
	Entries []Entry // highest score first, and by id among equals
}

// Sort puts entries into the order of a row.
func Sort(entries []Entry) {
	slices.SortFunc(entries, compare)
}

func compare(a, b Entry) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) }

// encode packs a row whose entries are sorted.
func (r Row) encode() ([]byte, error) {
	if len(r.Entries) > MaxEntries {
		return nil, fmt.Errorf("%w: %d entries", ErrFormat, len(r.Entries))
	}
	ids := make([]uint64, len(r.Entries))
	for i, e := range r.Entries {
		ids[i] = e.ID
	}
	width := row.Width(ids)
	b := make([]byte, 0, headerBytes+len(ids)*(width+scoreBytes))
	b = binary.BigEndian.AppendUint16(append(b, formatVersion, byte(width)), uint16(len(ids)))
	b = row.AppendIDs(binary.BigEndian.AppendUint32(b, r.At), width, ids)
	for _, e := range r.Entries {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(e.Score))
	}
	return b, nil
}

// decode reads what encode wrote into r. Errors wrap ErrFormat, also for bad ids, scores
// that are no positive number, and another order.
func (r *Row) decode(b []byte) error {
	if len(b) < headerBytes || b[0] != formatVersion {
		return fmt.Errorf("%w: header", ErrFormat)
	}
	width, n := int(b[1]), int(binary.BigEndian.Uint16(b[2:]))
	if n > MaxEntries || len(b) != headerBytes+n*(width+scoreBytes) {
		return fmt.Errorf("%w: %d bytes for %d entries", ErrFormat, len(b), n)
	}
	scores := b[headerBytes+n*width:]
	ids, err := row.ReadIDs(b[headerBytes:headerBytes+n*width], width, n)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	r.At, r.Entries = binary.BigEndian.Uint32(b[4:]), make([]Entry, n)
	for i, id := range ids {
		e := Entry{id, math.Float32frombits(binary.BigEndian.Uint32(scores[i*scoreBytes:]))}
		if r.Entries[i] = e; !(e.Score > 0) || math.IsInf(float64(e.Score), 0) || i > 0 && compare(r.Entries[i-1], e) >= 0 {
			return fmt.Errorf("%w: entry %d", ErrFormat, i)
		}
	}
	return nil
}
