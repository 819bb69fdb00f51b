package peer

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/cmd/kithbench/graph"
)

// TwoTable is what products begin with: a row for each follow in a table by
// follower, another in a table by followed, and a row of counts an account.
//
// A change is one transaction, with a round trip for each statement, as it is
// written in most products. Packed is the form of those who have measured: all
// its statements are one round trip. That was compared with a stored procedure and
// with IF … END IF around what only new follows need: in CPU time of the server a
// follow took 220 µs packed, 230 to 280 a statement at a time, which cost the
// client another 40 µs, and 440 to 480 and 320 to 410 in the others.
type TwoTable struct {
	name   string
	packed bool
	pool   *sqlx.DB
}

var (
	_ Peer    = (*TwoTable)(nil)
	_ Skipper = (*TwoTable)(nil)
)

// twoTablePool is how many connections the peer may have, all of which stay. On
// two cores 64 clients made 5,600 follows a second over 16 connections, 6,000
// over 32, 7,400 over 64 and 7,300 over 128; 256 clients made 4,600, 4,200,
// 5,600 and 6,200, and reads did not differ.
const twoTablePool = 64

// twoTableTries is how often a transaction is run that loses to another.
const twoTableTries = 50

// twoTableSchema has the order of lists as a second index of each table: the
// primary key answers who follows whom.
var twoTableSchema = []string{
	`CREATE TABLE IF NOT EXISTS follows (
		account_id BIGINT UNSIGNED NOT NULL,
		target_id  BIGINT UNSIGNED NOT NULL,
		created_at INT UNSIGNED NOT NULL,
		PRIMARY KEY (account_id, target_id),
		KEY by_time (account_id, created_at, target_id)
	) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS fans (
		account_id BIGINT UNSIGNED NOT NULL,
		fan_id     BIGINT UNSIGNED NOT NULL,
		created_at INT UNSIGNED NOT NULL,
		PRIMARY KEY (account_id, fan_id),
		KEY by_time (account_id, created_at, fan_id)
	) ENGINE=InnoDB`,
	`CREATE TABLE IF NOT EXISTS counts (
		account_id BIGINT UNSIGNED NOT NULL,
		following  INT UNSIGNED NOT NULL,
		followers  INT UNSIGNED NOT NULL,
		PRIMARY KEY (account_id)
	) ENGINE=InnoDB`,
}

// NewTwoTable opens the peer on a database of MariaDB and makes its tables
// where they are missing.
func NewTwoTable(ctx context.Context, name, dsn string, packed bool) (*TwoTable, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("open the two tables: %w", err)
	}
	cfg.InterpolateParams, cfg.MultiStatements = true, true
	// Not REPEATABLE READ: its locks on gaps make follows wait for each other.
	cfg.Params = map[string]string{"tx_isolation": "'READ-COMMITTED'"}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("open the two tables: %w", err)
	}
	t := &TwoTable{name: name, packed: packed, pool: openPool(connector)}
	if err := t.prepare(ctx); err != nil {
		t.Close()
		return nil, fmt.Errorf("open the two tables: %w", err)
	}
	return t, nil
}

// prepare makes the tables and the connections, one after the other: many who
// dial a unix socket at once are turned away.
func (t *TwoTable) prepare(ctx context.Context) error {
	for _, table := range twoTableSchema {
		if _, err := t.pool.ExecContext(ctx, table); err != nil {
			return err
		}
	}
	for range twoTablePool {
		conn, err := t.pool.Connx(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() // at the end, so that each is another one
	}
	return nil
}

// Name returns the name of the peer.
func (t *TwoTable) Name() string { return t.name }

// Close closes the connections.
func (t *TwoTable) Close() error { return t.pool.Close() }

// followSQL adds to the counts 1 or 0 times @new, which is 0 for a follow that
// was there. Both rows of counts are one statement, the smaller id first, so
// that no two transactions hold one row each and want the other's. All of it
// goes by primary keys.
const followSQL = `START TRANSACTION;
	INSERT IGNORE INTO follows (account_id, target_id, created_at) VALUES (?, ?, ?);
	SET @new = ROW_COUNT();
	INSERT IGNORE INTO fans (account_id, fan_id, created_at) VALUES (?, ?, ?);
	INSERT INTO counts (account_id, following, followers) VALUES (?, ? * @new, ? * @new), (?, ? * @new, ? * @new)
		ON DUPLICATE KEY UPDATE following = following + VALUES(following), followers = followers + VALUES(followers);
	COMMIT`

// Follow inserts the edge into both tables and counts it.
func (t *TwoTable) Follow(ctx context.Context, from, to uint64, at uint32) error {
	if !t.packed {
		return t.again(ctx, func() error { return t.followSteps(ctx, from, to, at) })
	}
	up := from < to
	return t.change(ctx, followSQL, from, to, at, to, from, at, min(from, to), up, !up, max(from, to), !up, up)
}

// unfollowSQL takes @gone from the counts, which is 0 where there was no
// follow. The range of two ids is walked upwards. All of it goes by primary keys.
const unfollowSQL = `START TRANSACTION;
	DELETE FROM follows WHERE account_id = ? AND target_id = ?;
	SET @gone = ROW_COUNT();
	DELETE FROM fans WHERE account_id = ? AND fan_id = ?;
	UPDATE counts SET following = following - (account_id = ?), followers = followers - (account_id = ?)
		WHERE account_id IN (?, ?) AND @gone = 1;
	COMMIT`

// Unfollow deletes the edge from both tables and counts it.
func (t *TwoTable) Unfollow(ctx context.Context, from, to uint64) error {
	if !t.packed {
		return t.again(ctx, func() error { return t.unfollowSteps(ctx, from, to) })
	}
	return t.change(ctx, unfollowSQL, from, to, to, from, from, to, from, to)
}

// change runs a packed transaction, again where it lost to another.
func (t *TwoTable) change(ctx context.Context, transaction string, args ...any) error {
	return t.again(ctx, func() error { return t.try(ctx, transaction, args) })
}

func (t *TwoTable) again(ctx context.Context, try func() error) error {
	for range twoTableTries {
		err := try()
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

// try runs a transaction once. One that failed half way must end before its
// connection is used again: the next START TRANSACTION would commit that half.
func (t *TwoTable) try(ctx context.Context, transaction string, args []any) error {
	conn, err := t.pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, transaction, args...)
	if err == nil {
		return nil
	}
	if _, rollbackErr := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`); rollbackErr != nil {
		conn.Raw(func(any) error { return driver.ErrBadConn }) // hangs up, which rolls back
	}
	return err
}

// lostToAnother says that a transaction was the victim of a deadlock (1213) or
// waited too long for a lock (1205).
func lostToAnother(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205)
}

// statesSQL goes by both primary keys, a range of one row for each id.
const statesSQL = `SELECT target_id AS id, 1 AS following FROM follows WHERE account_id = ? AND target_id IN (?)
	UNION ALL SELECT fan_id, 0 FROM fans WHERE account_id = ? AND fan_id IN (?)`

// States asks both tables in one round trip.
func (t *TwoTable) States(ctx context.Context, viewer uint64, ids []uint64) ([]State, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []struct {
		ID        uint64
		Following bool
	}
	if err := t.in(ctx, &found, statesSQL, viewer, ids, viewer, ids); err != nil {
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

// in selects into found with lists of ids among args.
func (t *TwoTable) in(ctx context.Context, found any, query string, args ...any) error {
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		return err
	}
	return t.pool.SelectContext(ctx, found, query, args...)
}

// countsSQL goes by the primary key.
const countsSQL = `SELECT account_id AS id, following, followers FROM counts WHERE account_id IN (?)`

// Counts reads the rows of counts; accounts without one have none.
func (t *TwoTable) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []struct {
		ID                   uint64
		Following, Followers int64
	}
	if err := t.in(ctx, &found, countsSQL, ids); err != nil {
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

// The pages go backwards on by_time, which has all they read. created_at <= ?
// is where the range starts; what is left out after it are only those of that
// very moment. (created_at, id) < (?, ?) would say the same, but MariaDB reads
// the whole list for it.
const (
	followersSQL = `SELECT fan_id AS id, created_at AS at FROM fans
		WHERE account_id = ? AND created_at <= ? AND (created_at < ? OR fan_id < ?)
		ORDER BY created_at DESC, fan_id DESC LIMIT ?`
	followingSQL = `SELECT target_id AS id, created_at AS at FROM follows
		WHERE account_id = ? AND created_at <= ? AND (created_at < ? OR target_id < ?)
		ORDER BY created_at DESC, target_id DESC LIMIT ?`
	followersAfterSQL = `SELECT fan_id AS id, created_at AS at FROM fans
		WHERE account_id = ? ORDER BY created_at DESC, fan_id DESC LIMIT ? OFFSET ?`
)

// Followers reads a page of the fans by time.
func (t *TwoTable) Followers(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return t.page(ctx, followersSQL, id, before, limit)
}

// Following reads a page of the follows by time.
func (t *TwoTable) Following(ctx context.Context, id uint64, before Entry, limit int) ([]Entry, error) {
	return t.page(ctx, followingSQL, id, before, limit)
}

func (t *TwoTable) page(ctx context.Context, query string, id uint64, before Entry, limit int) (page []Entry, err error) {
	if before == (Entry{}) {
		before = Entry{ID: 1<<64 - 1, At: 1<<32 - 1}
	}
	if err := t.pool.SelectContext(ctx, &page, query, id, before.At, before.At, before.ID, limit); err != nil {
		return nil, fmt.Errorf("page of %d: %w", id, err)
	}
	return page, nil
}

// FollowersAfter reads by_time from its end and drops what is to be skipped.
func (t *TwoTable) FollowersAfter(ctx context.Context, id uint64, skip, limit int) (page []Entry, err error) {
	if err := t.pool.SelectContext(ctx, &page, followersAfterSQL, id, limit, skip); err != nil {
		return nil, fmt.Errorf("page of %d after %d: %w", id, skip, err)
	}
	return page, nil
}

// Space is that of the three tables with all indexes, as Load left them or
// changes since: a B+tree that grew a row at a time has emptier pages.
func (t *TwoTable) Space(ctx context.Context) (Space, error) {
	return tableSpace(ctx, t.pool, "follows", "fans", "counts")
}

// SpaceRebuilt is Space after OPTIMIZE TABLE: what the tables take at best.
func (t *TwoTable) SpaceRebuilt(ctx context.Context) (Space, error) {
	if _, err := t.pool.ExecContext(ctx, `OPTIMIZE TABLE follows, fans, counts`); err != nil {
		return Space{}, fmt.Errorf("rebuild the two tables: %w", err)
	}
	return t.Space(ctx)
}

// Load puts the graph in with LOAD DATA, see bulkLoad.
func (t *TwoTable) Load(ctx context.Context, g *graph.Graph) error {
	if err := bulkLoad(ctx, t.pool, g); err != nil {
		return fmt.Errorf("load the two tables: %w", err)
	}
	return nil
}
