// Package relation decides who may be what to whom.
//
// Every change goes through the committer as one edit on the rows of both
// accounts, in one commit, so no edge is ever half there. An edit first looks
// at both rows, refuses or finds that nothing is to be done, and only then
// changes them; done twice it changes nothing and counts nothing twice. Where
// it meets a half edge (an import under way, a crash across shards) it leaves
// a whole one or none, and a whole one keeps the time that was there.
//
//	follow            edge A→B, or a request where B is locked
//	unfollow          no edge A→B and no request
//	block             no edge and no request in either direction; blocking | blocked by
//	mute              muting, with options in A's own row; B's row is not touched
//	authorize         a request becomes an edge
//
// An answer to a change is read from the rows that were committed, so it is
// the state at the moment of the change. Questions are answered from the
// viewer's own row, through the cache: what am I to each of these people needs
// no row of theirs, unless part of the viewer's own lies in the archive.
//
// No question costs more for the most famous account than some times what it costs
// for any. Pages pass over a bounded number of blocked people (see maxSkipped), then
// they are empty and link to the next; familiar followers are looked for among so many only (see
// FamiliarFollowers).
package relation
