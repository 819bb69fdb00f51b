package interaction

import (
	"cmp"
	"slices"

	"kith/repo"
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

// ValidKind tells whether a word can be a kind.
func ValidKind(kind string) bool {
	if len(kind) == 0 || len(kind) > MaxKind {
		return false
	}
	for i := range len(kind) {
		if c := kind[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// Batch is one row of the log.
type Batch struct {
	Bucket uint16 `db:"bucket"`
	ID     uint64 `db:"batch_id"`
	N      uint32 `db:"n"`
	Events []byte `db:"events"`
}

// Batches packs events into batches, one or more for each bucket, in key order.
// newID gives each its id; it must never give one twice.
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

// FirstID returns the lowest id that a batch made at or after the given unix
// milliseconds can have.
func FirstID(millis int64) uint64 { return uint64(millis) << randomBits }

// NewID returns the id of a batch made at the given unix milliseconds; random
// tells it from those of others.
func NewID(millis int64, random uint64) uint64 {
	return FirstID(millis) | random&(1<<randomBits-1)
}

// randomBits leave 42 bits for milliseconds, which last until 2109, and one
// batch in four million of the same millisecond and bucket unlucky.
const randomBits = 22
