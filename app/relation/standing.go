package relation

import (
	"kith/repo/list"
	"kith/repo/relation"
)

// Standing is what one row says about one edge.
type Standing uint8

// What a row can say.
const (
	None    Standing = iota
	Whole            // the edge is there
	Blocked          // one blocks the other
)

// StandingOf returns what the row says about an edge of its owner, and since
// when it is there. A row with an archive may say none of what stands there.
func StandingOf(d *relation.Draft, e list.Edge) (uint32, Standing) {
	rel := d.Rel(e.ID)
	if rel&(list.IsBlocking|list.IsBlockedBy) != 0 {
		return 0, Blocked
	}
	mine, theirs := d.Times(e.ID)
	switch {
	case e.Out && rel&list.IsFollowing != 0:
		return mine, Whole
	case !e.Out && rel&list.IsFollower != 0:
		return theirs, Whole
	}
	return 0, None
}
