package relation

import (
	"kith/repo/list"
	"kith/repo/relation"
)

// sidesOf returns what each row says about the follower's edge to the followee.
func sidesOf(follower, followee *relation.Draft) (outAt, inAt uint32, out, in Standing) {
	outAt, out = StandingOf(follower, list.Edge{ID: followee.AccountID(), Out: true})
	inAt, in = StandingOf(followee, list.Edge{ID: follower.AccountID()})
	return outAt, inAt, out, in
}

// Agree reports whether two rows that know all about each other (see
// relation.Settle) say the same about the follower's edge to the followee. Where
// one blocks the other there must be none.
func Agree(follower, followee *relation.Draft) bool {
	outAt, inAt, out, in := sidesOf(follower, followee)
	if out == Blocked || in == Blocked {
		return !hasEdge(follower, followee)
	}
	return out == in && outAt == inAt
}

// hasEdge reports whether either row has the edge.
func hasEdge(follower, followee *relation.Draft) bool {
	return follower.Rel(followee.AccountID())&list.IsFollowing != 0 || followee.Rel(follower.AccountID())&list.IsFollower != 0
}

// MendEdge makes the followee's row say what the follower's says, and removes the
// edge from both where one blocks the other. It reports whether they disagreed;
// then both rows are swapped.
func MendEdge(follower, followee *relation.Draft) bool {
	if Agree(follower, followee) {
		return false
	}
	outAt, _, out, in := sidesOf(follower, followee)
	followee.DropFollower(follower.AccountID())
	if out == Whole && in != Blocked {
		followee.AddFollower(follower.AccountID(), outAt)
		followee.Drop(list.Requests, follower.AccountID())
		follower.Drop(list.Requested, followee.AccountID())
	} else {
		follower.DropFollowing(followee.AccountID())
	}
	follower.Touch()
	followee.Touch()
	return true
}

// Mend makes two rows that know all about each other agree in everything they
// say about the two: blocks, then follows, then requests. Who blocks, follows or
// asks is the one whose own row is the truth. A block leaves no follow and no
// request, a follow no request. It reports whether anything was wrong; then both
// rows are swapped.
func Mend(a, b *relation.Draft) bool {
	mended := false
	for _, p := range [][2]*relation.Draft{{a, b}, {b, a}} {
		mended = mirror(p[0], p[1], list.Blocking, list.BlockedBy) || mended
	}
	for _, p := range [][2]*relation.Draft{{a, b}, {b, a}} {
		mended = MendEdge(p[0], p[1]) || mended
	}
	for _, p := range [][2]*relation.Draft{{a, b}, {b, a}} {
		mended = mirror(p[0], p[1], list.Requested, list.Requests) || mended
		mended = answer(p[0], p[1]) || mended
	}
	if mended {
		a.Touch()
		b.Touch()
	}
	return mended
}

// mirror makes the other row say about its owner what the own row says.
func mirror(own, other *relation.Draft, mine, theirs list.Section) bool {
	at, is := own.Time(mine, other.AccountID())
	if _, told := other.Time(theirs, own.AccountID()); is == told {
		return false
	}
	if is {
		return other.Put(theirs, own.AccountID(), at)
	}
	return other.Drop(theirs, own.AccountID())
}

// answer drops a request to somebody who is followed already, or where one
// blocks the other.
func answer(from, to *relation.Draft) bool {
	if !Unneeded(from.Rel(to.AccountID())) {
		return false
	}
	from.Drop(list.Requested, to.AccountID())
	to.Drop(list.Requests, from.AccountID())
	return true
}

// Unneeded reports whether a request stands beside a follow or a block, which
// leave none, in what the one who asked says of the other.
func Unneeded(r list.Rel) bool {
	return r&list.IsRequested != 0 && r&(list.IsFollowing|list.IsBlocking|list.IsBlockedBy) != 0
}
