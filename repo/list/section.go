package list

import (
	"errors"
	"fmt"
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

// edge tells the sections of which an id may stand in one only.
func (s Section) edge() bool { return s <= Following }

// beside tells the timed sections that stand beside the edges.
func (s Section) beside() bool { return s >= Blocking && s <= Requested }

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

func validID(id uint64) bool { return id != 0 && id <= MaxID }
