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
	pool, err := db.Open(ctx, db.Config{DSN: c.DSN.Reveal(), TLS: tlsOf(c), MaxOpen: c.Pool, Metrics: m})
	if err != nil {
		return nil, databaseError(err)
	}
	migrations, err := schema.New(pool, sql.Migrations)
	if err == nil {
		err = migrations.Check(ctx)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// migrations opens the database for migrations, whose statements have no time limit.
func migrations(ctx context.Context, c config.MySQL) (*schema.Schema, func() error, error) {
	pool, err := db.Open(ctx, db.Config{DSN: c.DSN.Reveal(), TLS: tlsOf(c), MaxOpen: 3, ReadTimeout: -1})
	if err != nil {
		return nil, nil, databaseError(err)
	}
	s, err := schema.New(pool, sql.Migrations)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return s, pool.Close, nil
}

// tlsOf are the settings of TLS as package db has them.
func tlsOf(c config.MySQL) db.TLS {
	return db.TLS{CA: c.TLSCA, Cert: c.TLSCert, Key: c.TLSKey, Name: c.TLSName}
}

// databaseError adds the name of the setting to an error of opening.
func databaseError(err error) error {
	if errors.Is(err, db.ErrTLS) {
		return wrong("KITH_MYSQL_TLS_CA, _CERT, _KEY, _NAME (--mysql-tls-…): %w", err)
	}
	if db.Classify(err) == db.Missing {
		err = fmt.Errorf("KITH_MYSQL_DSN (--mysql) names a database that does not exist: create it first: %w", err)
	} else {
		err = fmt.Errorf("KITH_MYSQL_DSN (--mysql): %w", err)
	}
	return coded{err, exitDatabase}
}
