package db

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/repo"
)

// sqlMode is what every session has. NO_UNSIGNED_SUBTRACTION must never be
// among it: a lost swap is an underflow of an unsigned number.
const sqlMode = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// idleWait is how long the server keeps an idle connection: longer than a pool does.
const idleWait = 2 * maxLifetime

// networkWait is how long the server waits in the middle of a request or an answer,
// such as rows that are read one at a time.
const networkWait = time.Minute

// assignment is one statement of the session. Where a server refuses one that is not
// needed, the session goes on without.
type assignment struct {
	text   string
	needed bool
}

// session is what a new connection sends first, so that neither the server's
// settings nor those of the DSN matter. Numbers are written in ways that MySQL,
// MariaDB, TiDB and Vitess all take.
func session(c Config) []assignment {
	wait := seconds(cmp.Or(c.LockWait, 5*time.Second))
	tableWait := wait
	if c.ReadTimeout < 0 { // a migration waits for tables as long as it takes
		tableWait = seconds(24 * time.Hour)
	}
	return []assignment{
		// completion_type: a COMMIT would begin the next transaction, or hang up.
		// sql_select_limit is the largest number that Vitess reads.
		{set("autocommit=1", "completion_type=0", "sql_mode='"+sqlMode+"'", "time_zone='+00:00'", "sql_select_limit=9223372036854775807",
			"innodb_lock_wait_timeout="+strconv.Itoa(wait)), true},
		// The variables behind these have other names on MariaDB 10.11 than on MySQL 8.
		{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", true},
		{"SET SESSION TRANSACTION READ WRITE", true},
		// Limits of time and effort that an administrator has set for people, by the
		// names that MariaDB and MySQL have for them.
		{set("sql_safe_updates=0", "sql_big_selects=1", "lock_wait_timeout="+strconv.Itoa(tableWait),
			"wait_timeout="+strconv.Itoa(seconds(idleWait)), "net_read_timeout="+strconv.Itoa(seconds(networkWait)), "net_write_timeout="+strconv.Itoa(seconds(networkWait))) +
			" /*M! , max_statement_time=0 */ /*!80000 , max_execution_time=0 */", false},
		// The server then takes lists as the bytes they are, instead of looking at each
		// byte for the characters it might be, which was a sixth of its work on commits.
		{"SET NAMES binary", false}, // not on Vitess
	}
}

func set(variables ...string) string { return "SET SESSION " + strings.Join(variables, ", ") }

// connector makes connections with the session of the package doc.
type connector struct {
	driver.Connector
	timeout time.Duration
	session []assignment
	budget  *budget
	metrics *Metrics
}

// Connect dials, shakes hands and sets the session, all within the timeout:
// the driver's own bounds dialling alone.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, &connectError{err}
	}
	inner := made.(driverConn)
	if err := begin(ctx, inner, c.session); err != nil {
		inner.Close()
		return nil, &connectError{err}
	}
	return newConn(inner, c.budget, c.metrics), nil
}

// connectError is a failure before any statement was sent: whatever its cause,
// nothing was done.
type connectError struct{ cause error }

func (e *connectError) Error() string { return "connect: " + e.cause.Error() }
func (e *connectError) Unwrap() error { return e.cause }

// begin sends the statements of a session.
func begin(ctx context.Context, c driver.ExecerContext, statements []assignment) error {
	for _, s := range statements {
		_, err := c.ExecContext(ctx, s.text, nil)
		if refusal := (*mysql.MySQLError)(nil); !s.needed && errors.As(err, &refusal) && Classify(err) == Other {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MinPacket is the least max_allowed_packet of a server: several times the longest
// row, and the bulk statements of small pools.
const MinPacket = 4 << 20

// ErrSetting says that a setting of the server, which no session can change, would
// break what the stores count on. The error around it names the setting.
var ErrSetting = errors.New("a setting of the database server")

// checkServer checks the settings that a session cannot change.
func checkServer(ctx context.Context, pool *sqlx.DB) error {
	var found []struct {
		Name  string `db:"Variable_name"`
		Value string `db:"Value"`
	}
	err := pool.SelectContext(ctx, &found, `SHOW VARIABLES WHERE Variable_name IN ('max_allowed_packet', 'log_bin', 'binlog_format')`)
	if err != nil {
		return fmt.Errorf("read the settings of the server: %w", Wrap(err))
	}
	v := make(map[string]string, len(found))
	for _, f := range found {
		v[strings.ToLower(f.Name)] = strings.ToUpper(f.Value)
	}
	if n, err := strconv.Atoi(v["max_allowed_packet"]); err == nil && n < MinPacket {
		return fmt.Errorf("%w: max_allowed_packet is %d, kith needs %d at least", ErrSetting, n, MinPacket)
	}
	if v["log_bin"] == "ON" && v["binlog_format"] == "STATEMENT" {
		return fmt.Errorf("%w: binlog_format is STATEMENT, and then the server refuses writes at the isolation READ COMMITTED: make it ROW or MIXED", ErrSetting)
	}
	return nil
}

// ErrReadOnly says that a server answers and takes no writes: a replica, such as a
// primary becomes that was demoted. It comes with repo.ErrUnavailable.
var ErrReadOnly = errors.New("the server is read-only")

// Writable checks that the server of a pool answers and takes writes. A user who may
// write to a read-only server all the same (READ ONLY ADMIN, READ WRITE sessions) is
// refused too: such a server follows another, and what is written to it is lost.
func Writable(ctx context.Context, pool *sqlx.DB) error {
	var rules []rule
	// Not @@name: that is an error where the server does not know the setting.
	err := pool.SelectContext(ctx, &rules, `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', `+
		`'innodb_read_only', 'tx_read_only', 'transaction_read_only', 'tidb_restricted_read_only', 'tidb_super_read_only')`)
	if err != nil {
		return fmt.Errorf("ask whether the server takes writes: %w", Wrap(err))
	}
	if forbids := forbidding(rules); forbids != "" {
		return fmt.Errorf("%w (%s): %w", ErrReadOnly, forbids, repo.ErrUnavailable)
	}
	return nil
}

// rule is a setting of a server that may forbid writing.
type rule struct {
	Name  string `db:"Variable_name"`
	Value string `db:"Value"`
}

// forbidding names the rules that are on. Any value but OFF forbids something.
func forbidding(rules []rule) string {
	var on []string
	for _, r := range rules {
		if v := strings.ToUpper(r.Value); v != "OFF" && v != "0" {
			on = append(on, r.Name+"="+r.Value)
		}
	}
	return strings.Join(on, ", ")
}
