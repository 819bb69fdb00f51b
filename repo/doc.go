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
//	option         what an account chose about one other: hide reposts, notify, mute until, note
//	count          a true number of friends, followers or following, whatever the list still holds
//	kept           how many entries the list still holds
//	ver            the version of a row, raised by every change
//	swap           UPDATE that takes effect only where ver is still what was read
//	edit           one change to the rows of one or two accounts
//	commit         one transaction that swaps the rows of many edits
//	committer      what gathers waiting edits into commits (repo/committer)
//	head           the counts of a relation without its list, cached on their own
//	request        A's wish to follow B, where B is locked and decides
//	cursor         the place in a page order: the time and id of the last entry seen
//	half edge      an edge that stands in the row of one of its two accounts only
//	reject         a line that an import could not use, with the reason
package repo
