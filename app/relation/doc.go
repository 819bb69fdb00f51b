// Package relation decides who may follow, block and mute whom, and answers who does.
//
// Every change goes through the committer as one edit on the rows of both accounts, in
// one commit, so no edge is ever half there. An edit first reads both rows, refuses or
// finds nothing to do, and only then changes them; done twice it changes nothing and
// counts nothing twice. A half edge (from an import under way, or a crash across shards)
// becomes a whole one, which keeps its time, or none.
//
//	follow            edge A→B, or a request where B is locked
//	unfollow          no edge A→B and no request
//	block             no edge and no request in either direction; blocking | blocked by
//	mute              muting, with options in A's own row; B's row is not touched
//	authorize         a request becomes an edge
//
// # Changes
//
// Only the edit that changes something knows what changed, so each Service gives its
// Listeners the changes of its edits: a follow, a request, a block, a mute, the end of
// one of these, with the act that did it (see Change). What counts is the row of the one
// who follows, asks, blocks or mutes. An edit that changes none of this gives nothing: a
// repeated follow, an option of one, a longer mute, a note.
//
//   - A change is given once, when its commit is won and before the caller is answered,
//     also where the caller is gone. A lost try gives nothing.
//   - Changes of one row are given in the order of their commits, since its next edit
//     waits. Between processes there is no order.
//   - Where the outcome of a commit stays unknown (its connection was lost, and all its
//     rows have changed since), the caller gets an error and listeners get nothing.
//     A process that dies between a commit and a listener has given nothing. A commit
//     that a sharding engine carried out in part is done again: only what the second
//     try changes is given.
//
// So a change comes once or, after a crash, not at all. What must not be lost is
// not for listeners: it is a row that the same transaction writes. Such a row goes with
// the draft of the account in whose bucket it lies, as the notes of Draft.SetNote do:
// repo/relation stores them in the transaction of the swap. The task that pushes posts
// to a new follower will be one.
//
// Listeners are called by the workers that commit, by several at once. All who wait for
// the same rows wait for a listener, so it takes a short lock at most, puts the change
// into a bounded buffer and returns. It cannot refuse the change. If it panics, that is
// logged and the change is lost to it alone.
//
// The process that committed gives the change, whatever asked for it: HTTP, the job
// expire (ActExpire), and, where the rows of a pair did not agree, the audit and the end
// of an import (ActRepair). Rows that are written without an edit give nothing: the graph
// of an import, a row that the audit rebuilds or from which it removes unknown accounts,
// the archive that the job trim moves. They are not acts of accounts, and come by
// millions. Data derived from the rows must be built again after these.
//
// # Answers
//
// The answer to a change comes from the committed rows: it is the state right after the
// change. Questions are answered from the viewer's own row, through the cache; they need
// rows of others only where part of the viewer's own is in the archive.
//
// For the most famous account a question costs at most some times what it costs for any.
// Pages skip a bounded number of blocked people (see maxSkipped), then they are empty and
// link to the next; FamiliarFollowers reads a bounded part of the lists.
package relation
