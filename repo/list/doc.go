// Package list is the packed blob of a relation row: who an account is related
// to, in sections, newest first, in bytes that a program scans in place and an
// administrator decodes in SQL.
//
// # Layout, format version 3
//
//	byte 0       format version, 3
//	byte 1       low four bits, id width: 4 while every id fits in 32 bits, else 8;
//	             high four bits, count width: 1, 2 or 4, the smallest into which
//	             every count fits, 1 in an empty list
//	bytes 2-3    which sections are there: bit n is section n, big-endian
//	counts       number of entries of each section that is there, of the count
//	             width, big-endian, never 0
//	             ---- ids, fixed width, big-endian, section after section
//	ids          friends | followers | following | blocking | blocked_by | muting | requests | requested | options
//	             ---- a column of each section that is there, in the same order,
//	             led by its length in bytes (uvarint); those behind the last
//	             column that has any bytes are not there, nor are their lengths
//	times        of the entries of the section, see below
//	options      what was chosen about the ids of the section options
//
// An id stands in one of friends, followers and following at most. The other
// sections stand beside them: somebody muted may be a friend. Ids run from 1
// to 1<<63 - 1. A header of 4 bytes is an empty list.
//
// Every section but options is sorted by (time, id), newest and largest first; options by
// id, smallest first. Times are seconds, 0 is unknown and the oldest. Cursors rely on that
// total order, and it makes the bytes of a list canonical: equal lists are equal bytes. To
// the same end no number takes more bytes than it needs.
//
// A column of times holds, per entry, the difference to the entry before it
// as a uvarint (the first: the time itself). A friend has two times: when I
// followed and when they followed. Friends are sorted by the later of the two,
// which is when they became friends; per friend the column holds the uvarint
// difference of that time and then, as a zigzag varint, theirs minus mine.
// Numbers of 0 at the end of a column are not written: a graph without times,
// or the part of it that was imported without them, takes no bytes for them. A
// list without any ends after its ids. Options always have a column.
//
// An option entry is a byte of flags, never 0, and what the flags announce, in
// the order of the flags:
//
//	1 hide reposts   2 notify   4 hide notifications
//	8 mute ends: 4 bytes, unix seconds, big-endian, never 0
//	16 there is a note (it has a row of its own, repo/relation)
//	32 languages: uvarint length, bytes (codes joined by commas)
//
// A list has at most MaxBytes. With times spread over three years an edge
// takes under 8 bytes, without times little more than the id. Beside its edges a
// list of three sections, with up to 255 entries each, takes 7 bytes without
// times and up to 13 with them.
//
// # In SQL
//
// The counts stand from byte 5 (SQL counts from 1) and the ids follow them.
// So the newest id of a list is that of the first section that it has:
//
//	CONV(HEX(SUBSTRING(list, 5 + ORD(SUBSTRING(list, 2, 1)) DIV 16 * BIT_COUNT(CONV(HEX(SUBSTRING(list, 3, 2)), 16, 10)),
//	                   ORD(SUBSTRING(list, 2, 1)) % 16)), 16, 10)
//
// # Two ways to work with it
//
// A View answers from the packed bytes: states of many ids, pages by cursor, counts.
// States are a scan of all ids behind a filter: one or two nanoseconds an entry for a
// hundred ids asked for, some five for a thousand. A page walks the times of one section
// from the newest on (some 10 nanoseconds an entry), those of followers and following
// friends as well, until none of them can be on the page. Nothing can jump into a column.
//
// A List is the opened form that edits work on. A section stays packed until an edit needs
// its entries, and is copied as it is when the list is encoded: most edits change one or
// two sections.
//
// # Bad bytes
//
// All that is not exactly a list is an error that wraps ErrFormat, never a panic.
//
//	Parse   version, widths, counts and lengths; cheap, for every read
//	Open    and ids, order, columns, options; before every write
//	Check   and no id twice, ids no wider than needed; for audits and tests
//
// Bytes that are cut off just behind the ids, or behind a column, may well be a
// list: that of the same entries with fewer times. Nothing here can tell. Answers of a View
// that passed Parse only are as good as its bytes: Page, Each and Option report what they
// come across, Rel and Rels cannot.
//
// Golden files, saved bad inputs, fuzz tests, and a plain slow twin that every edit and
// answer is compared with hold the code to this text.
package list
