package affinity

import (
	"strconv"
	"strings"

	"kith/repo/list"
)

// Cursor is a place in the order of friends by affinity; the zero Cursor is its
// beginning. The package doc says what its text means.
type Cursor struct {
	part byte // scored, others, or 0: the beginning
	ver  uint64
	n    uint32 // the rank of the account, or the time of the friendship
	id   uint64
}

const (
	scored = 's'
	others = 'r'
)

// String writes a cursor as it stands in a link.
func (c Cursor) String() string {
	return string(c.part) + strconv.FormatUint(c.ver, 36) + "-" + strconv.FormatUint(uint64(c.n), 10) + "-" + strconv.FormatUint(c.id, 10)
}

// ParseCursor reads what String wrote, and nothing else.
func ParseCursor(s string) (Cursor, bool) {
	if len(s) == 0 || s[0] != scored && s[0] != others {
		return Cursor{}, false
	}
	ver, rest, _ := strings.Cut(s[1:], "-")
	n, id, _ := strings.Cut(rest, "-")
	c := Cursor{part: s[0]}
	var errs [3]error
	c.ver, errs[0] = strconv.ParseUint(ver, 36, 64)
	n64, err := strconv.ParseUint(n, 10, 32)
	c.n, errs[1] = uint32(n64), err
	c.id, errs[2] = strconv.ParseUint(id, 10, 63)
	ok := errs[0] == nil && errs[1] == nil && errs[2] == nil && c.id > 0 && c.String() == s
	return c, ok
}

// place is where the others go on after a cursor.
func (c Cursor) place() list.Cursor {
	if c.part != others {
		return list.Cursor{}
	}
	return list.Cursor{Time: c.n, ID: c.id}
}
