package list

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Entry is one account on a page.
type Entry struct {
	ID   uint64
	Time uint32 // unix seconds, 0 is unknown
}

// Cursor is a place in the (time, id) order of a page: that of an entry. The
// time may be 0; a cursor whose ID is 0 is not set.
type Cursor struct {
	Time uint32
	ID   uint64
}

// Cursor returns the place of the entry.
func (e Entry) Cursor() Cursor { return Cursor{Time: e.Time, ID: e.ID} }

// Compare returns -1 if c is older than d, 1 if it is newer and 0 if they are
// the same place. Within one second the larger id is the newer.
func (c Cursor) Compare(d Cursor) int {
	if t := cmp.Compare(c.Time, d.Time); t != 0 {
		return t
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
