// Package graph reads a whole follow graph into the relation rows and writes
// it out again.
//
// The file has a line for each edge, `follower followee [unixtime]`. Fields are
// separated by spaces, tabs or a comma; what follows a # is a comment; gzip is
// recognised by its first bytes. An edge without a time, or with time 0, has
// time 0: unknown, older than every other. Where an edge is repeated the
// smallest known time counts, and unknown only if no line knows it. An edge
// that a row already holds keeps the time it has there.
//
// # How an import runs
//
//	read     lines ──► two records an edge, one for each side ──► repo/spill
//	accounts sorted records ──► chunks of accounts ──► writers: make those
//	         that do not exist
//	write    the same chunks ──► writers: read their rows, merge, swap, update
//	         the cache
//	check    did any row move on since the import left it?
//	settle   edges of such rows are made to agree on both sides
//
// Records are sorted by (bucket, owner, other, direction, time). So rows are read and
// written in primary-key order, which leaves the pages of the table full, and both sides
// of an edge see its repeats in the same order. Nothing is written before the last line
// is read: a file with too many rejects changes nothing.
//
// Memory is bounded however long the file is: what does not fit is sorted on disk, 40
// bytes an edge in TempDir, and what is in flight takes an eighth of Memory.
//
// # While others write
//
// An import and a server may change the same rows. A row is swapped only where its ver
// is what was read, else it is read and merged again, in smaller chunks after each loss,
// and under its lock after too many. But the two sides of an edge are written at two
// moments, and an unfollow or block between them removes one side only. So the import
// notes with which ver it left each row, and what a row already held otherwise than the
// file. Afterwards an edge is checked again if
//
//   - a row moved on since, and its side of the edge is not what the file says, or
//   - its two sides were left different (one held with another time, or blocked),
//
// and that is every edge that can be half or disagree: if both rows are as the import
// left them the notes show it; if a row moved and yet says what the file says, the last
// change was an edit of both rows, which left them whole, or the import's own on the
// other row, and then that row shows it. Where the two rows disagree, the follower's
// counts: if it has the edge, the followee's gets it with that time, else it is removed
// there; where one blocks the other it is removed in both. That is one edit of both rows.
//
// # What holds when
//
//   - Before the phase accounts: the database is as it was.
//   - Before the phase write: there are new accounts, and no new edge.
//   - At every moment: each row is whole, its counts are those of its list, and
//     no edge that existed is lost. An account exists before any row names it.
//   - After an error, an interrupt or kill -9 while writing: some edges of the
//     file are not there, some stand on one side only. The service reads such
//     rows, and an edit that meets a half edge makes it whole or removes it.
//     Running the same file again completes it: what is there is found
//     and not written again, what is missing is added, what is half is settled.
//     An edge unfollowed between the two runs is added again.
//   - After kill -9 while settling: as above; edges that both runs find held on
//     both sides with different times are found by the second run too.
//   - After Import returned nil: every edge of the file either stands in both rows
//     with one time, or in neither since it was blocked or removed meanwhile.
//     Running the same file again changes no row, not even its ver.
//
// A row that would outgrow list.MaxBytes stops the import with
// repo.ErrTooLarge, which names the account.
package graph
