package schema

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"kith/repo/db"
)

// table is goose's own name for it.
const table = "goose_db_version"

// ensureTable makes the table of applied migrations with its row of version 0.
// goose would do both too, but a crash between the two leaves a table that it
// then refuses. Called with the lock held.
func ensureTable(ctx context.Context, pool *sqlx.DB) error {
	_, err := pool.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS goose_db_version (
		id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
		version_id BIGINT          NOT NULL,
		is_applied BOOLEAN         NOT NULL,
		tstamp     DATETIME        NULL DEFAULT CURRENT_TIMESTAMP,
		PRIMARY KEY (id)
	) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4`)
	if err != nil {
		return wrap("make the table of migrations", err)
	}
	var rows int
	// A handful of rows, read whole.
	if err := pool.GetContext(ctx, &rows, `SELECT COUNT(*) FROM goose_db_version WHERE version_id = 0`); err != nil {
		return wrap("read the table of migrations", err)
	}
	if rows > 0 {
		return nil
	}
	_, err = pool.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	return wrap("make the table of migrations", err)
}

// appliedAt returns when each applied migration was applied, in unix seconds.
// A database that was never migrated has none.
func appliedAt(ctx context.Context, pool *sqlx.DB) (map[int64]int64, error) {
	var rows []struct {
		Version int64 `db:"version_id"`
		At      int64 `db:"at"`
	}
	// A handful of rows, read whole. Migrations noted twice (a retry of goose)
	// count once.
	err := pool.SelectContext(ctx, &rows, `SELECT version_id, COALESCE(UNIX_TIMESTAMP(tstamp), 0) AS at
		FROM goose_db_version WHERE is_applied = 1 AND version_id > 0`)
	if db.Classify(err) == db.Missing {
		return map[int64]int64{}, nil
	}
	if err != nil {
		return nil, wrap("read the table of migrations", err)
	}
	applied := make(map[int64]int64, len(rows))
	for _, row := range rows {
		applied[row.Version] = row.At
	}
	return applied, nil
}

// merge returns what the program needs and what the database has, by version.
func merge(need []Migration, applied map[int64]int64) []Migration {
	all := make(map[int64]Migration, len(need))
	for _, m := range need {
		all[m.Version] = m
	}
	for version, at := range applied {
		m := all[version]
		m.Version, m.Applied, m.AppliedAt = version, true, at
		all[version] = m
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Migration) int {
		return cmp.Compare(a.Version, b.Version)
	})
}
