// Package audit looks whether what must hold of the relation rows does hold,
// and mends what does not.
//
// # What must hold
//
//	of one account, by itself
//	  bytes     every list, of row and archive, is valid, its entries in order of time
//	  double    an id stands once in friends, followers and following, row and archive together
//	  count     friends, followers and following are what is kept plus what is archived
//	  column    kept_followers, kept_following and blocks are those of the list, archived is how much is archived, and no older
//	  segment   the header of a segment is that of its list, and no segment is newer than its row
//	            (what the account did itself is archived in rows, which have no header)
//	  row       segments have a row
//	  nobody    who has a row or is named in one exists (whom only mutes and options name is not looked at)
//	  name      its name is claimed for it, in lower case, and every name that is claimed is that of an account
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
// Only if asked to. A row is healthy, has gaps, or is damaged.
//
//	healthy  what it says is true, and so is its silence
//	gaps     what it says is true, but entries are lost: it counts more than row
//	         and archive hold, of blocks and requests too where these are archived, or
//	         names who does not exist
//	damaged  what it says may be wrong: bytes, order, an id twice, no row
//
// Between two healthy rows, who follows, blocks or asks is the
// one whose own row is the truth: the other's row is made to say the same, by an
// edit of both through the committer (app/relation.Service.Repair). Counts and columns are
// an edit too, headers of segments a rewrite (repo/relation.Store.Rewrite), a
// swap like any other.
//
// A row that has gaps yields where it is silent. A segment that is gone, or a list
// put back from a backup, leaves a count that is larger than what is there; an
// id of which a bit flipped leaves, as a rule, one that is no account. Whom the
// account followed, blocked or asked is known to the others, so these are asked, in
// a walk, and what is missing is put in, with their times, before anything is taken
// out anywhere; who follows it comes by the rule for healthy rows, the follower's
// own row being the truth. Only then is it counted anew, so that a count that was
// merely wrong is mended too: nothing was missing then. Whatever stands in such a
// row stays, but for those who do not exist. Before a follow, block or request is
// taken away because the row of the one who made it knows nothing of it, that row
// is looked at for gaps, whatever way the audit came to it.
//
// What it cannot tell from a true row is an id that became that of another account,
// and a count that was lost or lowered together with the entries.
//
// A row that is damaged yields to the others: an id stands twice, in the list or
// in list and archive, the order is wrong, or bytes cannot be read. Which of two
// copies is the true one, and whom the other overwrote, it cannot tell. So all
// rows are asked, in a walk, what they say about its account, and it is rewritten:
// who follows whom, and since when, is what the others say, also where it says
// nothing or otherwise; who blocks it or asks is who says so; whom others say
// that it blocks or asked is added. What only the damaged row knew stays as far
// as it can be read: whom it blocks, asked and muted, its options and notes. What
// cannot be read of these last two is lost, and the fault says so.
//
// The rewrite takes what the others said for true if the row still has the ver
// it had before they were asked: between the two nothing can change without a swap
// of both. A row whose ids stand twice, or that has gaps, may still be written to; where it was,
// those whose word would change it are asked again under its lock. Two damaged
// rows do not yield to each other. What can be read in either is taken, the
// rest is lost, and the rule for healthy rows makes them agree. A row that has gaps
// takes what a damaged one still says about it; the silence of one that has gaps
// takes nothing away from a damaged one.
//
// An account whose row is gone though it has segments, or though it exists and two
// or more others name it, is made anew in the same way: rows are never deleted,
// so it was there. Where only one other names it, the rule of the follower's own
// side holds.
//
// # Who does not exist
//
// An id that is no account is taken out of the rows that name it, with the
// counts, and no row is made for it; a row or archive that it has is emptied
// (repo/relation.Store.Forget). A row that names it has gaps: it goes out in the
// swap that puts in what the others know (repo/relation.Store.Rewrite). Not so where
// the one who does not exist has a row that says the same, or ten rows name it:
// then it was an account once, nothing was overwritten, and nobody needs to be
// asked. Whether it exists is asked while the row that
// names it is locked, before every removal. That cannot hit an account that
// comes to be meanwhile: an account is there before any row names it, in the
// service and in an import, and none is ever removed. Only where the row named
// it falsely before, and an import brings that very edge in the same moment, the
// import may find the edge there and the audit take it away; importing again adds
// it.
//
// It costs no look-up for each edge. Accounts that have a row and do not exist
// are found by one query for each range of rows that the first pass reads, and
// the others through them; who has no row is named by one side only, so that
// its slice differs and it becomes a suspect; suspects are looked up together.
// Where more than one row in ten has no account, nobody is forgotten: the table
// account is the likelier cause, and the faults say so.
//
// # Names
//
// A name and its account are written in one transaction, which an engine that shards
// may cut in two. After the rows all names are walked, and all accounts: a name that
// no account has is dropped, unless more than one in ten are such; an account gets the
// name it lacks. Both are looked at again before, under the lock of the name, so that an
// account that is being made keeps its own. Where two accounts are called the same
// the fault stays: somebody must rename one.
//
// # What it costs
//
// One pass reads the tables relation and relation_archive once, then account and
// username. Memory is 6
// MiB for the sums, the row and archive of one account and its ids (16 bytes for
// each of its entries, together), and in later passes 24 bytes for each gathered
// entry, Collect at most, or as many for the accounts that are made anew and,
// for one at a time, 100 bytes for each entry of it. Up to 100,000 rows whose count of
// followers alone is too large are remembered until those are done, 500 bytes each.
// An audit that is stopped begins anew: what it summed up is gone.
package audit
