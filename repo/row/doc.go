// Package row keeps tables of versioned rows: one row for each account, or each post, with
// a packed list that every change writes anew. A store of one kind of row (relations,
// affinities, suggestions) is a Kind: its columns, its codec and the form in which its rows
// are cached.
//
//	(bucket, account_id, ver, list, …, updated_at)
//
// Rows are read through the cache, by key, many in one statement. They are changed in
// memory and swapped: the new bytes take effect only where the row's ver is still the
// one that was read. The swaps of many rows are ONE statement,
//
//	INSERT INTO … VALUES (…),(…) ON DUPLICATE KEY UPDATE
//	    ver  = IF(ver+step=VALUES(ver), VALUES(ver), ver-ver-1),
//	    list = VALUES(list), …, updated_at = now
//
// whose guard fails by underflow (error 1690) where a row moved on, which undoes the whole
// statement: all rows are swapped, or none, in one round trip without BEGIN and COMMIT. More
// than 48 rows go as several such statements in key order, in a transaction: the server
// parsed one statement of any number of rows anew each time, which was a third of its work
// (repo/relation, BenchmarkSwap).
//
// The step is random, one for all rows of a commit, so that no ver comes twice, not even
// in two histories of a database (repo.Step): a swap is lost that begins with a row of a
// lost history, which a cache may still hold.
//
// # Phantoms
//
// Where the whole row was lost the statement inserts it: only the number of affected rows
// tells. So a row that is to be changed has updated_at 0 in VALUES, and gets its date by the
// update alone. A row dated 0, a phantom, reads as empty, and the next swap makes a good row
// of it. (Two VALUES for each row, of which the first makes the second fail, would not let
// it in, but made commits of 16 to 48 rows 40 to 80 % dearer for the server.)
//
// # Failure
//
// A lost swap is reported as such and changes nothing. After a lost connection the rows are
// read back. The swap was won if a row holds exactly what was sent, and lost if one is as it
// was: the caller redoes its edits, which must be idempotent. If others have changed all of
// them since, the caller gets repo.ErrUnavailable and redoes nothing, since others may have
// seen and undone the edits; a kind whose edits find that out (Kind.Redo) has them redone. The guard stops a statement that reaches the server late. After
// any other error the cache drops the rows.
package row
