package event

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"kith/repo"
)

// The plain slow version of the packed forms, as the comment in codec.go says them, with
// arithmetic instead of shifts and masks.

// split returns the parts of an id.
func split(id uint64) (ms, high, low, bucket uint64) {
	return id / 4194304, id / 16384 % 256, id / 1024 % 16, id % 1024
}

// plainNumber appends a uvarint.
func plainNumber(b []byte, v uint64) []byte {
	for size := max(1, (bits.Len64(v)+6)/7); size > 1; size-- {
		b = append(b, byte(128+v%128))
		v /= 128
	}
	return append(b, byte(v))
}

func plainFixed(b []byte, v uint64, size int) []byte {
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(v>>(8*i)))
	}
	return b
}

// plainEvents packs a feed, or a list where authors has the table.
func plainEvents(b []byte, events []Event, authors []uint64) []byte {
	for i, e := range events {
		ms, high, low, _ := split(e.ID)
		place := uint64(max(0, slices.Index(authors, e.Author)))
		tag := low + place%4*64
		if e.Origin != 0 {
			tag += 16
		}
		if high != 0 {
			tag += 32
		}
		b = append(b, byte(tag))
		if authors != nil {
			b = plainNumber(b, place/4)
		}
		if i == 0 {
			b = plainNumber(b, ms)
		} else {
			before, _, _, _ := split(events[i-1].ID)
			b = plainNumber(b, before-ms)
		}
		if high != 0 {
			b = plainNumber(b, high)
		}
		if e.Origin != 0 {
			b = plainOrigin(b, ms, e.Origin)
		}
	}
	return b
}

func plainOrigin(b []byte, at, origin uint64) []byte {
	ms, high, low, bucket := split(origin)
	tag, apart := bucket+1024*low, at-ms
	if high != 0 {
		tag += 16384
	}
	if ms > at {
		tag, apart = tag+32768, ms-at
	}
	b = plainNumber(plainFixed(b, tag, 2), apart)
	if high != 0 {
		b = plainNumber(b, high)
	}
	return b
}

func plainFeed(events []Event) []byte {
	return plainEvents(plainNumber([]byte{0x11}, uint64(len(events))), events, nil)
}

func plainList(events []Event) []byte {
	authors := []uint64{}
	for _, e := range events {
		if !slices.Contains(authors, e.Author) {
			authors = append(authors, e.Author)
		}
	}
	slices.Sort(authors)
	b := plainNumber([]byte{0x21}, uint64(len(events)))
	b = plainNumber(b, uint64(len(authors)))
	for i, a := range authors {
		if i > 0 {
			a -= authors[i-1]
		}
		b = plainNumber(b, a)
	}
	return plainEvents(b, events, authors)
}

func plainRecord(e Event) []byte {
	if e.Origin == 0 {
		return plainNumber(plainFixed([]byte{0x31}, e.ID, 8), e.Author)
	}
	return plainFixed(plainNumber(plainFixed([]byte{0x32}, e.ID, 8), e.Author), e.Origin, 8)
}

// randomEvents returns n events, or a few less, of authors, the newest first. Numbers of
// every length come up.
func randomEvents(r *rand.Rand, n, authors int) []Event {
	number := func(most uint64) uint64 { return 1 + r.Uint64N(most)>>r.IntN(bits.Len64(most)) }
	who := make([]uint64, authors)
	for i := range who {
		who[i] = number(math.MaxInt64)
	}
	events := make([]Event, 0, n)
	for id := number(math.MaxInt64); len(events) < n; {
		e := Event{Author: who[r.IntN(authors)]}
		if e.ID = id&^(repo.Buckets-1) | uint64(repo.Bucket(e.Author)); e.ID != 0 {
			if r.IntN(3) == 0 {
				e.Origin = number(math.MaxInt64)
			}
			events = append(events, e)
		}
		apart := number(1 << r.IntN(60))
		if apart+repo.Buckets >= id {
			break
		}
		id -= apart + repo.Buckets
	}
	return events
}
