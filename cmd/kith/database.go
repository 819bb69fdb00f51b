package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"kith/config"
	"kith/repo/db"
	"kith/repo/schema"
	"kith/sql"
)

// openDatabase opens the database and checks that it has all migrations.
func openDatabase(ctx context.Context, c config.MySQL, m *db.Metrics) (*sqlx.DB, error) {
	pool, migrations, err := openSchema(ctx, c, db.Config{MaxOpen: c.Pool, Metrics: m})
	if err != nil {
		return nil, err
	}
	if err := migrations.Check(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// openSchema opens the database that the settings name, and the migrations on it.
func openSchema(ctx context.Context, c config.MySQL, more db.Config) (*sqlx.DB, *schema.Schema, error) {
	more.DSN = c.DSN.Reveal()
	if !ownDatabase(devFolder, more.DSN) { // that of a `kith dev` is a socket, which has no TLS
		more.TLS = db.TLS{CA: c.TLSCA, Cert: c.TLSCert, Key: c.TLSKey, Name: c.TLSName}
	}
	pool, err := db.Open(ctx, more)
	switch {
	case errors.Is(err, db.ErrTLS):
		return nil, nil, wrong("KITH_MYSQL_TLS_CA, _CERT, _KEY, _NAME (--mysql-tls-…): %w", err)
	case err != nil && db.Classify(err) == db.Missing:
		return nil, nil, coded{fmt.Errorf("KITH_MYSQL_DSN (--mysql) names a database that does not exist: create it first: %w", err), exitDatabase}
	case err != nil:
		return nil, nil, coded{fmt.Errorf("KITH_MYSQL_DSN (--mysql): %w", err), exitDatabase}
	}
	s, err := schema.New(pool, sql.Migrations)
	if err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}
	return pool, s, nil
}

// migrate runs fn on the migrations, whose statements have no time limit.
func migrate(ctx context.Context, c config.MySQL, fn func(*schema.Schema) error) error {
	pool, s, err := openSchema(ctx, c, db.Config{MaxOpen: 3, ReadTimeout: -1})
	if err != nil {
		return err
	}
	defer pool.Close()
	return fn(s)
}
