package relation

import (
	"encoding/binary"
	"fmt"
	"math"

	"kith/repo/list"
)

// Archive says what of an account no longer stands in its list: of each section
// how many entries, and a position that none of them is newer than. It stands in the
// row, so that most questions do not read the archive. The zero Archive is
// that of an account all of which is in its list.
type Archive struct {
	// stamp is random, and another each time the archive changes, as by a trim or a
	// recall. Whoever reads the archive after the row finds by it that the two go
	// together.
	stamp uint32
	past  [list.Options + 1]past
}

// past is one section's part of an archive.
type past struct {
	n      uint32
	newest list.Cursor
}

// Len returns how many entries of a section lie in the archive.
func (a *Archive) Len(s list.Section) int { return int(a.past[s].n) }

// newest returns a position that no archived entry of a section is newer than.
func (a *Archive) newest(s list.Section) list.Cursor { return a.past[s].newest }

// any reports whether one of the sections has entries in the archive.
func (a *Archive) any(sections ...list.Section) bool {
	for _, s := range sections {
		if a.past[s].n > 0 {
			return true
		}
	}
	return false
}

// all returns how many entries lie in the archive.
func (a *Archive) all() (n int) {
	for s := range a.past {
		n += int(a.past[s].n)
	}
	return n
}

// add notes n more entries, the newest of which stands at a position.
func (a *Archive) add(s list.Section, n int, newest list.Cursor) {
	p := &a.past[s]
	p.n += uint32(n)
	if newest.Compare(p.newest) > 0 {
		p.newest = newest
	}
}

// Add counts what an archived list has in a section.
func (a *Archive) Add(s list.Section, v list.View) {
	newest := list.Cursor{}
	_ = v.Each(s, func(id uint64, mine, theirs uint32) bool {
		newest = list.Cursor{Time: max(mine, theirs), ID: id}
		return false
	})
	a.add(s, v.Len(s), newest)
}

// Covers reports whether what a row says of its archive is true of one that holds
// what held counts.
func (a *Archive) Covers(held *Archive) bool {
	for s := range a.past {
		if a.past[s].n != held.past[s].n || s != int(list.Options) && a.past[s].newest.Compare(held.past[s].newest) < 0 {
			return false
		}
	}
	return true
}

// drop notes that n entries are gone.
func (a *Archive) drop(s list.Section, n int) {
	p := &a.past[s]
	if p.n -= min(p.n, uint32(n)); p.n == 0 {
		p.newest = list.Cursor{}
	}
}

// bytes packs an archive for the column archived: nothing where nothing is
// archived, else
//
//	uvarint   the stamp
//	then of each section that has entries, in order:
//	byte      the section
//	uvarint   entries
//	uvarint   time of the newest position
//	uvarint   id of it
func (a *Archive) bytes() []byte {
	b := []byte{} // the column is never NULL
	for s, p := range a.past {
		if p.n == 0 {
			continue
		}
		if len(b) == 0 {
			b = binary.AppendUvarint(b, uint64(a.stamp))
		}
		b = append(b, byte(s))
		b = binary.AppendUvarint(b, uint64(p.n))
		b = binary.AppendUvarint(b, uint64(p.newest.Time))
		b = binary.AppendUvarint(b, p.newest.ID)
	}
	return b
}

// readArchive is the inverse of bytes. Errors wrap list.ErrFormat.
func readArchive(b []byte) (a Archive, err error) {
	if len(b) == 0 {
		return a, nil
	}
	bad := fmt.Errorf("%w: what is archived: %d bytes, %.20x", list.ErrFormat, len(b), b)
	number := func(most uint64) (x uint64) {
		x, n := binary.Uvarint(b)
		if n <= 0 || x > most {
			err = bad
			return 0
		}
		b = b[n:]
		return x
	}
	a.stamp = uint32(number(math.MaxUint32))
	for last := -1; err == nil && len(b) > 0; {
		s := int(b[0])
		if s <= last || s > int(list.Options) {
			return Archive{}, bad
		}
		b, last = b[1:], s
		p := &a.past[s]
		p.n, p.newest.Time, p.newest.ID = uint32(number(math.MaxUint32)), uint32(number(math.MaxUint32)), number(list.MaxID)
		if p.n == 0 {
			err = bad
		}
	}
	if err != nil || a == (Archive{stamp: a.stamp}) {
		return Archive{}, bad
	}
	return a, nil
}

// What an account did itself is its own: whom it follows, blocks, mutes, asked,
// and what it chose. Archived, each entry of it is a row of the table relation_own,
// found by the id of the other. A friend is one too, as the account follows it.
//
// What others did to it is received: who follows, blocks or asks it. There may be
// millions of these without the account doing anything, so archived they lie in
// segments, by position. Which position that is can be read in the other's row, which
// has the same entry as its own, with the same time.
var (
	ownSections      = []list.Section{list.Friends, list.Following, list.Blocking, list.Muting, list.Requested, list.Options}
	receivedSections = []list.Section{list.Followers, list.BlockedBy, list.Requests}
)

// Own reports whether the account itself makes the entries of a section.
func Own(s list.Section) bool { return !received(s) }

// saying returns which sections of what the account did itself say something of some
// bits.
func saying(of list.Rel) (out []list.Section) {
	for _, s := range ownSections {
		if of&bitsOf[s] != 0 {
			out = append(out, s)
		}
	}
	return out
}

var bitsOf = map[list.Section]list.Rel{
	list.Friends: list.IsFollowing | list.IsFollower, list.Following: list.IsFollowing, list.Blocking: list.IsBlocking,
	list.Muting: list.IsMuting, list.Requested: list.IsRequested, list.Options: list.HasOption,
}

// received reports whether others make the entries of a section.
func received(s list.Section) bool {
	return s == list.Followers || s == list.BlockedBy || s == list.Requests
}

// mirror is an entry that both rows have: the one who made it under mine, the other
// under theirs.
type mirror struct {
	mine, theirs    list.Section
	myBit, theirBit list.Rel
}

// mirrors are the kinds of entries that two rows share.
var mirrors = []mirror{
	{list.Following, list.Followers, list.IsFollowing, list.IsFollower},
	{list.Blocking, list.BlockedBy, list.IsBlocking, list.IsBlockedBy},
	{list.Requested, list.Requests, list.IsRequested, list.HasRequest},
}

// mirrored turns what A is to B into what B is to A, as far as both rows say it.
func mirrored(r list.Rel) (out list.Rel) {
	for _, m := range mirrors {
		if r&m.myBit != 0 {
			out |= m.theirBit
		}
		if r&m.theirBit != 0 {
			out |= m.myBit
		}
	}
	return out
}
