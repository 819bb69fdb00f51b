package peer

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/cmd/kithbench/graph"
)

// twoTable is what products begin with: a row for each follow in a table by follower,
// another in a table by followed, and a row of counts an account.
//
// A change is one transaction, with a round trip for each statement, as most products
// write it. Packed is the form of those who have measured: all its statements are one
// round trip. In processor time of the server a follow took 220 µs packed, 230 to 280 a
// statement at a time, 440 to 480 in a stored procedure, and 320 to 410 with IF … END IF
// around what only new follows need.
type twoTable struct {
	name   string
	packed bool
	pool   *sqlx.DB
}

// twoTablePool is how many connections the peer has. On two cores 64 clients made 5,600
// follows a second over 16 connections, 6,000 over 32, 7,400 over 64 and 7,300 over 128.
const twoTablePool = 64

// twoTableTries is how often a transaction is run that loses to another.
const twoTableTries = 50

// edgesTable has the order of lists as a second index: the primary key answers who
// follows whom. In follows the account is the follower, in fans the one who is followed.
const edgesTable = `CREATE TABLE IF NOT EXISTS %s (
		account_id BIGINT UNSIGNED NOT NULL,
		other_id   BIGINT UNSIGNED NOT NULL,
		created_at INT UNSIGNED NOT NULL,
		PRIMARY KEY (account_id, other_id),
		KEY by_time (account_id, created_at, other_id)
	) ENGINE=InnoDB`

const countsTable = `CREATE TABLE IF NOT EXISTS counts (
		account_id BIGINT UNSIGNED NOT NULL,
		following  INT UNSIGNED NOT NULL,
		followers  INT UNSIGNED NOT NULL,
		PRIMARY KEY (account_id)
	) ENGINE=InnoDB`

func openTwoTable(ctx context.Context, name, dsn string, packed bool) (*twoTable, error) {
	pool, err := openPool(ctx, dsn, fmt.Sprintf(edgesTable, "follows"), fmt.Sprintf(edgesTable, "fans"), countsTable)
	return &twoTable{name: name, packed: packed, pool: pool}, err
}

// openPool opens a database and makes tables and all connections, one after the other: a
// unix socket refuses many at once.
func openPool(ctx context.Context, dsn string, tables ...string) (*sqlx.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	cfg.InterpolateParams, cfg.MultiStatements = true, true
	// The gap locks of REPEATABLE READ make follows wait for each other.
	cfg.Params = map[string]string{"tx_isolation": "'READ-COMMITTED'"}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	pool := sqlx.NewDb(sql.OpenDB(connector), "mysql")
	pool.SetMaxOpenConns(twoTablePool)
	pool.SetMaxIdleConns(twoTablePool)
	for _, table := range tables {
		if _, err := pool.ExecContext(ctx, table); err != nil {
			return nil, errors.Join(err, pool.Close())
		}
	}
	for range twoTablePool {
		conn, err := pool.Connx(ctx)
		if err != nil {
			return nil, errors.Join(err, pool.Close())
		}
		defer conn.Close() // at the end, so that each is another one
	}
	return pool, nil
}

func (t *twoTable) Name() string { return t.name }
func (t *twoTable) Close() error { return t.pool.Close() }

// change has the statements of a follow or an unfollow. @n is how many rows the first one
// changed: after 0 nothing else changes. One statement changes both rows of counts, the
// smaller id first, against deadlocks. All go by primary keys.
type change [3]string

var (
	insertEdge = change{
		`INSERT IGNORE INTO follows (account_id, other_id, created_at) VALUES (?, ?, ?)`,
		`INSERT IGNORE INTO fans (account_id, other_id, created_at) VALUES (?, ?, ?)`,
		`INSERT INTO counts (account_id, following, followers) VALUES (?, ? * @n, ? * @n), (?, ? * @n, ? * @n)
			ON DUPLICATE KEY UPDATE following = following + VALUES(following), followers = followers + VALUES(followers)`,
	}
	deleteEdge = change{
		`DELETE FROM follows WHERE account_id = ? AND other_id = ?`,
		`DELETE FROM fans WHERE account_id = ? AND other_id = ?`,
		`UPDATE counts SET following = following - (account_id = ?), followers = followers - (account_id = ?)
			WHERE account_id IN (?, ?) AND @n = 1`,
	}
)

// Follow inserts the edge into both tables and counts it.
func (t *twoTable) Follow(ctx context.Context, from, to uint64, at uint32) error {
	up := from < to
	return t.commit(ctx, insertEdge, []any{from, to, at}, []any{to, from, at}, []any{min(from, to), up, !up, max(from, to), !up, up})
}

// Unfollow deletes the edge from both tables and counts it.
func (t *twoTable) Unfollow(ctx context.Context, from, to uint64) error {
	return t.commit(ctx, deleteEdge, []any{from, to}, []any{to, from}, []any{from, to, from, to})
}

// commit makes a change.
func (t *twoTable) commit(ctx context.Context, c change, args ...[]any) error {
	try := t.steps
	if t.packed {
		try = t.pack
	}
	return again(ctx, func() error { return try(ctx, c, args) })
}

// again makes a change, and tries again if its transaction lost to another.
func again(ctx context.Context, change func() error) error {
	for range twoTableTries {
		err := change()
		if !lostToAnother(err) {
			return err
		}
		select {
		case <-time.After(rand.N(10 * time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ErrGaveUp
}

// pack makes a change in one round trip.
func (t *twoTable) pack(ctx context.Context, c change, args [][]any) error {
	packed := `START TRANSACTION; ` + c[0] + `; SET @n = ROW_COUNT(); ` + c[1] + `; ` + c[2] + `; COMMIT`
	return inOneTrip(ctx, t.pool, packed, slices.Concat(args...)...)
}

// inOneTrip sends a transaction, all its statements at once. One that failed half way is
// rolled back before its connection is used again: the next START TRANSACTION would commit
// that half.
func inOneTrip(ctx context.Context, pool *sqlx.DB, statements string, args ...any) error {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = conn.ExecContext(ctx, statements, args...); err == nil {
		return nil
	}
	if _, rollbackErr := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`); rollbackErr != nil {
		conn.Raw(func(any) error { return driver.ErrBadConn }) // hangs up, which rolls back
	}
	return err
}

// steps makes a change with a round trip for each statement.
func (t *twoTable) steps(ctx context.Context, c change, args [][]any) error {
	tx, err := t.pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for i, statement := range c {
		done, err := tx.ExecContext(ctx, strings.ReplaceAll(statement, "@n", "1"), args[i]...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || (i == 0 && n == 0) {
			return err
		}
	}
	return tx.Commit()
}

// lostToAnother reports whether a transaction was the victim of a deadlock (1213) or waited
// too long for a lock (1205).
func lostToAnother(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205)
}

// statesSQL goes by both primary keys, a range of one row for each id.
const statesSQL = `SELECT other_id AS id, 1 AS following FROM follows WHERE account_id = ? AND other_id IN (?)
	UNION ALL SELECT other_id, 0 FROM fans WHERE account_id = ? AND other_id IN (?)`

// States asks both tables in one round trip.
func (t *twoTable) States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []struct {
		ID        uint64
		Following bool
	}
	if err := selectIn(ctx, t.pool, &found, statesSQL, viewer, ids, viewer, ids); err != nil {
		return nil, fmt.Errorf("states for %d: %w", viewer, err)
	}
	known := make(map[uint64]State, len(found))
	for _, f := range found {
		s := known[f.ID]
		s.Following, s.FollowedBy = s.Following || f.Following, s.FollowedBy || !f.Following
		known[f.ID] = s
	}
	states := make([]State, len(ids))
	for i, id := range ids {
		states[i] = known[id]
	}
	return states, nil
}

// selectIn selects into found with lists of ids among args.
func selectIn(ctx context.Context, pool *sqlx.DB, found any, query string, args ...any) error {
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return err
	}
	return pool.SelectContext(ctx, found, query, args...)
}

// countsSQL goes by the primary key.
const countsSQL = `SELECT account_id AS id, following, followers FROM counts WHERE account_id IN (?)`

// Counts reads the rows of counts. An account without one has no follows.
func (t *twoTable) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []struct {
		ID                   uint64
		Following, Followers int64
	}
	if err := selectIn(ctx, t.pool, &found, countsSQL, ids); err != nil {
		return nil, fmt.Errorf("counts of %d accounts: %w", len(ids), err)
	}
	known := make(map[uint64]Counts, len(found))
	for _, f := range found {
		known[f.ID] = Counts{Following: f.Following, Followers: f.Followers}
	}
	counts := make([]Counts, len(ids))
	for i, id := range ids {
		counts[i] = known[id]
	}
	return counts, nil
}

// pageSQL goes backwards on by_time, which has all it reads. created_at <= ? is where the
// range starts, and what follows drops those of that very moment. (created_at, id) < (?, ?)
// would say the same, but MariaDB reads the whole list for it.
const pageSQL = `SELECT other_id AS id, created_at AS at FROM %s
	WHERE account_id = ? AND created_at <= ? AND (created_at < ? OR other_id < ?)
	ORDER BY created_at DESC, other_id DESC LIMIT ?`

// Page reads a page of one of the tables by time.
func (t *twoTable) Page(ctx context.Context, l List, id uint64, before Entry, limit int) (page []Entry, err error) {
	table := "fans"
	if l == Following {
		table = "follows"
	}
	if before == (Entry{}) {
		before = Entry{ID: 1<<64 - 1, At: 1<<32 - 1}
	}
	if err := t.pool.SelectContext(ctx, &page, fmt.Sprintf(pageSQL, table), id, before.At, before.At, before.ID, limit); err != nil {
		return nil, fmt.Errorf("page of %d: %w", id, err)
	}
	return page, nil
}

// Space is that of the three tables with all indexes.
func (t *twoTable) Space(ctx context.Context) (Space, error) {
	return tableSpace(ctx, t.pool, "follows", "fans", "counts")
}

// Load fills the tables, each in the order of its primary key, and updates their statistics.
func (t *twoTable) Load(ctx context.Context, g *graph.Graph) error {
	following, followers := g.Sides()
	err := cmp.Or(loadData(ctx, t.pool, "follows", graph.Text(following)), loadData(ctx, t.pool, "fans", graph.Text(followers)))
	if err != nil {
		return err
	}
	counts := map[uint64]Counts{}
	for _, e := range g.Edges {
		from, to := counts[e.From], counts[e.To]
		from.Following++
		to.Followers++
		counts[e.From], counts[e.To] = from, to
	}
	var text []byte
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		text = fmt.Appendln(text, id, counts[id].Following, counts[id].Followers)
	}
	if err := loadData(ctx, t.pool, "counts", text); err != nil {
		return err
	}
	_, err = t.pool.ExecContext(ctx, `ANALYZE TABLE follows, fans, counts`)
	return err
}

// loadData runs a LOAD DATA that reads lines with all columns, of which texts are in quotes.
// The driver knows readers by name in the whole process: one load at a time.
func loadData(ctx context.Context, pool *sqlx.DB, table string, text []byte) error {
	mysql.RegisterReaderHandler("kithbench", func() io.Reader { return bytes.NewReader(text) })
	defer mysql.DeregisterReaderHandler("kithbench")
	done, err := pool.ExecContext(ctx, `LOAD DATA LOCAL INFILE 'Reader::kithbench' INTO TABLE `+table+` FIELDS TERMINATED BY ' ' OPTIONALLY ENCLOSED BY '"'`)
	if err != nil {
		return fmt.Errorf("load %s: %w", table, err)
	}
	if n, err := done.RowsAffected(); err != nil || int(n) != bytes.Count(text, []byte{'\n'}) {
		return fmt.Errorf("load %s: got %d rows of %d: %w", table, n, bytes.Count(text, []byte{'\n'}), err)
	}
	return nil
}

// tableSpace is what tables take on disk with their indexes: the pages in use, as ANALYZE
// counts them, and the file, which grows by up to 4 MB at once.
func tableSpace(ctx context.Context, pool *sqlx.DB, tables ...string) (sum Space, err error) {
	for _, table := range tables {
		var pages, file int64
		if _, err := pool.ExecContext(ctx, `ANALYZE TABLE `+table); err != nil {
			return sum, fmt.Errorf("size of %s: %w", table, err)
		}
		if err := pool.GetContext(ctx, &pages, `SELECT DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`, table); err != nil {
			return sum, fmt.Errorf("size of %s: %w", table, err)
		}
		// MySQL has INNODB_TABLESPACES instead.
		if err := pool.GetContext(ctx, &file, `SELECT FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME = CONCAT(DATABASE(), '/', ?)`, table); err != nil {
			return sum, fmt.Errorf("size of the file of %s: %w", table, err)
		}
		sum.Pages, sum.Files = sum.Pages+pages, sum.Files+file
	}
	return sum, nil
}
