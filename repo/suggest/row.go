// Package suggest keeps whom an account may want to follow, and whom it does not
// want to be shown: one versioned row an account.
//
//	byte 0       format version, 1
//	byte 1       width of an id, 4 while all fit in 32 bits, else 8
//	2 bytes      suggested, big-endian, as everything here
//	2 bytes      dismissed
//	ids          the suggested, best first
//	ids          the dismissed, newest first
//
// There is no score: the order says enough. Both lists are in one row so that the swap
// on ver makes a dismissal act on the suggestions of that moment, and keeps new
// suggestions from bringing back what was dismissed meanwhile.
package suggest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"kith/repo/row"
)

// ErrFormat says that bytes are no suggestions. Every decode error wraps it.
var ErrFormat = errors.New("bad suggest bytes")

const (
	formatVersion = 1
	headerBytes   = 6
)

// Bounds of a row.
const (
	MaxSuggested = 100
	MaxDismissed = 1000 // the oldest go first
)

// Row is one suggest row. Ver 0 means that there is none yet.
type Row struct {
	row.Meta
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
	width := row.Width(r.Suggested, r.Dismissed)
	b := make([]byte, 0, headerBytes+width*(len(r.Suggested)+len(r.Dismissed)))
	b = binary.BigEndian.AppendUint16(append(b, formatVersion, byte(width)), uint16(len(r.Suggested)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Dismissed)))
	return row.AppendIDs(row.AppendIDs(b, width, r.Suggested), width, r.Dismissed)
}

// decode reads what encode wrote into r. Errors wrap ErrFormat.
func (r *Row) decode(b []byte) error {
	if len(b) < headerBytes || b[0] != formatVersion {
		return fmt.Errorf("%w: header", ErrFormat)
	}
	suggested, dismissed := int(binary.BigEndian.Uint16(b[2:])), int(binary.BigEndian.Uint16(b[4:]))
	if suggested > MaxSuggested || dismissed > MaxDismissed {
		return fmt.Errorf("%w: %d and %d ids", ErrFormat, suggested, dismissed)
	}
	ids, err := row.ReadIDs(b[headerBytes:], int(b[1]), suggested+dismissed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	r.Suggested, r.Dismissed = ids[:suggested:suggested], ids[suggested:]
	return nil
}
