// Package list is the packed blob of a relation row: who an account is related
// to, in sections, newest first, in bytes that a program scans in place and an
// administrator decodes in SQL.
//
// # Layout, format version 1
//
//	byte 0       format version, 1
//	byte 1       id width: 4 while every id fits in 32 bits, else 8
//	bytes 2-3    which sections are there: bit n is section n, big-endian
//	4 bytes each number of entries of each section that is there, big-endian, never 0
//	             ---- ids, fixed width, big-endian, section after section
//	ids          friends | followers | following | blocking | blocked_by | muting | requests | requested | options
//	             ---- columns, in the same order, each led by its length in bytes (uvarint)
//	times        of the entries of the section, see below
//	options      what was chosen about the ids of the section options
//
// An id stands in one of friends, followers and following at most. The other
// sections stand beside them: somebody muted may be a friend.
//
// Every section but options is sorted by (time, id), newest and largest
// first; options by id, smallest first. Seconds are all the precision there is: within
// one second the larger id counts as the newer. That total order is what
// cursors rely on, and it makes the bytes of a list canonical: equal lists are
// equal bytes.
//
// A column of times holds, per entry, the difference to the entry before it
// as a uvarint (the first: the time itself). A friend has two times: when I followed and when they
// followed. Friends are sorted by the later of the two, which is when they
// became friends; per friend the column holds the uvarint difference of that
// time and then, as a zigzag varint, theirs minus mine.
//
// An option entry is a byte of flags and what the flags announce:
//
//	1 hide reposts   2 notify   4 hide notifications
//	8 mute ends: 4 bytes, unix seconds, big-endian
//	16 note: uvarint length, bytes
//	32 languages: uvarint length, bytes (codes joined by commas)
//
// # Two ways to work with it
//
// A View answers from the packed bytes: states of many ids, pages by cursor,
// counts. A List is the opened form that edits work on. A list of 4 bytes (header only) is
// empty; no bytes at all are an error, as is everything else that is not
// exactly a list: other versions, lengths that do not add up, columns that end
// early or late, order that is broken. Nothing here panics on bad bytes.
package list
