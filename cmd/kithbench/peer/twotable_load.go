package peer

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/cmd/kithbench/graph"
)

// openPool keeps every connection it has made.
func openPool(c driver.Connector) *sqlx.DB {
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(twoTablePool)
	pool.SetMaxIdleConns(twoTablePool)
	return sqlx.NewDb(pool, "mysql")
}

// The order of columns in what bulkLoad sends.
const (
	loadFollows = `LOAD DATA LOCAL INFILE 'Reader::kithbench' INTO TABLE follows (account_id, target_id, created_at)`
	loadFans    = `LOAD DATA LOCAL INFILE 'Reader::kithbench' INTO TABLE fans (account_id, fan_id, created_at)`
	loadCounts  = `LOAD DATA LOCAL INFILE 'Reader::kithbench' INTO TABLE counts (account_id, following, followers)`
)

// bulkLoad fills empty tables, each in the order of its primary key, and lets
// the server look at them, which it else does when it finds the time. The
// driver knows readers by name in the whole process: one load at a time.
func bulkLoad(ctx context.Context, pool *sqlx.DB, g *graph.Graph) error {
	edges := slices.Clone(g.Edges)
	slices.SortFunc(edges, func(a, b graph.Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	if err := send(ctx, pool, loadFollows, len(edges), func(i int) row { return row{edges[i].From, edges[i].To, uint64(edges[i].At)} }); err != nil {
		return err
	}
	slices.SortFunc(edges, func(a, b graph.Edge) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	if err := send(ctx, pool, loadFans, len(edges), func(i int) row { return row{edges[i].To, edges[i].From, uint64(edges[i].At)} }); err != nil {
		return err
	}
	counts := countEdges(edges)
	ids := slices.Sorted(maps.Keys(counts))
	if err := send(ctx, pool, loadCounts, len(ids), func(i int) row {
		c := counts[ids[i]]
		return row{ids[i], uint64(c.Following), uint64(c.Followers)}
	}); err != nil {
		return err
	}
	_, err := pool.ExecContext(ctx, `ANALYZE TABLE follows, fans, counts`)
	return err
}

func countEdges(edges []graph.Edge) map[uint64]*Counts {
	counts := map[uint64]*Counts{}
	of := func(id uint64) *Counts {
		if counts[id] == nil {
			counts[id] = &Counts{}
		}
		return counts[id]
	}
	for _, e := range edges {
		of(e.From).Following++
		of(e.To).Followers++
	}
	return counts
}

// send runs a LOAD DATA that reads n rows.
func send(ctx context.Context, pool *sqlx.DB, load string, n int, at func(i int) row) error {
	mysql.RegisterReaderHandler("kithbench", func() io.Reader { return &rows{n: n, at: at} })
	defer mysql.DeregisterReaderHandler("kithbench")
	done, err := pool.ExecContext(ctx, load)
	if err != nil {
		return fmt.Errorf("%s: %w", load, err)
	}
	got, err := done.RowsAffected()
	if err != nil {
		return fmt.Errorf("%s: %w", load, err)
	}
	if got != int64(n) {
		return fmt.Errorf("%s: got %d rows of %d", load, got, n)
	}
	return nil
}

// row is a row of any of the tables.
type row [3]uint64

// rows is the text of rows, as LOAD DATA reads it.
type rows struct {
	n, next int
	at      func(i int) row
	text    []byte // what was not read yet
	buffer  []byte
}

// Read reads the text of the next rows, some thousands at once.
func (r *rows) Read(p []byte) (int, error) {
	if len(r.text) == 0 && r.next < r.n {
		r.text = r.buffer[:0]
		for ; r.next < r.n && len(r.text) < 1<<16; r.next++ {
			r.text = appendRow(r.text, r.at(r.next))
		}
		r.buffer = r.text
	}
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text)
	r.text = r.text[n:]
	return n, nil
}

func appendRow(b []byte, r row) []byte {
	b = strconv.AppendUint(b, r[0], 10)
	b = append(b, '\t')
	b = strconv.AppendUint(b, r[1], 10)
	b = append(b, '\t')
	b = strconv.AppendUint(b, r[2], 10)
	return append(b, '\n')
}
