package dbtest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// CheckIndex is the index check: it fails the test unless the server finds the
// rows of query by a key. Reading a whole table (type ALL) or a whole index
// (type index) fails, whatever the number of rows.
//
// A server plans by the sizes of tables, and those of a test are next to
// empty. So the plan is made on copies of the tables of pool that query names,
// filled with 20,000 made-up rows in which everything that counts runs from 0.
// Small tables that are read whole on purpose have no business here.
func CheckIndex(tb testing.TB, pool *sqlx.DB, query string, args ...any) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var on *sqlx.DB
	h.with(tb, func(ctx context.Context) (err error) {
		on, err = h.planDatabase(ctx, pool, query)
		return err
	})
	bad, err := explain(ctx, on, query, args)
	if err != nil {
		tb.Fatalf("index check: %v", err)
	}
	for _, why := range bad {
		tb.Errorf("index check: %s\n%s", why, query)
	}
}

// plans is a database of filled copies of the tables of another.
type plans struct {
	pool   *sqlx.DB
	copied []string
}

// planDatabase returns the plan database of pool, with the tables in query.
func (h *harness) planDatabase(ctx context.Context, pool *sqlx.DB, query string) (*sqlx.DB, error) {
	var source string
	if err := pool.GetContext(ctx, &source, `SELECT DATABASE()`); err != nil {
		return nil, err
	}
	p := h.plans[source]
	if p == nil {
		made, _, err := h.create(ctx, newName())
		if err != nil {
			return nil, err
		}
		p = &plans{pool: made}
		if h.plans == nil {
			h.plans = map[string]*plans{}
		}
		h.plans[source] = p
	}
	var tables []string
	if err := pool.SelectContext(ctx, &tables, `SHOW TABLES`); err != nil {
		return nil, err
	}
	for _, table := range tables {
		named := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(table) + `\b`).MatchString(query)
		if !named || slices.Contains(p.copied, table) {
			continue
		}
		if err := p.copy(ctx, source, table); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", table, err)
		}
		p.copied = append(p.copied, table)
	}
	return p.pool, nil
}

// copy makes the table anew and fills it.
func (p *plans) copy(ctx context.Context, source, table string) error {
	if _, err := p.pool.ExecContext(ctx, "CREATE TABLE `"+table+"` LIKE `"+source+"`.`"+table+"`"); err != nil {
		return err
	}
	var columns []column
	err := p.pool.SelectContext(ctx, &columns, `SELECT column_name AS name, data_type AS type, COALESCE(character_maximum_length, 0) AS chars
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND extra NOT LIKE '%GENERATED%'
		ORDER BY ordinal_position`, table)
	if err != nil {
		return err
	}
	var names, values []string
	for _, c := range columns {
		if v := c.value(); v != "" {
			names, values = append(names, "`"+c.Name+"`"), append(values, v)
		}
	}
	_, err = p.pool.ExecContext(ctx, "INSERT IGNORE INTO `"+table+"` ("+strings.Join(names, ", ")+") SELECT "+strings.Join(values, ", ")+" FROM ("+planNumbers+") AS numbers")
	if err == nil {
		_, err = p.pool.ExecContext(ctx, "ANALYZE TABLE `"+table+"`")
	}
	return err
}

// planNumbers are n from 0 to 19,999.
var planNumbers = func() string {
	digit := "(SELECT 0 AS n" + strings.Repeat(" UNION ALL SELECT %d", 9) + ")"
	digit = fmt.Sprintf(digit, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	return "SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n FROM " +
		digit + " AS a, " + digit + " AS b, " + digit + " AS c, " + digit + " AS d, (SELECT 0 AS n UNION ALL SELECT 1) AS e"
}()

// column is what a copy has to know about one.
type column struct {
	Name  string `db:"name"`
	Type  string `db:"type"`
	Chars int64  `db:"chars"`
}

// value is what row n has in c, empty for the default. It keeps the arithmetic of
// buckets: an id that is n lies in the bucket n & 1023.
func (c column) value() string {
	switch c.Type {
	case "tinyint":
		return "n & 1"
	case "smallint":
		return fmt.Sprintf("n & %d", repo.Buckets-1)
	case "mediumint", "int", "bigint", "float", "double", "decimal":
		return "n"
	case "char", "varchar", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
		"tinytext", "text", "mediumtext", "longtext": // spread, so that neighbours differ at the start
		return fmt.Sprintf("LEFT(LPAD(HEX(n * 2654435761 & 0xFFFFFFFF), 8, '0'), %d)", c.Chars)
	}
	return ""
}

// explain returns why the plan of query is bad, a sentence for each table. The
// format is named because that of MySQL 9 is a tree by default.
func explain(ctx context.Context, pool *sqlx.DB, query string, args []any) ([]string, error) {
	found, err := pool.QueryxContext(ctx, "EXPLAIN FORMAT = TRADITIONAL "+query, args...)
	if err != nil {
		return nil, db.Wrap(err)
	}
	defer found.Close()
	var bad []string
	for found.Next() {
		row := map[string]any{}
		if err := found.MapScan(row); err != nil {
			return nil, err
		}
		if why := flaw(row); why != "" {
			bad = append(bad, why)
		}
	}
	return bad, found.Err()
}

// flaw returns why a line of EXPLAIN is bad, or nothing. MySQL and MariaDB
// name the table, TiDB has a tree of operators.
func flaw(row map[string]any) string {
	cell := func(name string) string {
		if text, ok := row[name].([]byte); ok {
			return string(text)
		}
		return ""
	}
	table, kind, extra := cell("table"), cell("type"), cell("Extra")
	operator := cell("id")
	switch {
	case strings.Contains(operator, "TableFullScan"), strings.Contains(operator, "IndexFullScan"):
		return fmt.Sprintf("reads all of %s (%s)", cell("access object"), operator)
	case extra == "Impossible WHERE":
		return "the arguments contradict each other, so there is no plan to check"
	case cell("select_type") == "INSERT", cell("select_type") == "REPLACE":
		return ""
	case strings.HasPrefix(table, "<"):
		return "" // the result of another line
	case kind == "ALL":
		return fmt.Sprintf("reads all of table %s, possible keys: %s", table, cmp.Or(cell("possible_keys"), "none"))
	case kind == "index":
		return fmt.Sprintf("reads all of index %s of table %s", cell("key"), table)
	}
	return ""
}
