package audit

import (
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

// entry is one thing that the row of owner says: that owner follows, blocks or
// asks other (out), or other owner.
type entry struct {
	kind         relKind
	out          bool
	owner, other uint64
	at           uint32
}

// ends returns who follows, blocks or asks, and whom.
func (e entry) ends() (from, to uint64) {
	if e.out {
		return e.owner, e.other
	}
	return e.other, e.owner
}

// side is 1 where the one who follows, blocks or asks says it, else 0.
func (e entry) side() int {
	if e.out {
		return 1
	}
	return 0
}

// eachEntry hands what a list says about others to fn. Bad bytes end a section.
func eachEntry(owner uint64, v list.View, fn func(entry)) {
	_ = v.Each(list.Friends, func(id uint64, mine, theirs uint32) bool {
		fn(entry{follow, true, owner, id, mine})
		fn(entry{follow, false, owner, id, theirs})
		return true
	})
	_ = v.Each(list.Followers, func(id uint64, _, theirs uint32) bool {
		fn(entry{follow, false, owner, id, theirs})
		return true
	})
	_ = v.Each(list.Following, func(id uint64, mine, _ uint32) bool {
		fn(entry{follow, true, owner, id, mine})
		return true
	})
	for _, b := range besides {
		_ = v.Each(b.section, func(id uint64, at, _ uint32) bool {
			fn(entry{b.kind, b.out, owner, id, at})
			return true
		})
	}
}

// besides are the sections that stand beside the edges and have a counterpart.
var besides = []struct {
	section list.Section
	kind    relKind
	out     bool
}{{list.Blocking, block, true}, {list.BlockedBy, block, false}, {list.Requested, request, true}, {list.Requests, request, false}}

// sums are the checksums of all slices, of the kinds, from both sides.
type sums struct {
	shift int
	of    [relKinds][2][]slice
}

// slice is a checksum of the entries whose (follower, followee) hashes to it.
type slice struct {
	sum uint64
	n   int64
}

func newSums(n int) *sums {
	log := bits.Len(uint(n - 1))
	s := &sums{shift: 64 - log}
	for k := range s.of {
		for side := range s.of[k] {
			s.of[k][side] = make([]slice, 1<<log)
		}
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
	return int(h >> s.shift), mixed
}

// mix spreads 64 bits over 64 bits: what splitmix64 ends with.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *sums) add(e entry) { s.count(e, 1) }

// count adds an entry n times; -1 takes it out.
func (s *sums) count(e entry, n int64) {
	at, mixed := s.slice(e)
	c := &s.of[e.kind][e.side()][at]
	c.sum += mixed * uint64(n)
	c.n += n
}

// total returns how many entries the side of those who follow, block or ask has.
func (s *sums) total(k relKind) (n int64) {
	for _, c := range s.of[k][1] {
		n += c.n
	}
	return n
}

// different are the slices, by kind, whose two sides are not the same.
type different [relKinds]map[int]bool

// differing returns the slices to look closer at, and how many.
func (s *sums) differing() (d different, n int64) {
	for k := range s.of {
		d[k] = map[int]bool{}
		for i := range s.of[k][0] {
			if s.of[k][0][i] != s.of[k][1][i] {
				d[k][i] = true
				n++
			}
		}
	}
	return d, n
}

// groups splits slices into groups of about limit entries, so that each can be
// gathered in one pass.
func (s *sums) groups(d different, limit int) (out []different) {
	room := int64(0)
	for k := range d {
		for i := range s.of[k][0] {
			if !d[k][i] {
				continue
			}
			n := s.of[k][0][i].n + s.of[k][1][i].n
			if room -= n; room < 0 || len(out) == 0 {
				out = append(out, different{map[int]bool{}, map[int]bool{}, map[int]bool{}})
				room = int64(limit) - n
			}
			out[len(out)-1][k][i] = true
		}
	}
	return out
}

// size is how many slices there are in it.
func (d different) size() (n int64) {
	for _, m := range d {
		n += int64(len(m))
	}
	return n
}

// entries is how many entries the slices of d have, from both sides.
func (s *sums) entries(d different) (n int64) {
	for k := range d {
		for i := range d[k] {
			n += s.of[k][0][i].n + s.of[k][1][i].n
		}
	}
	return max(n, 0)
}
