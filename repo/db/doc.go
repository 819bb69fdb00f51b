// Package db is kith's way to MySQL: it opens pools with the session that
// every store counts on, runs transactions, and says what an error of the
// server means. It is the one package that knows the driver.
//
// # The session
//
// Whatever the DSN and the server's own settings say, each connection has
//
//	READ COMMITTED        a swap looks at the newest committed row, and no gap
//	                      locks stand between inserts of neighbours
//	autocommit            a statement outside a transaction is its own, and a
//	                      COMMIT only ends one (completion_type)
//	strict sql_mode       too long or out of range is an error, not a warning
//	                      and a shortened value. NO_UNSIGNED_SUBTRACTION is
//	                      off: the guarded swap needs 0-1 to be error 1690
//	utf8mb4, UTC          and time columns come as text: times are integers
//	changed rows          "affected" counts changed rows, not found ones
//	all rows              no sql_select_limit, no limits of time and effort that
//	                      are meant for people (max_statement_time, …)
//	short lock wait       Config.LockWait, not the server's 50 seconds, for rows
//	                      and for tables: a statement whose client gave up keeps
//	                      its locks until it ends
//
// What no session can change is looked at by Open: a server that kith cannot work
// with is refused by the setting's name (ErrSetting).
//
// On Vitess a session whose variables differ from those of its MySQL servers
// is tied to connections of its own: give those servers the same sql_mode,
// time zone, isolation and innodb_lock_wait_timeout. It refuses SET NAMES binary,
// without which Binary pools are slower and no less right.
//
// # Errors
//
// Classify puts every error into a Class, by number and type, never by text
// (with one exception: 1105, the number of what has none, see byText).
// Wrap turns a classified error into one of the four of package repo and
// keeps the cause. The class that needs care is LostConnection: the statement
// may have been done. OutcomeUnknown tells, and includes deadlines that passed
// while a statement was under way. Read before writing again.
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
// What reads all rows of a table goes from bucket to bucket (Walk): each statement
// names one, so that an engine that shards by bucket asks one shard for it.
//
// # Metrics
//
// With Config.Metrics each call is timed by its kind, from the request to the first of
// the answer: read, lock (SELECT … FOR UPDATE), write, prepare, begin, commit, rollback.
// A wait for a connection is no part of it. The statements of a new session are not
// counted.
//
// # Two pools
//
// Config.Interpolate chooses how arguments travel. Off, a statement is
// prepared, executed and closed, and blobs go as they are. On, the driver
// writes the arguments into the text: one round trip instead of two, which
// about doubles the rate of small reads, but escapes every byte, which about
// halves the rate of 40 KB writes (BenchmarkInterpolate). A program that does
// both opens a pool for each, and says of the second that it is Binary, if no
// argument of its statements is text, and that it shall Keep.
//
// # Kept statements
//
// With Config.Keep a connection keeps the statements with arguments that it ran,
// by their text, and runs them again in one round trip, in transactions and
// outside; the server does not parse them again. A statement lives until
//
//	128 others, or 14,400      it is closed: the one that was not used for
//	parameters, came since     longest goes first
//	an error                   it is closed, as a part of its arguments may be
//	                           left in it. Not after those that say that somebody
//	                           else was first: lost swap, deadlock, lock wait,
//	                           duplicate
//	the server forgot it       it is prepared and run once more: nothing was
//	(NotPrepared)              executed
//	the connection ends        the server forgets it
//
// One of more than 578 parameters or with an argument of more than 512 KiB is
// prepared, executed and closed. So a text should have few forms: rows go in
// statements of up to so many, and long IN lists in round numbers of places.
//
// A statement takes 32 to 64 KiB of the server's memory and some 400 bytes for each
// parameter (MariaDB 10.11, Memory_used of the session): 9 MB a connection for the
// swaps of 1 to 48 rows of 12 columns, 14 MB at most. max_prepared_stmt_count of
// the server is for all its connections. Where it is reached what comes next is an
// error that NotPrepared tells; the other pool needs no such statements.
package db
