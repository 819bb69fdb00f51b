package interaction

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kith/repo"
	"kith/repo/list"
)

// Event is one thing that an account (the actor) did with another.
type Event struct {
	Actor, Target uint64
	Kind          string // 1 to 32 of a-z, 0-9 and _
	At            uint32 // unix seconds
}

// MaxKind is the longest name of a kind in bytes.
const MaxKind = 32

// MaxEvents is how many events a batch holds at most.
const MaxEvents = 1000

// ValidKind reports whether a word can be a kind.
func ValidKind(kind string) bool {
	return len(kind) > 0 && len(kind) <= MaxKind && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Batch is one row of the log.
type Batch struct {
	Bucket uint16 `db:"bucket"`
	ID     uint64 `db:"batch_id"`
	N      uint32 `db:"n"`
	Events []byte `db:"events"`
}

// Batches packs events into batches, one or more for each bucket, in key order. newID
// must never return an id twice.
func Batches(events []Event, newID func() uint64) []Batch {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b Event) int { return repo.CompareKeys(a.Actor, b.Actor) })
	var out []Batch
	for len(events) > 0 {
		b, n := repo.Bucket(events[0].Actor), 1
		for n < len(events) && n < MaxEvents && repo.Bucket(events[n].Actor) == b {
			n++
		}
		out = append(out, Batch{Bucket: b, ID: newID(), N: uint32(n), Events: encode(events[:n])})
		events = events[n:]
	}
	slices.SortFunc(out, func(a, b Batch) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// FirstID returns the lowest id of a batch made at or after the given unix milliseconds.
func FirstID(millis int64) uint64 { return uint64(millis) << randomBits }

// NewID returns the id of a batch made at the given unix milliseconds; random
// keeps it apart from those of others.
func NewID(millis int64, random uint64) uint64 {
	return FirstID(millis) | random&(1<<randomBits-1)
}

// randomBits leave 42 bits for milliseconds, which last until 2109. Two batches of one
// millisecond and bucket have the same id once in four million times.
const randomBits = 22

// ErrFormat says that bytes are no batch. Every decode error wraps it.
var ErrFormat = errors.New("bad interaction bytes")

// formatVersion is the first byte of a batch.
const formatVersion = 1

// encode packs the events of one bucket, which are sorted by actor.
func encode(events []Event) []byte {
	var kinds []string
	base := uint32(math.MaxUint32)
	for _, e := range events {
		if !slices.Contains(kinds, e.Kind) {
			kinds = append(kinds, e.Kind)
		}
		base = min(base, e.At)
	}
	b := make([]byte, 0, 32+12*len(events))
	b = binary.AppendUvarint(append(b, formatVersion), uint64(len(kinds)))
	for _, k := range kinds {
		b = append(append(b, byte(len(k))), k...)
	}
	b = binary.AppendUvarint(b, uint64(len(events)))
	b = binary.BigEndian.AppendUint32(b, base)
	last := uint64(0)
	for _, e := range events {
		b = binary.AppendUvarint(b, uint64(slices.Index(kinds, e.Kind)))
		b = binary.AppendUvarint(b, e.Actor>>repo.BucketBits-last)
		b = binary.AppendUvarint(b, e.Target)
		b = binary.AppendUvarint(b, uint64(e.At-base))
		last = e.Actor >> repo.BucketBits
	}
	return b
}

// Decode returns the events of a batch. Errors wrap ErrFormat.
func (b Batch) Decode() ([]Event, error) {
	if b.Bucket >= repo.Buckets {
		return nil, fmt.Errorf("%w: bucket %d", ErrFormat, b.Bucket)
	}
	r := reader{b: b.Events}
	if v := r.take(1)[0]; r.bad || v != formatVersion {
		return nil, fmt.Errorf("%w: version %d", ErrFormat, v)
	}
	kinds, err := r.kinds()
	if err != nil {
		return nil, err
	}
	n := r.uvarint()
	if r.bad || n != uint64(b.N) || n > uint64(len(r.b)) {
		return nil, fmt.Errorf("%w: %d events where %d are noted", ErrFormat, n, b.N)
	}
	base := binary.BigEndian.Uint32(r.take(4))
	out := make([]Event, 0, n)
	last := uint64(0)
	for range n {
		kind, actor, target, at := r.uvarint(), r.uvarint(), r.uvarint(), r.uvarint()
		last += actor
		e := Event{Actor: last<<repo.BucketBits | uint64(b.Bucket), Target: target, At: base + uint32(at)}
		if r.bad || kind >= uint64(len(kinds)) || last < actor || last > list.MaxID>>repo.BucketBits ||
			e.Actor == 0 || target == 0 || target > list.MaxID || at > math.MaxUint32-uint64(base) {
			return nil, fmt.Errorf("%w: event %d of %d", ErrFormat, len(out), n)
		}
		e.Kind = kinds[kind]
		out = append(out, e)
	}
	if len(r.b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrFormat, len(r.b))
	}
	return out, nil
}

// reader reads a batch; bad is set once it ran out of bytes.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return make([]byte, n)
	}
	got := r.b[:n]
	r.b = r.b[n:]
	return got
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) kinds() ([]string, error) {
	n := r.uvarint()
	if r.bad || n == 0 || n > 255 {
		return nil, fmt.Errorf("%w: %d kinds", ErrFormat, n)
	}
	kinds := make([]string, n)
	for i := range kinds {
		kinds[i] = string(r.take(int(r.take(1)[0])))
		if r.bad || !ValidKind(kinds[i]) {
			return nil, fmt.Errorf("%w: kind %d", ErrFormat, i)
		}
	}
	return kinds, nil
}
