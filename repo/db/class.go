package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"kith/repo"
)

// Class is what an error of the database means to the caller.
type Class int

// The classes, see the package doc for what each maps to.
const (
	// OK is the class of nil.
	OK Class = iota
	// LostSwap means that a guarded swap found another ver; nothing was done.
	LostSwap
	// Deadlock means that the whole transaction was rolled back; run it again.
	Deadlock
	// LockWait means that a row stayed locked too long; roll back, run again.
	LockWait
	// Duplicate means that a row with the same key exists.
	Duplicate
	// LostConnection means that the statement was or was not done.
	LostConnection
	// TooLarge means that a value or statement exceeds a limit; it always will.
	TooLarge
	// Unavailable means that the server could not be asked or would not write.
	Unavailable
	// Missing means that the table or database is not there.
	Missing
	// Other is everything else.
	Other
)

// byNumber is the class of each error number that has one. Numbers from 8000
// on are TiDB's, 1927 and 1969 are MariaDB's, those from 3024 to 4031 MySQL's.
var byNumber = map[uint16]Class{
	1690: LostSwap, // BIGINT UNSIGNED value is out of range

	1213: Deadlock,
	1020: Deadlock, // record has changed since last read (snapshot isolation)
	3101: Deadlock, // rolled back at its commit (group replication)
	8002: Deadlock, // TiDB: transaction conflict at FOR UPDATE
	8005: Deadlock, // TiDB: write conflict
	8022: Deadlock, // TiDB: commit failed, run it again
	8028: Deadlock, // TiDB: the table's schema changed meanwhile
	8055: Deadlock, // TiDB: the snapshot is too old
	8229: Deadlock, // TiDB: the transaction took too long
	9006: Deadlock, // TiDB: the transaction took longer than old versions are kept
	9007: Deadlock, // TiDB: write conflict

	1205: LockWait,
	3572: LockWait, // NOWAIT
	8020: LockWait, // TiDB: the table is locked
	9004: LockWait, // TiDB: a lock was not resolved in time

	1062: Duplicate,

	1053: LostConnection, // server shutdown in progress
	1158: LostConnection, // network error while reading
	1159: LostConnection,
	1160: LostConnection,
	1161: LostConnection,
	1317: LostConnection, // interrupted: rolled back, but Vitess says it of a commit that reached some shards, too
	1927: LostConnection, // connection was killed
	2006: LostConnection, // server has gone away
	2013: LostConnection, // lost connection during query
	3169: LostConnection, // session was killed
	4031: LostConnection, // disconnected for having been idle
	8027: LostConnection, // TiDB: schema lease expired, result undetermined

	1118: TooLarge, // row size too large
	1153: TooLarge, // packet bigger than max_allowed_packet
	1301: TooLarge, // result of a function larger than max_allowed_packet
	1406: TooLarge, // data too long for column
	8004: TooLarge, // TiDB: the transaction
	8025: TooLarge, // TiDB: one entry
	9500: TooLarge, // TiDB: the transaction

	1021: Unavailable, // disk full
	1037: Unavailable, // out of memory
	1040: Unavailable, // too many connections
	1041: Unavailable, // out of memory
	1114: Unavailable, // table is full
	1129: Unavailable, // host is blocked
	1203: Unavailable, // user has too many connections
	1226: Unavailable, // user has exceeded a resource
	1290: Unavailable, // --read-only
	1792: Unavailable, // read-only transaction: tx_read_only of a server that follows another
	1836: Unavailable, // read-only mode
	1969: Unavailable, // max_statement_time exceeded
	3024: Unavailable, // max_execution_time exceeded
	3032: Unavailable, // offline mode
	3168: Unavailable, // server is not in service yet
	8001: Unavailable, // TiDB: out of memory for one query
	8120: Unavailable, // TiDB: no start timestamp
	8175: Unavailable, // TiDB: out of memory for one query
	8252: Unavailable, // TiDB: the quota of the resource group is used up
	9001: Unavailable, // TiDB: PD server timeout
	9002: Unavailable, // TiDB: TiKV server timeout
	9003: Unavailable, // TiDB: TiKV server is busy
	9005: Unavailable, // TiDB: region is unavailable
	9008: Unavailable, // TiDB: too many requests to TiKV
	9010: Unavailable, // TiDB: TiKV cannot take the log

	1049: Missing, // unknown database
	1146: Missing, // no such table
}

// Classify returns the class of err, looking through everything that wraps it.
func Classify(err error) Class {
	if err == nil {
		return OK
	}
	if server := (*mysql.MySQLError)(nil); errors.As(err, &server) {
		return classOf(server)
	}
	switch {
	case errors.Is(err, mysql.ErrPktTooLarge):
		return TooLarge
	case cannotConnect(err), outOfTime(err):
		return Unavailable
	case errors.As(err, new(net.Error)), slices.ContainsFunc(lostErrors, func(lost error) bool { return errors.Is(err, lost) }):
		return LostConnection
	}
	return Other
}

// lostErrors are what the driver says of a connection that ended.
var lostErrors = []error{
	driver.ErrBadConn, mysql.ErrInvalidConn, mysql.ErrMalformPkt, mysql.ErrPktSync, sql.ErrConnDone,
	io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE,
}

// unknownError is the number of what has no number. It is the one number whose text
// decides, as the server gives nothing else: MySQL and MariaDB say it of one value of
// a prepared statement above max_allowed_packet, Vitess of all that goes wrong between
// its servers, TiDB of what came from TiKV as it was.
const unknownError = 1105

// byText is the class of an unknownError, by the first of these that its text has.
// Vitess names the shard ("target: …", "vttablet: …"): a statement of several
// shards may then be done on some of them, unless no shard would do it.
var byText = []struct {
	text  string
	class Class
}{
	{"'max_allowed_packet'", TooLarge},
	{"message larger than max", TooLarge},
	{"code = InvalidArgument", Other},
	{"code = Unimplemented", Other},
	{"code = NotFound", Other},
	{"target: ", LostConnection}, // no primary, a failover, a reshard
	{"vttablet: ", LostConnection},
	{"no healthy tablet", LostConnection},
	{"code = Unavailable", LostConnection},
	{"undetermined", LostConnection}, // TiDB: a commit without an answer
}

// classOf returns the class of an error the server sent.
func classOf(server *mysql.MySQLError) Class {
	if class, ok := byNumber[server.Number]; ok {
		return class
	}
	if server.Number == unknownError {
		for _, t := range byText {
			if strings.Contains(server.Message, t.text) {
				return t.class
			}
		}
	}
	return Other
}

// NotPrepared reports errors of prepared statements that say nothing about what they
// would have done, and after which nothing was executed: the server has too many
// (1461), does not know this one (1243, behind a proxy; 8111 of TiDB) or cannot
// prepare it again after a change of the table (1615, 8113 of TiDB).
func NotPrepared(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains([]uint16{1461, 1243, 1615, 8111, 8113}, server.Number)
}

// OutcomeUnknown reports that the statement err came from may or may not have
// been done: the connection was lost under way, or the context ended, which
// makes the driver hang up on a statement that the server may still complete.
func OutcomeUnknown(err error) bool {
	if cannotConnect(err) {
		return false
	}
	return Classify(err) == LostConnection || outOfTime(err)
}

// Lost reports that nothing was done because others were first: a guarded
// swap found another ver, or the transaction met others and was rolled back.
// Read again and redo.
func Lost(err error) bool {
	switch Classify(err) {
	case LostSwap, Deadlock, LockWait:
		return true
	}
	return false
}

func cannotConnect(err error) bool {
	return errors.As(err, new(*connectError))
}

func outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// Wrap returns err as one of the four errors of package repo, with err as its
// cause, or err itself where its class is none of theirs. Classify gives the
// same answer for both. Wrapping twice changes nothing.
func Wrap(err error) error {
	var kind error
	switch class := Classify(err); {
	case errors.Is(err, sql.ErrNoRows):
		kind = repo.ErrNotFound
	case class == Duplicate, Lost(err):
		kind = repo.ErrConflict
	case class == LostConnection, class == Unavailable:
		kind = repo.ErrUnavailable
	case class == TooLarge:
		kind = repo.ErrTooLarge
	}
	if kind == nil || errors.Is(err, kind) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}
