// Package schema brings a database to the tables that this program needs, and
// says whether it is there.
//
// The migrations are goose's: files NNNNN_name.sql, applied in order, noted in
// the table goose_db_version, so that goose's own tool reads the same history.
// What this package adds:
//
//   - One process migrates at a time. Up and DownOne hold GET_LOCK on a connection of
//     its own, which the server releases when the process dies. Others wait for up to
//     LockTimeout. The holder asks every 5 seconds whether it still has the lock, which
//     also keeps its connection alive, and stops where it has not.
//   - A run that was cut off goes on. MySQL commits each DDL statement by itself, so a
//     crash can leave a table that is not noted; the statements may be run twice. So may
//     those of goose's own table, which is made here for that reason.
//   - Check only reads. A program whose migrations are all applied runs, also where the
//     database has newer ones: migrations come first, and old code works with new tables.
package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"kith/repo/db"
)

// ErrOld says that the database lacks migrations this program needs. The error
// around it names the versions and the command to run.
var ErrOld = errors.New("the database schema is older than this program")

// ErrNewer says that the newest migration of the database is unknown to this
// program, so it cannot be taken back by it.
var ErrNewer = errors.New("the database schema is newer than this program")

// ErrNothingApplied says that there is no migration to take back.
var ErrNothingApplied = errors.New("no migration is applied")

// Schema brings one database to the newest of its migrations.
type Schema struct {
	db    *sqlx.DB
	fsys  fs.FS
	goose *goose.Provider
	need  []Migration
}

// Migration is one migration that the program or the database knows.
type Migration struct {
	// Version is the number the file name begins with.
	Version int64
	// Name is the file name, empty where only the database knows the version.
	Name string
	// Applied says that the database has it.
	Applied bool
	// AppliedAt is when, in unix seconds; 0 while it is not applied.
	AppliedAt int64
}

// New reads the migrations in the folder "migrations" of fsys. pool needs two
// connections at least and no read timeout: statements that rebuild a large
// table take hours. It does not ask the database anything.
func New(pool *sqlx.DB, fsys fs.FS) (*Schema, error) {
	if pool.Stats().MaxOpenConnections == 1 {
		return nil, errors.New("migrations need a pool of two connections: one holds the lock")
	}
	sub, err := fs.Sub(fsys, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectMySQL, pool.DB, sub, goose.WithDisableGlobalRegistry(true), goose.WithTableName(table))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	s := &Schema{db: pool, fsys: sub, goose: provider}
	for _, source := range provider.ListSources() {
		s.need = append(s.need, Migration{Version: source.Version, Name: source.Path})
	}
	return s, nil
}

// Up applies every migration that is not applied and returns those, oldest first. Many
// processes may call it at once: one migrates, the others find nothing left to do. When
// a migration fails, those before it stay applied and are returned with the error.
func (s *Schema) Up(ctx context.Context) ([]Migration, error) {
	var done []*goose.MigrationResult
	err := s.locked(ctx, func(ctx context.Context) (err error) {
		done, err = s.goose.Up(ctx)
		if partial := (*goose.PartialError)(nil); errors.As(err, &partial) {
			done = partial.Applied
			return fmt.Errorf("migrate up: %s: %w", partial.Failed.Source.Path, db.Wrap(partial.Err))
		}
		return wrap("migrate up", err)
	})
	return results(done, true), err
}

// DownOne takes back the migration applied last and returns it. It returns
// ErrNothingApplied when there is none and ErrNewer when this program does not
// have the file that says how.
func (s *Schema) DownOne(ctx context.Context) (Migration, error) {
	var done *goose.MigrationResult
	err := s.locked(ctx, func(ctx context.Context) (err error) {
		done, err = s.goose.Down(ctx)
		switch {
		case errors.Is(err, goose.ErrNoNextVersion):
			return ErrNothingApplied
		case errors.Is(err, goose.ErrVersionNotFound):
			return fmt.Errorf("migrate down: %w: take it back with the program that applied it", ErrNewer)
		}
		return wrap("migrate down", err)
	})
	if err != nil {
		return Migration{}, err
	}
	return results([]*goose.MigrationResult{done}, false)[0], nil
}

// Last returns the migration that DownOne would take back, and the SQL that this
// runs. It reads only, and returns the errors of DownOne.
func (s *Schema) Last(ctx context.Context) (m Migration, down string, err error) {
	all, err := s.Status(ctx)
	if err != nil {
		return Migration{}, "", err
	}
	for _, one := range slices.Backward(all) {
		if !one.Applied {
			continue
		}
		if one.Name == "" {
			return one, "", fmt.Errorf("migrate down: %w: take it back with the program that applied it", ErrNewer)
		}
		text, err := fs.ReadFile(s.fsys, one.Name)
		if err != nil {
			return one, "", fmt.Errorf("read migration %s: %w", one.Name, err)
		}
		_, down, _ := strings.Cut(string(text), "-- +goose Down")
		return one, strings.Join(strings.Fields(down), " "), nil
	}
	return Migration{}, "", ErrNothingApplied
}

// Status returns every migration that the program or the database knows, by
// version. It reads only.
func (s *Schema) Status(ctx context.Context) ([]Migration, error) {
	applied, err := appliedAt(ctx, s.db)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(s.need)
	for i, m := range all {
		all[i].AppliedAt, all[i].Applied = applied[m.Version]
		delete(applied, m.Version)
	}
	for version, at := range applied {
		all = append(all, Migration{Version: version, Applied: true, AppliedAt: at})
	}
	slices.SortFunc(all, func(a, b Migration) int { return cmp.Compare(a.Version, b.Version) })
	return all, nil
}

// Check returns nil when every migration of this program is applied and ErrOld
// when one is not. It reads only.
func (s *Schema) Check(ctx context.Context) error {
	all, err := s.Status(ctx)
	if err != nil {
		return err
	}
	have, need, missing := int64(0), int64(0), 0
	for _, m := range all {
		if m.Applied {
			have = m.Version
		}
		if m.Name != "" {
			need = m.Version
		}
		if !m.Applied {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("%w: it is at version %d, this program needs version %d (%d to apply): run `kith migrate up`",
		ErrOld, have, need, missing)
}

func results(done []*goose.MigrationResult, applied bool) []Migration {
	var out []Migration
	for _, r := range done {
		out = append(out, Migration{Version: r.Source.Version, Name: r.Source.Path, Applied: applied})
	}
	return out
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, db.Wrap(err))
}

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
