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
//	friend         A and B are friends when each follows the other
//	edge           one follow: A follows B
//	half edge      an edge that only one of the two rows has
//	relation       the row of an account: its list and its counts
//	list           the packed blob of a relation, made of sections (repo/list)
//	section        one part of a list: friends, followers, following, blocking, ...
//	entry          one id in a section, with its time
//	position       of an entry: its time and id; the positions of a section are its order
//	cursor         where a page, a walk or a job goes on: the last position, or the last key
//	option         what an account chose about another: hide reposts, notify, mute until, languages
//	note           what an account keeps in private about another, a row of its own
//	request        A's wish to follow B, where B is locked and decides
//	count          a true number of friends, followers or following, whatever the list still holds
//	kept           how many entries the list still holds
//	archive        what a row no longer holds: the tables relation_own and relation_archive
//	own            what the account did itself: friends, following, blocking, muting, requested, options
//	received       what others did to it: followers, blocked by, requests
//	segment        up to 10,000 received entries of one section in the archive, packed
//	trim           move the oldest entries of a long list into the archive
//	recall         move entries from the archive into the list, for an edit
//	outline        the length of each section of a list, read from its first bytes
//
//	ver            the version of a row, raised by every change, by a random step
//	history        the commits of a database one after the other; a failover or a restore may lose the last ones
//	identity       what cache keys and checksums are made from; changed after a failover or a restore (repo/identity)
//	swap           a compare-and-swap: an UPDATE that takes effect only where ver is still what was read
//	phantom        a row that a swap inserted because the one it meant to change was gone; it reads as empty
//	kind           of row: what repo/row must know of a table; of interaction: follow, visit, message, ...
//	draft          a row opened for edits (repo/relation)
//	edit           one change to the rows of one or two accounts
//	commit         one transaction that swaps the rows of many edits
//	committer      what gathers waiting edits into commits (repo/committer)
//	change         what is different between two accounts after a commit, given to listeners (app/relation)
//	listener       what is given each change, once (app/relation)
//
//	head           a row without its list, as the cache keeps it on its own
//	body           the list of a row, as the cache keeps it apart from its head
//	dirty key      a key that a memcached server may hold an outdated value of; deleted before that server is read
//	batch          of memcached: commands sent together; of interactions: those of one bucket in one row of the log
//
//	event          a post or a repost by an author (repo/event)
//	link           a reply, repost or favourite as it stands at its post (repo/postcheck)
//	marker         a read position: how far an account has read a timeline (repo/marker)
//	line           a hot home timeline in memcached: packed events, and behind them what was pushed (repo/timeline)
//	presence       the mark in memcached that an account's line is to be pushed to
//	push           append an event to the lines of those followers who are around
//	pull           read events from the feeds of their authors
//	warm timeline  a line as it was written to the database
//	origin         the post that a repost brings; a post brings itself
//	candidate      an event that may be of a home
//	occurrence     of a post: an event of a home that is shown and brings it
//	promotion      a post or account that is shown in homes for a time, marked as promoted (app/promotion)
//	source         a repost that brings the post of an entry of a home
//
//	interaction    one thing an account (the actor) did with another (the target), of a kind
//	fold           add the interactions of batches to the affinity rows of their actors, once
//	affinity       the others an account has most to do with, each with a score; hidden
//	score          what an account's interactions with another add up to, faded with a half-life
//	seen           when an account was last there
//	suggestion     whom an account may want to follow
//	dismiss        keep somebody from being suggested
//
//	job            one kind of maintenance work (cron)
//	run            one execution of a job
//	step           a small part of a run, after which the job may be stopped
//	tick           a moment on the schedule of a job, in UTC
//	lease          the right to run a job, held by one process at a time (repo/lease)
//	term           how long a lease stands without being renewed
//	holder         the process that has a lease: host, process and a token
//
//	reject         a line that an import could not use, with the reason
//	audit          the check that the rows agree with each other and with themselves (app/audit)
//	fault          one thing that does not hold
//	slice          the edges of one hash value, summed up from both sides by an audit
//	suspect        a pair of accounts whose rows seemed to differ while an audit walked
//	repair         make two rows agree, by the rule which side is right
//	damaged        of a row: an id stands twice, the order is wrong or bytes cannot be read
//	salvage        read what can be read of bad list bytes
//	evidence       what other rows say about an account whose row is damaged
//	rebuild        write a damaged row anew, from its readable bytes and the evidence
//	unknown        of an account or id: a row names it and it does not exist
//	orphan         a row of an account that does not exist
package repo
