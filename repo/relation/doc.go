// Package relation keeps the relation rows: one for each account, with the
// packed list of the people it is related to and the true counts.
//
// A row is read through the cache, opened as a Draft, edited in memory and
// swapped: the new bytes take effect only where the row's ver is still the one
// that was read. The swaps of many rows are ONE statement,
//
//	INSERT … VALUES (…),(…) ON DUPLICATE KEY UPDATE
//	    list = IF(ver+1=VALUES(ver), VALUES(list), list), …,
//	    ver  = IF(ver+1=VALUES(ver), VALUES(ver), ver-ver-1)
//
// whose guard fails by underflow (error 1690) where a row moved on. A failing
// row undoes the whole statement, so the statement needs no BEGIN and COMMIT
// around it: all rows are swapped, or none, in one round trip. More than 48 rows go
// as several such statements in key order, in a transaction which the first that
// fails ends: the server parsed one statement of any number of rows anew each time,
// which was a third of its work (BenchmarkSwap).
//
// What happens on failure: a lost swap is reported as such and changes
// nothing. After a lost connection the rows are read back; the swap counts as
// won only if every row holds exactly the bytes that were sent, else as lost,
// and the caller redoes its edits, which is harmless since edits are
// idempotent. A statement that reaches the server late is stopped by its guard.
//
// Rows are never deleted: an account without relations has an empty list or no
// row at all, which read the same (Ver 0 tells them apart).
//
// The cache holds a row as its counts and, behind or apart from them, its list, so
// that a page of forty people does not fetch forty lists.
package relation
