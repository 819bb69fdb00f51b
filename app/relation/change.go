package relation

// Change is one committed change of what Actor is to Target in Actor's own row. The
// package doc says which changes listeners get.
type Change struct {
	Kind          Kind
	Actor, Target uint64
	// Act is what was done, By who did it: Actor, Target, or 0 for Expire and Repair.
	Act Act
	By  uint64
	// At is the time of the entry in the row, or when it ended; unix seconds, 0 for a
	// follow of an unknown time.
	At uint32
}

// Kind says what changed.
type Kind string

// The kinds. Each comes only where the row of Actor changed, so that the beginning and
// the end of a follow take turns, unless rows are written without an edit.
const (
	Followed     Kind = "followed"      // Actor follows Target
	Unfollowed   Kind = "unfollowed"    // and no longer does
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
	actNote           Act = "note"   // makes no Change: notes are private
)

// changes are those of one edit, in one try, and the second of that try.
type changes struct {
	act  Act
	by   uint64
	at   uint32
	list []Change
}
