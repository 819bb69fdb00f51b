// Package relation keeps the relation rows: one for each account, with the
// packed list of the people it is related to and the true counts. A row is loaded
// through the cache, opened as a Draft, edited in memory, packed and swapped by ver, many
// rows in one statement, which is the one that package row describes:
//
//	INSERT INTO relation (bucket, account_id, ver, list, friends, …, updated_at)
//	VALUES (…),(…) ON DUPLICATE KEY UPDATE
//	    ver  = IF(ver+step=VALUES(ver), VALUES(ver), ver-ver-1),
//	    list = VALUES(list), friends = VALUES(friends), …, updated_at = now
//
// What a swap promises, and what happens on failure, stands there. The edits of this
// package are idempotent, so a lost swap is redone. What a row brings for the archive
// and for notes is stored in the same transaction.
//
// # Bounds, and the archive
//
// A row is rewritten by each change, so it has a bound whatever anybody does: a section
// that has grown to twice its bound is cut to it as the row is packed, the newest
// entries stay. The bound is the store's cap for friends, followers and following, and
// MaxOther for the others; a list that is longer than MaxList all the same, since ids
// and times are wide, has all of its sections cut. Notes, of up to MaxNote bytes, stand
// in the table note. What is cut lies in the archive, written in the same transaction,
// in one of two tables:
//
//	relation_own      what the account did itself: friends, following, blocking,
//	                  muting, requested, options. A row an entry, found by the id of
//	                  the other, paged by indexes on its times
//	relation_archive  what others did to it: followers, blocked_by, requests. Segments
//	                  of 10,000 entries, packed, found by position (time, id)
//
// An account makes its own entries one act at a time, so a row of some 200 bytes for each
// is affordable; others may follow it by millions. What the account did to somebody is a
// look-up by that id, in its list or in relation_own; what somebody did to the account is in
// that other's list or relation_own, with its time, which gives the position in the segments.
// So no question about two accounts reads more than two entries of relation_own, and no
// change more than one segment besides, however long the archives are. Only where the two
// rows disagree, and the entry is not at that position, all segments of the section are
// searched.
//
// The segments of a section do not overlap: what is cut goes on top, or into the segment
// between whose positions it lies. A page reads the segment that holds its first entry and
// those after it until it is full.
//
// The row says what is archived of it, the column archived: of each section how many
// entries, and a position that none is newer than, so that first pages and most
// questions do not read the archive. It also holds a random number that changes with the
// archive: who read row and archive reads it again, and begins anew where it is another.
// So a trim between the two hides nothing.
//
// An edit that needs archived entries has them recalled: moved into the list, under
// the row's lock. Then it is an edit like any other.
//
// # Rows
//
// Rows are never deleted: an account without relations has an empty list or no
// row at all, which read the same (Ver 0 tells them apart).
package relation
