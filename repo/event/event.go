// Package event names what authors do: each post and each repost is an event.
//
// The id of an event is the id of its post, a repost being a post of its own, without
// text. Ids are made without coordination:
//
//	41 bits of milliseconds since 2000 | 12 bits of sequence | 10 bits of bucket
//
// The last ten bits are those of the author's account id. So repo.Bucket finds the bucket
// of a post as it finds that of an account, a post lies with its author, and ids still
// sort by time. (The bits of the bucket stand last, not in the middle, so that one rule
// serves all rows.)
//
// An author's ids never fall, and a repost or reply comes after its post, whatever the
// clocks of processes say: Next is given the author's last id, which stands in the author's
// feed and is swapped with it, and that of the post. Two authors of one bucket who post in
// the same millisecond may get the same id: four bits of the sequence are random, which
// packed lists hold at no cost. The insert finds that out, and the next try (Anew) takes
// another, from the whole sequence.
package event

import (
	"time"

	"kith/repo"
)

// Event is a post or a repost by an author.
type Event struct {
	ID     uint64
	Author uint64
	Origin uint64 // the post that it reposts; 0: it is a post itself
}

// Post returns the post that the event brings: itself, or what it reposts.
func (e Event) Post() uint64 {
	if e.Origin != 0 {
		return e.Origin
	}
	return e.ID
}

const (
	sequenceBits = 12
	timeShift    = sequenceBits + repo.BucketBits
	step         = 1 << repo.BucketBits // from an id to the next of the same bucket
	randomBits   = 4
)

// Epoch is the time of the first ids; the last are of the year 2069.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Next returns the id of an event of an author at a time, higher than another id: the
// author's last one, and that of a post which it reposts or answers. random are any bits. A
// time before Epoch counts as Epoch.
func Next(author, above uint64, at time.Time, random uint64) uint64 {
	return next(author, above, at, random%(1<<randomBits), 0)
}

// Anew is Next once that has returned an id that was taken: it chooses among many more.
func Anew(author, above uint64, at time.Time, random uint64) uint64 {
	random %= 1 << sequenceBits
	return next(author, above, at, random, random)
}

// next returns an id with a sequence, or, where that is not above another, the one so many
// behind the next.
func next(author, above uint64, at time.Time, sequence, skip uint64) uint64 {
	bucket := uint64(repo.Bucket(author))
	id := First(at) | sequence<<repo.BucketBits | bucket
	if id <= above {
		id = above - uint64(repo.Bucket(above)) + (1+skip)*step + bucket
	}
	return id
}

// First returns the lowest id that an event at a time may have.
func First(at time.Time) uint64 {
	return uint64(max(at.Sub(Epoch).Milliseconds(), 1)) << timeShift
}

// Time returns when the event of an id was made, to the millisecond.
func Time(id uint64) time.Time {
	return Epoch.Add(time.Duration(id>>timeShift) * time.Millisecond)
}
