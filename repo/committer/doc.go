// Package committer turns many edits into few commits.
//
// Clients that each read, edit and swap a row that everybody wants to change, a
// celebrity's, lose nearly every swap. So edits pass through a committer. While one commit
// is on its way the next edits queue up; when it returns, what waits (bounded) becomes the
// next commit: load the rows once, apply each edit in order, swap each row once, answer all.
//
//	Do ──► ready queue ──► worker: load, apply, swap ──► answers
//	             ▲   │
//	             │   └─ an edit whose row is in a commit under way parks at that row
//	             └───── and comes back, first in line, when the commit is through
//
// A few workers commit at once as long as their rows are disjoint, so edits of
// one row never race within a process; across processes the swap decides.
// Nobody waits for company: an edit that finds a free worker goes at once.
//
// # Promises
//
//   - Edits of one row take effect in the order in which they came, as nearly
//     as they can: an edit that was passed over a few times reserves its rows.
//   - An edit that fails fails alone. It must check before it changes: one that
//     returns an error has changed nothing.
//   - An edit may be applied more than once, to newer rows, before it is
//     answered; it must be idempotent and keep nothing between two runs.
//   - What follows from an edit (DoThen) is done once, when its commit is won: not for
//     a try that was lost, nor where nobody knows whether the commit took effect.
//   - An answer is the truth of one moment between call and return. Where an edit changes
//     nothing, no swap proves that its rows were current, so it runs again on rows from
//     the database.
//   - The queue is bounded. Past the bound, as after Close, Do answers
//     repo.ErrUnavailable at once.
//   - A caller whose ctx ends while the edit waits takes it out of the queue. If
//     it was on its way already it takes effect or not as a whole; the caller
//     just does not learn which.
//
// # Failure
//
// An edit that needs more than its rows (entries in the archive) says so by its drafts; the
// batch is then tried under the rows' locks, where nothing it reads can change.
//
// A lost swap means that another process was first. The rows are then read under their
// locks, so that the second try waits its turn instead of losing again; the swap on ver
// still decides. The next commits of such a row begin with its lock too. After Tries tries
// the edits answer repo.ErrConflict. A commit that fails for another reason than an absent
// database (too large for one statement, a row with bad bytes) is split in two, until the
// bad edit is alone.
package committer
