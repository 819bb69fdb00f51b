// Package audit checks that the rows of relations and of posts agree with each other and with
// themselves, and repairs those that do not.
//
// # The rules
//
//	of one account, by itself
//	  bytes     every list, of row and archive, is valid, its entries in order of time
//	  double    an id stands once in friends, followers and following, row and archive together
//	  count     friends, followers and following are what is kept plus what is archived
//	  column    kept_followers, kept_following and blocks are those of the list, and archived
//	            says how much is archived, and no older
//	  segment   the header of a segment is that of its list, and no segment is newer than its row
//	            (what the account did itself is archived in rows, which have no header)
//	  row       segments have a row, and so has an account that several rows name
//	  unknown   an account that has a row, or that a row names, exists (except for ids that only
//	            mutes and options name)
//	  name      its name is claimed for it, in lower case, and every name that is claimed is that
//	            of an account
//	of two accounts
//	  edge      an account that follows stands in the other's followers, and the other way round
//	  time      since the same second
//	  block     blocking here is blocked by there
//	  request   requested here is a request there
//	  conflict  no follow together with a block, no request together with a follow or a block
//
// # How it finds
//
// An audit goes through these steps, once, in this order. Servers may run meanwhile.
//
//	first pass  reads every row, and the archive of those that have one as of one moment
//	            with the row; checks each by itself, and adds each entry to a checksum
//	rebuild     one more pass, only if rows are damaged or have lost entries
//	differing   one more pass for each group of checksums that differ: collects their entries
//	verify      compares the rows of each pair whose entries do not match, under their locks
//	finish      counts and unknown accounts, which until then show what was lost
//	names       all names, then all accounts
//	post rows   all rows about posts, bucket by bucket, then tasks, timelines and buckets
//
// A checksum is a count and the sum of a 64-bit mix of (follower, followee, time), in one
// of 65,536 slices by a hash of (follower, followee): one for what followers' rows say and
// one for what followees' rows say. Blocks and requests have the same without times, which
// may differ between two rows. Sums do not depend on order, so one pass in key order does
// for both sides. Where the two are equal nothing more is read.
//
// An unfollow between the reads of two rows looks like a half edge. So what a pass finds
// is a suspicion, and only what is wrong under the locks of the rows is a fault. Follows
// made since the audit began do not go into the checksums; the next audit has them.
//
// # How it repairs
//
// Only if asked to, and by two means.
//
// A pair of accounts is repaired by one edit of both rows (app/relation.Service.Repair),
// whose changes go to listeners. The own row of the account that follows, blocks or asks
// is the truth. Before an entry is taken away because that row lacks it, the row is checked
// for lost entries.
//
// An account is rebuilt while its row is locked (repo/relation.Store.Rebuild), from what
// can be read of it and from what the rows of others say about it, for which all rows are
// read once. Listeners are not called: they were when what is restored came about.
//
//	damaged       its bytes cannot be read or are not in order, an id stands twice, or
//	              segments are there and the row is gone. Whom it follows and who follows,
//	              blocks or asks it is what the others say. Whom it blocks and asks is what
//	              either says. Its mutes, options and notes stay as far as they can be read;
//	              if they are lost the fault says so
//	lost entries  it counts more than there is, of what the account did itself. What
//	              is there is true, and what the others say is added
//
// The rows of others are evidence with limits. If two damaged rows name each other, what
// can be read in either is kept, and the pair is compared afterwards. A row that has lost
// entries disproves nothing by what it lacks. If the row is written to between the pass
// and the lock, those others who would change it are read again under the lock; if these
// are more than 1,000 the fault stays. Counts, columns and headers need no other row.
//
// # What is only reported
//
// Faults that need all other rows and are too rare to stop an audit for are reported with
// the command to type, kith audit --rebuild=ID. It reads all rows once, rebuilds that
// account, and compares it with those that it names:
//
//   - an id in which a bit flipped: the row names an account that does not exist, and
//     another row says that the account did something which its own row lacks
//   - a row that is gone, of an account that exists and two or more others name, or one
//     that was made anew since: it has less of what the account did than others say it did
//   - all that would be taken away because a row that has lost entries lacks it
//   - in an audit of one account: an unknown id without a row, since only all rows show
//     whether it stands where another was overwritten
//
// No audit can find an id that became that of another account, a count that was lost or
// lowered together with the entries, or a wrong id among those that a damaged row blocks.
//
// # Unknown accounts
//
// An unknown account is taken out of the rows that name it, and a row or archive that it
// has is emptied. An account that is made meanwhile is safe: it is looked up while the row
// that names it is locked, and made before any row names it. Only where the row named it
// falsely before, and an import adds that very edge in the same moment, may the audit
// remove it; importing again adds it.
//
// This costs no look-up for each edge. Unknown accounts that have a row are found by one
// query for each range of rows; one without is named by one side only and becomes a
// suspect. An unknown account that has a row, or that ten rows name, existed once. Any
// other may stand where an id was overwritten, so it stays as long as the row that names
// it has lost entries, or faults elsewhere may hide that it has. If more than one row in
// ten has no account, nothing is taken out: the table account is the likelier cause.
//
// # Names
//
// A name and its account are written in one transaction, which an engine that shards may
// cut in two. A name that no account has is dropped, unless more than one in ten are such;
// an account gets the name it lacks. Both are checked again under the lock of the name. If
// two accounts have the same name the fault stays: somebody must rename one.
//
// # Posts
//
// What an account does to the post of another stands twice: as a post or mark of its own, in
// its bucket, and as a link at that post (repo/postcheck). Its own side is the truth. It
// is changed first, with a task that settles the other side.
//
//	feed     made anew from the posts, under its lock; all that an author does takes that
//	count    made anew from the links, under the lock of the post
//	link     settled as its task would have (app/post). No lock is needed to be sure of one:
//	         links.go says why. What a task is still to settle is no fault
//	mark     made to name the repost, or deleted, under the lock of the feed; a head is made
//	         anew from the marks, under its lock
//	unknown  the posts of an account that does not exist are deleted, as it would have; not
//	         if more than one author in ten does not exist
//	task     carried out and deleted; a push so old is only deleted
//	key      an Idempotency-Key that names no post of its account is deleted
//	timeline deleted: the reader makes it anew
//	bucket   a row in a wrong bucket, of whatever table, is only reported
//
// An import of posts has no tasks, and settles what it adds at its end: until then an audit takes
// that for faults, and repairs them. What is not found: a post that is gone with all that named
// it, and what its text says.
//
// An audit of one account looks at its feed, its posts and all that stands at them, the list of
// replies that it received, its marks, keys, tasks and home: 1,000,000 rows at most, besides its
// relations. What the acts of others should have left at its posts, and rows in wrong buckets,
// only an audit of all accounts finds.
//
// # What it costs
//
// One pass reads the tables relation and relation_archive once, then account and
// username. Memory is 6 MiB for the sums; the row, archive and ids of one account (16 bytes
// for each of its entries); in later passes 24 bytes for each collected entry, and entry
// of evidence, and 16 for each suspect, Collect at most; 100 bytes for each entry of the
// account that is rebuilt; and 500 bytes for each of up to 100,000 rows whose count of
// followers alone is too large. --rebuild has no bound on the entries of its account.
// Posts take one pass over their tables, reaction, reply and mark, with a look-up for each of
// these rows, and 100 bytes of memory for each author of one bucket. Wrong buckets take one pass
// over the keys of all tables. An audit that is stopped begins anew.
package audit
