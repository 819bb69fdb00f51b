// Package repo is what kith keeps: one sub-package for each store and for each
// mechanism the stores share. Nothing outside repo sends SQL.
//
// # Glossary
//
// A thing has one name everywhere: table, column, type, file, metric, page.
//
//	account        somebody who can follow and be followed; has an id
//	bucket         account id & 1023: the first key column of every table, the route of an account
//	follower       A is a follower of B when A follows B
//	following      the accounts that A follows
//	friend         A and B are friends when both follow the other
//	relation       the row of an account: its list and its counts
//	list           the packed blob of a relation, made of sections (repo/list)
//	section        one part of a list: friends, followers, following, blocking, ...
//	entry          one id in a section, with its time
//	option         what an account chose about one other: hide reposts, notify, mute until, languages
//	note           what an account keeps in private about another, a row of its own
//	count          a true number of friends, followers or following, whatever the list still holds
//	kept           how many entries the list still holds
//	archive        what a row no longer holds: the tables relation_own and relation_archive
//	own            what the account did itself: friends, following, blocking, muting, requested, options
//	received       what others did to it: followers, blocked by, requests
//	segment        up to 10,000 received entries of one section in the archive, packed
//	place          of an entry: its time and id; places of a section are its order
//	recall         move entries from the archive into the list, for an edit
//	ver            the version of a row, raised by every change, by a random step
//	history        the commits of a database one after the other; a failover or a restore may lose the last and go on otherwise
//	identity       what cache keys and checksums are made from; another after a failover or a restore (repo/identity)
//	swap           UPDATE that takes effect only where ver is still what was read
//	edit           one change to the rows of one or two accounts
//	commit         one transaction that swaps the rows of many edits
//	committer      what gathers waiting edits into commits (repo/committer)
//	head           the counts of a relation without its list, cached on their own
//	request        A's wish to follow B, where B is locked and decides
//	cursor         the place in a page order: the time and id of the last entry seen
//	half edge      an edge that stands in the row of one of its two accounts only
//	reject         a line that an import could not use, with the reason
//	interaction    one thing an account (the actor) did with another (the target), of a kind
//	kind           what an interaction was: follow, visit, message, ...; the settings say its weight
//	batch          interactions of one bucket that lie in the log as one row
//	fold           add the interactions of batches to the affinity rows of their actors, once
//	affinity       the others an account has most to do with, each with a score; hidden
//	score          what an account's interactions with another add up to, faded with a half-life
//	seen           when an account was last there
//	suggestion     whom an account may want to follow
//	dismiss        keep somebody from being suggested
//	job            one kind of maintenance work (cron)
//	run            one go of a job, from its begin to its end
//	step           a small part of a run, after which the job may be stopped
//	tick           a moment on the schedule of a job, in UTC
//	lease          the right to run a job, held by one process at a time (repo/lease)
//	term           how long a lease stands without being renewed
//	holder         the process that has a lease: host, process and a token
//	outline        how many entries each section of a list has, read from its first bytes
//	place of a job the cursor of a job: where it goes on after a stop
//	audit          the look whether what must hold of the rows does hold (app/audit)
//	fault          one thing that does not hold
//	slice          the edges of one hash value, summed up from both sides by an audit
//	suspect        a pair of accounts whose rows seemed to differ while an audit walked
//	mend           make what disagrees agree, by the rule which side is the truth
//	salvage        read what can be read of bad list bytes
//	rewrite        put a row and its archive right by themselves, in one swap
//	damaged        of a row: an id stands twice, the order is wrong or bytes cannot be read
//	rebuild        rewrite a damaged row with what other rows say about the account
//	nobody         an id in a row that is no account
//	orphan         an account that has a row and does not exist
//	forget         take everything about somebody out of a row and its archive
package repo
