package graph

import (
	"kith/repo/list"
	"kith/repo/relation"
)

// standing is what a row says about one edge.
type standing uint8

const (
	none standing = iota
	whole
	blocked // one blocks the other
)

// state returns what the row says about an edge of its owner, and since when.
func state(d *relation.Draft, e list.Edge) (uint32, standing) {
	rel := d.Rel(e.ID)
	if rel&(list.IsBlocking|list.IsBlockedBy) != 0 {
		return 0, blocked
	}
	mine, theirs := d.Times(e.ID)
	switch {
	case e.Out && rel&list.IsFollowing != 0:
		return mine, whole
	case !e.Out && rel&list.IsFollower != 0:
		return theirs, whole
	}
	return 0, none
}
