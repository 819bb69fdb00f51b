package audit

import (
	"cmp"
	"math/bits"

	"kith/repo/list"
)

// relKind is what an entry says.
type relKind uint8

const (
	follow relKind = iota
	block
	request
	relKinds
)

// entry is one relation in the row of owner: owner follows, blocks or asks other (out),
// or other does so to owner.
type entry struct {
	owner, other uint64
	at           uint32
	kind         relKind
	out          bool
}

// ends returns who follows, blocks or asks, and whom.
func (e entry) ends() (from, to uint64) {
	if e.out {
		return e.owner, e.other
	}
	return e.other, e.owner
}

// mirror is the entry that the row of other must have.
func (e entry) mirror() entry { return entry{e.other, e.owner, e.at, e.kind, !e.out} }

// compare orders entries so that those which say the same of the same two, from whatever
// side, stand together.
func (e entry) compare(o entry) int {
	from, to := e.ends()
	oFrom, oTo := o.ends()
	return cmp.Or(cmp.Compare(e.kind, o.kind), cmp.Compare(from, oFrom), cmp.Compare(to, oTo))
}

// side is 1 in the row of the one who follows, blocks or asks, else 0.
func (e entry) side() int {
	if e.out {
		return 1
	}
	return 0
}

// counterparts are the sections of blocks and requests, with the section of the other
// account that must have the same.
var counterparts = []struct {
	section, counterpart list.Section
	kind                 relKind
	out                  bool
}{
	{list.Blocking, list.BlockedBy, block, true}, {list.BlockedBy, list.Blocking, block, false},
	{list.Requested, list.Requests, request, true}, {list.Requests, list.Requested, request, false},
}

// eachEntry gives fn every entry of a list. Bad bytes end a section.
func eachEntry(owner uint64, v list.View, fn func(entry)) {
	for s := list.Friends; s <= list.Following; s++ {
		_ = v.Each(s, func(id uint64, mine, theirs uint32) bool {
			if s != list.Followers {
				fn(entry{owner, id, mine, follow, true})
			}
			if s != list.Following {
				fn(entry{owner, id, theirs, follow, false})
			}
			return true
		})
	}
	for _, b := range counterparts {
		_ = v.Each(b.section, func(id uint64, at, _ uint32) bool {
			fn(entry{owner, id, at, b.kind, b.out})
			return true
		})
	}
}

// sums are the checksums of all slices, from both sides; those of a kind stand
// together.
type sums struct {
	log   int
	sides [2][]slice
}

// slice is a checksum of the entries whose (follower, followee) hashes to it.
type slice struct {
	sum uint64
	n   int64
}

func newSums(n int) *sums {
	s := &sums{log: bits.Len(uint(n - 1))}
	for side := range s.sides {
		s.sides[side] = make([]slice, int(relKinds)<<s.log)
	}
	return s
}

// slice returns which slice an entry belongs to, and what it adds there.
func (s *sums) slice(e entry) (at int, mixed uint64) {
	from, to := e.ends()
	h := mix(mix(from+0x9e3779b97f4a7c15) ^ to)
	mixed = h
	if e.kind == follow {
		mixed = mix(h + uint64(e.at) + 1)
	}
	return int(e.kind)<<s.log | int(h>>(64-s.log)), mixed
}

// mix spreads 64 bits over 64 bits: what splitmix64 ends with.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// count adds an entry n times; -1 takes it out.
func (s *sums) count(e entry, n int64) {
	at, mixed := s.slice(e)
	c := &s.sides[e.side()][at]
	c.sum += mixed * uint64(n)
	c.n += n
}

// total returns how many entries the side of those who follow, block or ask has.
func (s *sums) total(k relKind) (n int64) {
	for _, c := range s.sides[1][int(k)<<s.log : int(k+1)<<s.log] {
		n += c.n
	}
	return n
}

// group is some of the slices whose sides differ, and how many entries they have.
type group struct {
	slices  map[int]bool
	entries int64
}

// groups returns the slices whose sides differ, in groups of about limit entries, so
// that each can be gathered in one pass.
func (s *sums) groups(limit int) (out []group) {
	for i, c := range s.sides[0] {
		d := s.sides[1][i]
		if c == d {
			continue
		}
		if n := len(out); n == 0 || out[n-1].entries+c.n+d.n > int64(limit) {
			out = append(out, group{slices: map[int]bool{}})
		}
		g := &out[len(out)-1]
		g.slices[i] = true
		g.entries += c.n + d.n
	}
	return out
}
