// Package sql is the SQL text that kith's database is made with: the
// migrations, one DDL statement a file, applied in order by repo/schema.
//
// A migration keeps the code of the release before it working, says in its
// head why it is there, which lock it takes and how large its table becomes,
// and never changes once it was released. A statement can be run twice
// without harm (IF NOT EXISTS, IF EXISTS), because MySQL commits DDL on its
// own: a crash between the statement and the note that it was applied leads
// to a second run.
//
// A statement on a table in use waits for every transaction that reads it, and
// everybody else then waits behind the statement. Such a file begins with SET
// SESSION lock_wait_timeout = 5, so that it gives up and is run again instead.
//
// The statements stay within what MySQL 8, MariaDB 10.11, TiDB and Vitess
// accept. ROW_FORMAT and ENGINE say what InnoDB shall do; TiDB ignores them.
package sql

import "embed"

// Migrations holds the folder migrations with its files NNNNN_name.sql.
//
//go:embed migrations/*.sql
var Migrations embed.FS
