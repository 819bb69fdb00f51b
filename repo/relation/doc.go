// Package relation keeps the relation rows: one for each account, with the
// packed list of the people it is related to and the true counts.
//
// A row is read through the cache, opened as a Draft, edited in memory and
// swapped: the new bytes take effect only where the row's ver is still the one
// that was read. The swaps of many rows are ONE statement,
//
//	INSERT … VALUES (…),(…) ON DUPLICATE KEY UPDATE
//	    ver  = IF(ver+step=VALUES(ver), VALUES(ver), ver-ver-1),
//	    list = VALUES(list), …, updated_at = now
//
// whose guard fails by underflow (error 1690) where a row moved on. A failing
// row undoes the whole statement, so the statement needs no BEGIN and COMMIT
// around it: all rows are swapped, or none, in one round trip. More than 48 rows go
// as several such statements in key order, in a transaction which the first that
// fails ends: the server parsed one statement of any number of rows anew each time,
// which was a third of its work (BenchmarkSwap).
//
// The step is random, one for all rows of a commit, so that no ver comes twice, not
// even in two histories of a database (see repo.Step): a swap that begins with a
// row of a history that was lost, which a cache may still hold, is lost.
//
// Where the whole row was lost, the statement inserts it, since it cannot know: only
// the number of affected rows tells. So a row that is to be changed goes into the
// statement with updated_at 0 in VALUES, and gets its date by the update alone. A row
// dated 0 was never there to be changed: it reads as empty, whatever stands in it,
// and the next swap makes a good row of it. Two VALUES for each row, of which the
// first makes the second fail, would not let such a row in; they made commits of 16 to
// 48 rows 40 to 80 % dearer for the server, for something that happens once in a
// failover. A swap of more than 48 rows is a transaction, which is rolled back.
//
// What happens on failure: a lost swap is reported as such and changes
// nothing. After a lost connection the rows are read back. The swap was won if a row
// holds exactly what was sent, and lost if one is as it was: the caller redoes its
// edits, which is harmless since they are idempotent. If all have been changed by
// others since, nobody knows, and the caller gets repo.ErrUnavailable: a redo could
// follow again whom somebody has seen follow and removed. A statement that reaches
// the server late is stopped by its guard. After any other error the cache forgets
// the rows.
//
// # Bounds, and the archive
//
// A row is rewritten by each change, so it has a bound whatever anybody does: a section
// that has grown to twice its bound is cut to it as the row is packed, the newest
// entries stay. The bound is the store's cap for friends, followers and following, and
// MaxBeside for the others; a list that is longer than MaxList all the same, since ids
// and times are wide, has all of its sections cut. Notes, of up to MaxNote bytes, stand
// in the table note. What is cut lies in the archive, written in the same transaction,
// in one of two tables:
//
//	relation_own      what the account did itself: friends, following, blocking,
//	                  muting, requested, options. A row an entry, found by the id of
//	                  the other, paged by indexes on its times
//	relation_archive  what others did to it: followers, blocked_by, requests. Segments
//	                  of 10,000 entries, packed, found by place (time, id)
//
// Who made an entry is what decides. An account comes past its bound by its own acts
// only one act at a time, so a row of some 200 bytes for each may be had; others may
// follow it by millions. And who made an entry is who is asked for it: what the
// account did to somebody is a look-up by that id, in its list or in relation_own; what
// somebody did to the account that other's list or relation_own knows, with its time,
// and so the place in the segments. So no question about two accounts reads more than
// two entries of relation_own, and no change more than one segment besides, however
// long the archives are. Only where the two rows disagree, and the entry is not at the
// place that the other's row tells, all segments of the section are searched.
//
// The segments of a section do not overlap: what is cut goes on top, or into the
// segment between whose places it lies. A page thus reads the segment that holds its
// first entry and those after it until it is full.
//
// The row says what is archived of it, the column archived: of each section how many
// entries, and a place that none is newer than, so that first pages and most
// questions need no look. With them stands a random number that changes with each
// change of the archive: a reader that read row and archive asks for it again, and
// begins anew where it is another. So a trim between the two hides nothing.
//
// An edit that needs archived entries has them recalled: moved into the list, under
// the row's lock. Then it is an edit like any other.
//
// # Rows
//
// Rows are never deleted: an account without relations has an empty list or no
// row at all, which read the same (Ver 0 tells them apart).
//
// The cache holds a row as its counts and, behind or apart from them, its list, so
// that a page of forty people does not fetch forty lists.
package relation
