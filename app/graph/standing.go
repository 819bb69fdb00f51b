package graph

import (
	"kith/repo/list"
	"kith/repo/relation"
)

// standing is what one row says about one edge.
type standing uint8

// What a row can say.
const (
	none    standing = iota
	whole            // the edge is there
	blocked          // one blocks the other
)

// standingOf returns what the row says about an edge of its owner, and since
// when it is there. A row with an archive may say none of what stands there.
func standingOf(d *relation.Draft, e list.Edge) (uint32, standing) {
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

// agree reports whether two rows that know all about each other (see
// relation.Settle) say the same about the follower's edge to the followee. Where
// one blocks the other there must be none.
func agree(follower, followee *relation.Draft) bool {
	outAt, out := standingOf(follower, list.Edge{ID: followee.AccountID(), Out: true})
	inAt, in := standingOf(followee, list.Edge{ID: follower.AccountID()})
	if out == blocked || in == blocked {
		return follower.Rel(followee.AccountID())&list.IsFollowing == 0 && followee.Rel(follower.AccountID())&list.IsFollower == 0
	}
	return out == in && outAt == inAt
}
