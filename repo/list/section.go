package list

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrFormat says that bytes are not a list. Every decode error wraps it and
// says what was wrong.
var ErrFormat = errors.New("bad list bytes")

// MaxBytes is the longest list that Encode makes and Parse takes. It stays
// under the packet limit of 16 MiB that MySQL and MariaDB start with, and so
// under what a MEDIUMBLOB holds.
const MaxBytes = 15 << 20

// MaxID is the largest id a list takes. 0 and larger ids are refused: every
// edit with them changes nothing and every question about them answers no.
const MaxID = 1<<63 - 1

// Section names one part of a list.
type Section uint8

// The sections, in the order in which they stand in the bytes.
const (
	Friends   Section = iota // both follow
	Followers                // they follow me, I don't
	Following                // I follow, they don't
	Blocking                 // I block them
	BlockedBy                // they block me
	Muting                   // I mute them
	Requests                 // they asked to follow me
	Requested                // I asked to follow them
	Options                  // what I chose about them
	numSections
)

var sectionNames = [numSections]string{
	"friends", "followers", "following", "blocking", "blocked_by",
	"muting", "requests", "requested", "options",
}

// String returns the name that the glossary uses.
func (s Section) String() string {
	if s < numSections {
		return sectionNames[s]
	}
	return fmt.Sprintf("section %d", uint8(s))
}

// edge reports whether a section is one of those of which an id may stand in one only.
func (s Section) edge() bool { return s <= Following }

// timed reports whether a section is one of those with one time an entry that stand
// apart from the edges.
func (s Section) timed() bool { return s >= Blocking && s <= Requested }

// Rel is a set of bits: what another account is to the owner of the list.
type Rel uint16

// The bits of a Rel. A friend has IsFollowing and IsFollower.
const (
	IsFollowing Rel = 1 << iota // the owner follows them
	IsFollower                  // they follow the owner
	IsBlocking                  // the owner blocks them
	IsBlockedBy                 // they block the owner
	IsMuting                    // the owner mutes them
	HasRequest                  // they asked to follow the owner
	IsRequested                 // the owner asked to follow them
	HasOption                   // the owner chose something about them
)

// relOf says which bits standing in a section means.
var relOf = [numSections]Rel{
	Friends:   IsFollowing | IsFollower,
	Followers: IsFollower,
	Following: IsFollowing,
	Blocking:  IsBlocking,
	BlockedBy: IsBlockedBy,
	Muting:    IsMuting,
	Requests:  HasRequest,
	Requested: IsRequested,
	Options:   HasOption,
}

// Rel returns the bits that standing in a section means.
func (s Section) Rel() Rel { return relOf[s] }

func validID(id uint64) bool { return id != 0 && id <= MaxID }

// Entry is one account on a page.
type Entry struct {
	ID   uint64
	Time uint32 // unix seconds, 0 is unknown
}

// Cursor is the position of an entry in the (time, id) order of a page. The
// time may be 0; a cursor whose ID is 0 is not set.
type Cursor struct {
	Time uint32
	ID   uint64
}

// Cursor returns the position of the entry.
func (e Entry) Cursor() Cursor { return Cursor{Time: e.Time, ID: e.ID} }

// Compare returns -1 if c is older than d, 1 if it is newer and 0 if they are
// the same position. Within one second the larger id is the newer.
func (c Cursor) Compare(d Cursor) int {
	if c.Time != d.Time { // not cmp.Or, which took a third of the sort of a page
		return cmp.Compare(c.Time, d.Time)
	}
	return cmp.Compare(c.ID, d.ID)
}

func (c Cursor) newer(d Cursor) bool {
	return c.Time > d.Time || c.Time == d.Time && c.ID > d.ID
}

// String returns "time-id", both decimal.
func (c Cursor) String() string {
	return fmt.Sprintf("%d-%d", c.Time, c.ID)
}

// ParseCursor reads what String made, and nothing else: no signs, spaces or
// leading zeros, a time of 32 bits and an id from 1 to MaxID.
func ParseCursor(s string) (Cursor, error) {
	t, id, _ := strings.Cut(s, "-")
	time, timeErr := strconv.ParseUint(t, 10, 32)
	n, idErr := strconv.ParseUint(id, 10, 63)
	c := Cursor{Time: uint32(time), ID: n}
	if timeErr != nil || idErr != nil || n == 0 || c.String() != s {
		return Cursor{}, fmt.Errorf("cursor %.60q is not time-id", s)
	}
	return c, nil
}
