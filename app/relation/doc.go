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
// # What has changed
//
// The edit that changes something is the only place that knows what became different,
// so each Service gives its Listeners what its edits changed: a follow, a request, a
// block, a mute, the end of one of these, with the act that did it (see Change).
// What counts is the row of the one who follows, asks, blocks or mutes. An edit that
// changes none of this gives nothing: a repeated follow, a choice that comes with one,
// a longer mute, a note.
//
//   - A change is given once, when its commit is won and before the caller is
//     answered, also where the caller is gone. What a lost try would have changed is
//     not given.
//   - Changes that touch one row are given in the order of their commits, since its
//     next edit waits. Between processes there is no order.
//   - Where nobody knows whether a commit took effect (its connection was lost, and all
//     its rows have changed since), the caller gets an error and listeners get nothing.
//     Where its rows say that it did, it is as any other. A process that dies between
//     a commit and a listener has given nothing. A commit that an engine which shards
//     carried out in part is done again: only what the second try changes is given.
//
// So a change comes once or, after a crash, not at all. What must not be lost is no
// listener's: it is a row that the same transaction writes. Such a row goes with the
// draft of the account in whose bucket it lies, as the notes of Draft.SetNote do:
// repo/relation stores them in the transaction of the swap. That is the place for the
// task that pushes posts to a new follower.
//
// A listener is called by the worker that committed, from several at once. Everybody
// who waits for the same rows waits for it: it takes a short lock at most, hands the
// change to a buffer of its own, which has a bound, and returns. It has no say in
// the change, and must not panic.
//
// The process that committed gives the change, whoever asked: HTTP, the job expire
// (ActExpire), and, where the rows of a pair did not agree, the audit and the end of
// an import (ActRepair). Rows that are written without an edit give nothing: the graph
// that an import brings, a row that the audit makes anew or from which it takes unknown
// accounts, the archive that the job trim moves. They are not acts of accounts, and
// come by millions. Whoever keeps something that follows from the rows makes it anew
// after these.
//
// # Answers
//
// An answer to a change is read from the rows that were committed, so it is
// the state at the moment of the change. Questions are answered from the
// viewer's own row, through the cache: what am I to each of these people needs
// no row of theirs, unless part of the viewer's own lies in the archive.
//
// No question costs more for the most famous account than some times what it costs
// for any. Pages pass over a bounded number of blocked people (see maxSkipped), then they
// are empty and link to the next; familiar followers are looked for among so many only.
package relation
