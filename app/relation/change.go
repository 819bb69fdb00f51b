package relation

// Change is one thing that has become different between two accounts, and is
// committed: what Actor is to Target, as Actor's own row says. The package doc says
// who is given which.
type Change struct {
	Kind          Kind
	Actor, Target uint64
	// Act is what was done, By who did it: Actor, Target, or 0 for what the service
	// itself does, Expire and Repair.
	Act Act
	By  uint64
	// At is since when it is so, as the row says, or when it ended; unix seconds, 0
	// for a follow of an unknown time.
	At uint32
}

// Kind says what has become different.
type Kind string

// The kinds. Each comes where the row of Actor did not say so before, so that the
// beginning and the end of a follow take turns, unless rows are written without an edit.
const (
	Followed     Kind = "followed"      // Actor follows Target
	Unfollowed   Kind = "unfollowed"    // and does no longer
	Requested    Kind = "requested"     // Actor asks to follow Target
	RequestEnded Kind = "request ended" // Act says how: accepted, rejected, withdrawn, expired, by a block
	Blocked      Kind = "blocked"       // Actor blocks Target
	Unblocked    Kind = "unblocked"
	Muted        Kind = "muted" // Actor mutes Target; one with an end is over then, and Unmuted some time after
	Unmuted      Kind = "unmuted"
)

// Act is what was done. One act may make several changes.
type Act string

// The acts: the methods of a Service that change something.
const (
	ActFollow         Act = "follow"
	ActUnfollow       Act = "unfollow" // a request it ends is withdrawn
	ActRemoveFollower Act = "remove follower"
	ActAuthorize      Act = "authorize"
	ActReject         Act = "reject"
	ActBlock          Act = "block" // ends the follows and requests between the two
	ActUnblock        Act = "unblock"
	ActMute           Act = "mute"
	ActUnmute         Act = "unmute"
	ActExpire         Act = "expire"
	ActRepair         Act = "repair" // of rows that do not agree
	actNote           Act = "note"   // is nobody's but the actor's: it makes no change
)

// changes are those of one edit, in one try, and the second of that try.
type changes struct {
	act  Act
	by   uint64
	at   uint32
	list []Change
}
