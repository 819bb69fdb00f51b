package dbtest

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/repo"
	"kith/repo/db"
)

// planRows is how many rows a table of the plan database has: so many that the
// server would rather use a key than read them all.
const planRows = 20_000

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
	h.mu.Lock()
	defer h.mu.Unlock()
	on, err := h.planDatabase(ctx, pool, query)
	if err != nil {
		tb.Fatalf("index check: %v", err)
	}
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
	if err := h.start(ctx); err != nil {
		return nil, err
	}
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
		if slices.Contains(p.copied, table) || !names(query, table) {
			continue
		}
		if err := p.copy(ctx, source, table); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", table, err)
		}
		p.copied = append(p.copied, table)
	}
	return p.pool, nil
}

// names reports that query has the word table.
func names(query, table string) bool {
	return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(table) + `\b`).MatchString(query)
}

// column is what fill has to know about one.
type column struct {
	Name  string        `db:"name"`
	Type  string        `db:"type"`
	Chars sql.NullInt64 `db:"chars"`
}

// copy makes the table anew and fills it.
func (p *plans) copy(ctx context.Context, source, table string) error {
	from := "`" + source + "`.`" + table + "`"
	if _, err := p.pool.ExecContext(ctx, "CREATE TABLE `"+table+"` LIKE "+from); err != nil {
		return err
	}
	var columns []column
	err := p.pool.SelectContext(ctx, &columns, `SELECT column_name AS name, data_type AS type, character_maximum_length AS chars
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? AND extra NOT LIKE '%GENERATED%'
		ORDER BY ordinal_position`, table)
	if err != nil {
		return err
	}
	const batch = 2000
	for first := 0; first < planRows; first += batch {
		if _, err := p.pool.ExecContext(ctx, rows(table, columns, first, batch)); err != nil {
			return err
		}
	}
	_, err = p.pool.ExecContext(ctx, "ANALYZE TABLE `"+table+"`")
	return err
}

// rows is a statement that inserts n made-up rows.
func rows(table string, columns []column, first, n int) string {
	var b strings.Builder
	b.WriteString("INSERT IGNORE INTO `" + table + "` (")
	for i, c := range columns {
		b.WriteString(comma(i) + "`" + c.Name + "`")
	}
	b.WriteString(") VALUES ")
	for row := first; row < first+n; row++ {
		b.WriteString(comma(row-first) + "(")
		for i, c := range columns {
			b.WriteString(comma(i) + c.value(row))
		}
		b.WriteString(")")
	}
	return b.String()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// value is the literal that row has in c. It keeps the arithmetic of buckets:
// an id that is row lies in the bucket of that.
func (c column) value(row int) string {
	switch c.Type {
	case "tinyint":
		return fmt.Sprint(row & 1)
	case "smallint":
		return fmt.Sprint(row % repo.Buckets)
	case "mediumint", "int", "bigint", "float", "double", "decimal":
		return fmt.Sprint(row)
	case "char", "varchar", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
		"tinytext", "text", "mediumtext", "longtext":
		text := fmt.Sprintf("%08x", uint32(row)*2654435761) // spread, so that neighbours differ at the start
		if c.Chars.Valid && c.Chars.Int64 < int64(len(text)) {
			text = text[:c.Chars.Int64]
		}
		return "'" + text + "'"
	}
	return "DEFAULT"
}

// explain returns why the plan of query is bad, a sentence for each table. The
// format is named because that of MySQL 9 is a tree unless told.
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
		if why := judge(row); why != "" {
			bad = append(bad, why)
		}
	}
	return bad, found.Err()
}

// judge returns why a line of EXPLAIN is bad, or nothing. MySQL and MariaDB
// name the table, TiDB has a tree of operators.
func judge(row map[string]any) string {
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
		return fmt.Sprintf("reads all of table %s, possible keys: %s", table, none(cell("possible_keys")))
	case kind == "index":
		return fmt.Sprintf("reads all of index %s of table %s", cell("key"), table)
	}
	return ""
}

func none(keys string) string {
	if keys == "" {
		return "none"
	}
	return keys
}
