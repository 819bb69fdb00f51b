// Package audit looks whether what must hold of the relation rows does hold,
// and mends what does not.
//
// # What must hold
//
//	of one account, by itself
//	  bytes     every list, of row and archive, is valid, its entries in order of time
//	  double    an id stands once in friends, followers and following, row and archive together
//	  count     friends, followers and following are what is kept plus what is archived
//	  column    kept_followers, kept_following and blocks are those of the list, archived_at is no older than the archive
//	  segment   the header of a segment is that of its list, and no segment is newer than its row
//	  row       segments have a row
//	of two accounts
//	  edge      who follows stands in the other's followers, and the other way round
//	  time      since the same second
//	  block     blocking here is blocked by there
//	  request   requested here is a request there
//	  beside    no follow beside a block, no request beside a follow or a block
//
// # How it looks
//
// The first pass reads every row once, and the archive of those that have one
// as of one moment with the row. Each account is checked by itself. Each entry
// goes into the checksum of a slice: the sum of a 64-bit mix of (follower,
// followee, time), and a count, which of 65,536 slices by a hash of (follower,
// followee). There is a checksum for what followers' rows say and one for what
// followees' rows say; and so for blocks and requests, without times, which two
// rows may differ in. Sums do not depend on order, so
// one pass in key order does for both sides. Where the two are equal nothing more
// is read.
//
// Slices that differ are walked again, in groups that fit into memory: their
// entries are gathered, sorted, and those without a counterpart are suspects.
//
// # While others write
//
// A walk takes a while, and an unfollow between the two rows of an edge looks
// like a half edge. So whatever a walk finds is a suspicion only. It is judged
// by reading the two rows, and their archive, under the rows' locks, and only
// what is wrong there is a fault. Follows made since the walk began, by their
// time, do not go into the checksums: they would fill the slices with
// differences. The next audit has them.
//
// # How it mends
//
// Only if asked to. Who follows, blocks or asks is the one whose own row is the
// truth: the other's row is made to say the same, by an edit of both through
// the committer (app/relation.Mend). Counts and columns are an edit too. Ids
// that stand twice, disorder and segments are put right by a rewrite
// (repo/relation.Edits.Rewrite), a swap like any other.
//
// A list that cannot be read is made anew from the rows that name its account,
// in a walk over all rows. They know who follows, blocks or asks whom, and since
// when. They do not know whom the account muted, its options and its notes: these
// are lost, and the fault says so. So are entries between two accounts whose
// lists both cannot be read. The same goes for an account whose row is gone
// though it has segments, or though two or more others name it: rows are never
// deleted, so it was there. Where only one other names it, the rule of the
// follower's own side holds.
//
// # What it costs
//
// One pass reads the tables relation and relation_archive once. Memory is 6
// MiB for the sums, the row and archive of one account and its ids (16 bytes for
// each of its entries, together), and in later passes 24 bytes for each gathered
// entry, Collect at most.
// An audit that is stopped begins anew: what it summed up is gone.
package audit
