// Package sql has the migrations of kith's database, one DDL statement a file, which
// repo/schema applies in order.
//
// The code of the release before a migration works with it. The head of its file says why
// it is there, which lock it takes and how large its table becomes. It never changes after
// a release. A statement can run twice without harm (IF NOT EXISTS, IF EXISTS): MySQL
// commits DDL by itself, so after a crash before the record of it, it runs again.
//
// A statement on a table in use waits for every transaction that reads the table, and all
// others then wait for the statement. Such a file begins with SET SESSION
// lock_wait_timeout = 5, so that the statement fails and is run again.
//
// The statements stay within what MySQL 8, MariaDB 10.11, TiDB and Vitess accept.
// ROW_FORMAT and ENGINE are for InnoDB; TiDB ignores them.
package sql

import "embed"

// Migrations holds the folder migrations with its files NNNNN_name.sql.
//
//go:embed migrations/*.sql
var Migrations embed.FS
