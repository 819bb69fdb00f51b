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
//	strict sql_mode       what is too long or out of range is an error. Without
//	                      NO_UNSIGNED_SUBTRACTION: the guarded swap needs 0-1 to fail
//	binary, UTC           bytes are not looked at for the characters they might
//	                      be; times are integers
//	changed rows          "affected" counts changed rows, not found ones
//	all rows              no limits that are meant for people (sql_select_limit,
//	                      max_statement_time, …)
//	short lock wait       Config.LockWait, not the server's 50 seconds: a statement
//	                      whose client gave up keeps its locks until it ends
//
// Open refuses a server whose settings kith cannot work with, by the setting's name
// (ErrSetting).
//
// On Vitess a session whose variables differ from those of its MySQL servers is tied to
// connections of its own: give those servers the same sql_mode, time zone, isolation and
// innodb_lock_wait_timeout. It refuses SET NAMES binary, without which long lists are slower.
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
// # How arguments travel
//
// Each connection chooses. Short arguments go within the text: one round trip, which
// about doubles the rate of small reads compared with prepare, execute and close. Text
// escapes every byte though, which about halves the rate of 40 KB writes
// (BenchmarkConn). So a statement with 1 KiB or more of blobs and text is prepared and
// kept: from the second time on it takes one round trip too, and is not parsed again. It
// is closed when others need its room (the one that was not used for longest goes first),
// and after an error that may leave a part of its arguments in it. One that the server has
// forgotten (NotPrepared) is prepared and run once more: nothing was executed.
//
// What is kept takes up to 10 MiB of the server's memory for a connection, and 2.5 MiB
// times their number for the pool. Swaps of 1 to 48 rows of 12 columns take 8 MiB, so a
// text should have few forms. A statement of more than 578 parameters or with an argument
// of more than 512 KiB goes within the text, as does one for which there is no room, in the
// pool or on the server (max_prepared_stmt_count).
package db
