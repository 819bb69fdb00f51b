// Package db is kith's way to MySQL: it opens pools with the session that
// every store counts on, runs transactions, and says what an error of the
// server means. It is the one package that knows the driver.
//
// # The session
//
// Whatever the DSN and the server's own settings say, each connection has
//
//	READ COMMITTED        a swap sees the newest committed row, and no gap
//	                      locks stand between inserts of neighbours
//	autocommit            a statement outside a transaction is its own, and a
//	                      COMMIT only ends one (completion_type)
//	strict sql_mode       too long or out of range is an error, not a warning
//	                      and a shortened value. NO_UNSIGNED_SUBTRACTION is
//	                      off: the guarded swap needs 0-1 to be error 1690
//	binary, UTC           bytes are not looked at for the characters they might
//	                      be; time columns come as text: times are integers
//	changed rows          "affected" counts changed rows, not found ones
//	all rows              no sql_select_limit, no limits of time and effort that
//	                      are meant for people (max_statement_time, …)
//	short lock wait       Config.LockWait, not the server's 50 seconds, for rows
//	                      and for tables: a statement whose client gave up keeps
//	                      its locks until it ends
//
// Open checks what no session can change: a server that kith cannot work
// with is refused by the setting's name (ErrSetting).
//
// On Vitess a session whose variables differ from those of its MySQL servers
// is tied to connections of its own: give those servers the same sql_mode,
// time zone, isolation and innodb_lock_wait_timeout. It refuses SET NAMES binary,
// without which long lists are slower and no less right.
//
// # Errors
//
// Classify puts every error into a Class, by number and type, not by text (one
// exception: 1105, see byText). Wrap turns it into one of the four errors of package
// repo and keeps the cause. After a LostConnection, or a deadline that passed under way,
// the statement may have been done (OutcomeUnknown): read before writing again.
//
//	class           what happened                        Wrap gives
//	LostSwap        a guarded swap found another ver     ErrConflict
//	Deadlock        the transaction was rolled back      ErrConflict
//	LockWait        waited too long for a row            ErrConflict
//	Duplicate       the key is taken                     ErrConflict
//	LostConnection  went away under way, or only a part  ErrUnavailable
//	                of the shards did it
//	Unavailable     no connection, read-only, no time    ErrUnavailable
//	TooLarge        value or statement too long          ErrTooLarge
//	Missing         no such table or database            the error itself
//	Other           everything else, mostly bugs         the error itself
//
// # Walks
//
// What reads all rows of a table goes from bucket to bucket (Walk), so that an engine
// that shards by bucket asks one shard for each statement.
//
// # Metrics
//
// With Config.Metrics each call is timed by its kind, from the request to the first of
// the answer: read, lock (SELECT … FOR UPDATE), write, prepare, begin, commit, rollback.
// A wait for a connection is no part of it. The statements of a new session are not
// counted.
//
// # How arguments travel
//
// Each connection chooses. Short arguments go within the text: one round trip, which
// about doubles the rate of small reads compared with prepare, execute and close. Text
// escapes every byte though, which about halves the rate of 40 KB writes
// (BenchmarkConn). So a statement with 1 KiB or more of blobs and text is prepared and
// kept, by its text: from the second time on it takes one round trip too, and is not
// parsed again. A statement lives until
//
//	others took its room       it is closed: the one that was not used for
//	                           longest goes first
//	an error                   it is closed, as a part of its arguments may be
//	                           left in it; not after a lost swap, deadlock,
//	                           lock wait or duplicate
//	the server forgot it       it is prepared and run once more: nothing was
//	(NotPrepared)              executed
//	the connection ends        the server forgets it
//
// What is kept takes up to 10 MiB of the server's memory for a connection, and 2.5 MiB
// times their number for the pool. Swaps of 1 to 48 rows of 12 columns take 8 MiB, so a
// text should have few forms.
//
// A statement of more than 578 parameters or with an argument of more than 512 KiB goes
// within the text. So does one for which there is no room, in the pool or on the server
// (max_prepared_stmt_count).
package db
