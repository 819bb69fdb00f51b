package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// maxLifetime bounds how long a pool stays with a server that a failover has
// made the wrong one.
const maxLifetime = 5 * time.Minute

// ErrBadDSN says that a DSN cannot be used; the error around it says why,
// without the password.
var ErrBadDSN = errors.New("bad dsn")

// Config says which database to open and how. The zero value of everything but
// DSN is good.
type Config struct {
	// DSN is user:password@tcp(host:3306)/database?param=value, in the words of
	// the Go MySQL driver. The database must be named. What the package doc
	// lists as the session overrides the DSN; tls, rejectReadOnly and server
	// variables go through.
	DSN string
	// TLS is what the DSN cannot say of TLS.
	TLS TLS
	// MaxOpen bounds the connections of the pool, all of which may stay idle; 0 is 32.
	MaxOpen int
	// ConnectTimeout bounds dialling and the handshake; 0 is 5 seconds.
	ConnectTimeout time.Duration
	// ReadTimeout bounds each write to the server, and the wait for each answer; 0 is 30
	// seconds. Below 0 there is no bound: for migrations, whose statements take as long as
	// they take.
	ReadTimeout time.Duration
	// LockWait bounds how long a statement waits for a row another transaction
	// holds, in whole seconds of at least one; 0 is 5.
	LockWait time.Duration
	// Metrics gets how long calls take; it may be nil.
	Metrics *Metrics
}

// Open opens a pool on the database of c.DSN and checks that it answers. It
// returns ErrBadDSN for a DSN that is wrong in itself, repo.ErrUnavailable when
// the server cannot be reached, an error of class Missing when there is no such
// database, ErrSetting for a server that kith cannot work with, and ErrTLS. No
// error holds the password.
func Open(ctx context.Context, c Config) (*sqlx.DB, error) {
	cfg, err := parse(c.DSN)
	if err != nil {
		return nil, err
	}
	if cfg.DBName == "" {
		return nil, fmt.Errorf("%w: %s names no database: put its name after the last slash", ErrBadDSN, Redact(c.DSN))
	}
	pool, err := open(ctx, cfg, c)
	if err != nil {
		return nil, err
	}
	if err := checkServer(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open %s: %w", Redact(c.DSN), err)
	}
	return pool, nil
}

// OpenServer opens a pool on the server of c.DSN with no database chosen, to
// create and drop databases. It returns the errors of Open but ErrSetting.
func OpenServer(ctx context.Context, c Config) (*sqlx.DB, error) {
	cfg, err := parse(c.DSN)
	if err != nil {
		return nil, err
	}
	cfg.DBName = ""
	return open(ctx, cfg, c)
}

func open(ctx context.Context, cfg *mysql.Config, c Config) (*sqlx.DB, error) {
	if err := c.TLS.secure(cfg); err != nil {
		return nil, fmt.Errorf("open %s: %w", Redact(c.DSN), err)
	}
	if err := prepare(cfg, c); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBadDSN, Redact(c.DSN), err)
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBadDSN, Redact(c.DSN), err)
	}
	most := cmp.Or(c.MaxOpen, 32)
	pool := sql.OpenDB(&connector{Connector: inner, timeout: cfg.Timeout, session: session(c), budget: newBudget(most), metrics: c.Metrics})
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	pool.SetConnMaxLifetime(maxLifetime)
	if err := pool.PingContext(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open %s: %w", Redact(c.DSN), Wrap(err))
	}
	return sqlx.NewDb(pool, "mysql"), nil
}

// prepare lays the session of the package doc over what the DSN said.
func prepare(cfg *mysql.Config, c Config) error {
	cfg.ParseTime = false
	cfg.Loc = time.UTC
	cfg.ClientFoundRows = false
	cfg.MultiStatements = false
	cfg.ColumnsWithAlias = false
	cfg.InterpolateParams = true // see conn
	// 0 asks the server. A fixed size above the server's would turn "too
	// large" into a connection the server hangs up on.
	cfg.MaxAllowedPacket = 0
	cfg.Timeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	cfg.ReadTimeout = max(0, cmp.Or(c.ReadTimeout, 30*time.Second))
	cfg.WriteTimeout = cfg.ReadTimeout
	// What the driver would print it also returns.
	cfg.Logger = &mysql.NopLogger{}
	return cfg.Apply(mysql.Charset("utf8mb4", ""))
}

// seconds rounds d up to whole seconds, the unit of innodb_lock_wait_timeout.
func seconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}

// parse reads a DSN. The driver's own message is passed on only where the
// fault lies in the parameters: elsewhere it may quote the password.
func parse(dsn string) (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err == nil {
		if why := unsafe(cfg); why != "" {
			return nil, fmt.Errorf("%w: %s: %s", ErrBadDSN, Redact(dsn), why)
		}
		return cfg, nil
	}
	slash := strings.LastIndexByte(dsn, '/')
	if head, _, ok := strings.Cut(dsn[slash+1:], "?"); slash >= 0 && ok {
		if _, headErr := mysql.ParseDSN(dsn[:slash+1] + head); headErr == nil {
			return nil, fmt.Errorf("%w: %w", ErrBadDSN, err)
		}
	}
	return nil, fmt.Errorf("%w: it must look like user:password@tcp(host:3306)/database", ErrBadDSN)
}

// unsafe says which parameter of a DSN would give the server, or who listens on the
// way, more than kith ever needs to give.
func unsafe(cfg *mysql.Config) string {
	private := cfg.Net == "unix" || cfg.TLS != nil && !cfg.TLS.InsecureSkipVerify
	switch {
	case cfg.AllowAllFiles:
		return "allowAllFiles lets the server read any file of this machine: leave it out"
	case cfg.AllowOldPasswords:
		return "allowOldPasswords gives the password away: leave it out"
	case cfg.AllowCleartextPasswords && !private:
		return "allowCleartextPasswords needs tls=true: the password would go to whoever answers"
	case cfg.AllowFallbackToPlaintext && cfg.TLSConfig != "preferred":
		return "allowFallbackToPlaintext makes tls worthless: leave it out, or say tls=preferred"
	}
	return ""
}

// Redact returns dsn with its password replaced by stars, for messages and
// logs. A DSN that cannot be read is not shown at all.
func Redact(dsn string) string {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "(unreadable dsn)"
	}
	if cfg.Passwd != "" {
		cfg.Passwd = "***"
	}
	return cfg.FormatDSN()
}

// WithDatabase returns dsn with its database replaced by name.
func WithDatabase(dsn, name string) (string, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return "", err
	}
	cfg.DBName = name
	return cfg.FormatDSN(), nil
}
