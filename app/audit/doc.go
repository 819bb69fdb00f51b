// Package audit checks that what must hold of the relation rows does hold, and repairs
// what does not.
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
//	  row       segments have a row, and so has an account that several rows name
//	  unknown   who has a row or is named in one exists (whom only mutes and options name is not looked at)
//	  name      its name is claimed for it, in lower case, and every name that is claimed is that of an account
//	of two accounts
//	  edge      who follows stands in the other's followers, and the other way round
//	  time      since the same second
//	  block     blocking here is blocked by there
//	  request   requested here is a request there
//	  conflict  no follow beside a block, no request beside a follow or a block
//
// # How it finds
//
// An audit goes through these steps, once, in this order. Servers may run meanwhile.
//
//	first pass  reads every row, and the archive of those that have one as of one moment
//	            with the row; checks each by itself, and adds each entry to a checksum
//	rebuild     one more pass, only if rows are damaged or have lost entries
//	differing   one more pass for each group of checksums that differ: gathers their entries
//	verify      compares the rows of each pair whose entries do not match, under their locks
//	finish      counts and unknown accounts, which show until then what was lost
//	names       all names, then all accounts
//
// A checksum is that of a slice: the sum of a 64-bit mix of (follower, followee, time),
// and a count, in one of 65,536 slices by a hash of (follower, followee). There is one
// for what followers' rows say and one for what followees' rows say; and so for blocks
// and requests, without times, which two rows may differ in. Sums do not depend on
// order, so one pass in key order does for both sides. Where the two are equal nothing
// more is read.
//
// A pass takes a while, and an unfollow between the two rows of an edge looks like a
// half edge. So whatever a pass finds is a suspicion, and only what is wrong under the
// locks of the rows is a fault. Follows made since the audit began, by their time, do
// not go into the checksums: they would fill the slices with differences. The next
// audit has them.
//
// # How it repairs
//
// Only if asked to, and by two means.
//
// A pair of accounts is repaired by one edit of both rows (app/relation.Service.Repair).
// Who follows, blocks or asks is the one whose own row is the truth; the other's row is
// made to say the same. Its changes are given to the listeners of app/relation, as those
// of any edit. Nothing is taken away because the row of the one who made it does not
// know of it, before that row was looked at: where it has lost entries, see below.
//
// An account is rebuilt while its row is locked, and so closed to edits
// (repo/relation.Store.Rebuild), from what can be read of it and from what the rows of
// others say about it, for which all rows are read once. What a rebuild changes is given
// to no listener: it restores what was true and given before. There are two kinds of
// rows to rebuild.
//
//	damaged       its bytes cannot be read or are not in order, an id stands twice, or
//	              segments are there and the row is gone. Who follows whom, and since
//	              when, is what the others say; so is who blocks it or asks. Whom it
//	              blocks and asks is what either says. Its mutes, options and notes
//	              stay as far as they can be read; else they are lost, and the fault says so
//	lost entries  it counts more than there is, of what the account did itself. What
//	              stands there is true, and what the others know is added
//
// The others' rows count with care. Where two damaged rows name each other, what can be
// read in either is kept, and the pair is compared afterwards. That a row which has lost
// entries is silent takes nothing away. Where the row is written to between the pass and
// the lock, those others who would change it are read again under the lock; where these
// are more than 1,000 the fault stays.
//
// Counts, columns and headers need no other row: the account is rebuilt from itself.
//
// # What is only reported
//
// Faults that need the word of all other rows and are too rare to stop an audit for are
// reported with the command to type, kith audit --rebuild=ID. It reads all rows once,
// rebuilds that account, and compares it with those that it names. Servers may run
// meanwhile. These faults are
//
//   - an id in which a bit flipped: the row names an account that does not exist, and
//     somebody says that the account did something of which the row does not know
//   - a row that is gone, of an account that exists and two or more others name
//   - all that would be taken away on the word of a row that has lost entries
//   - in an audit of one account: an unknown id without a row, of which only all rows
//     show whether it stands where another was overwritten
//
// What no audit can tell from a true row is an id that became that of another account,
// a count that was lost or lowered together with the entries, and in a damaged row an
// id among those it blocks.
//
// # Unknown accounts
//
// An id that is no account is taken out of the rows that name it, and no row is made for
// it; a row or archive that it has is emptied. That cannot hit an account that comes to
// be meanwhile: it is looked up while the row that names it is locked, an account is
// there before any row names it, and none is ever removed. Only where the row named it
// falsely before, and an import brings that very edge in the same moment, the import may
// find the edge there and the audit take it away; importing again adds it.
//
// It costs no look-up for each edge. Accounts that have a row and do not exist are found
// by one query for each range of rows, and the others through them; who has no row is
// named by one side only and becomes a suspect. An unknown account that has a row, or
// that ten rows name, was an account once. Any other may stand where an id was
// overwritten, so it stays as long as the row that names it has lost entries, or faults
// elsewhere may hide that it has. Where more than one row in ten has no account,
// nothing is taken out: the table account is the likelier cause, and the faults say so.
//
// # Names
//
// A name and its account are written in one transaction, which an engine that shards
// may cut in two. A name that no account has is dropped, unless more than one in ten are
// such; an account gets the name it lacks. Both are looked at again before, under the
// lock of the name, so that an account that is being made keeps its own. Where two
// accounts are called the same the fault stays: somebody must rename one.
//
// # What it costs
//
// One pass reads the tables relation and relation_archive once, then account and
// username. Memory is 6 MiB for the sums, the row and archive of one account and its
// ids (16 bytes for each of its entries, together), and in later passes 24 bytes for
// each gathered entry and 16 for each suspect, or as many for what is known of accounts
// to rebuild, Collect at most; for one of these at a time, 100 bytes for each entry of
// it. Up to 100,000 rows whose count of followers alone is too large are remembered
// until the end, 500 bytes each. --rebuild has no bound on the entries of its account.
// An audit that is stopped begins anew: what it summed up is gone.
package audit
