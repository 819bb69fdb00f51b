package graph_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/repo/accepttest"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/mysqld"
	"kith/repo/relation"
)

// TestAccept_Twitter imports a real graph into a durable server, checks every
// number, and lets LOAD DATA put the same edges into the usual two
// tables for comparison.
func TestAccept_Twitter(t *testing.T) {
	accepttest.Long(t)
	path := accepttest.File(t, "ego-twitter.txt.gz")
	server := dbtest.Durable(t)
	kith := importInto(t, server, path)
	t.Run("TwoTables", func(t *testing.T) { twoTables(t, server, path, kith) })
}

// open makes a database and opens it.
func open(t *testing.T, server *mysqld.Server, name string) *sqlx.DB {
	t.Helper()
	if err := server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return dbtest.Open(t, db.Config{DSN: server.DSN(name), ReadTimeout: -1})
}

func importInto(t *testing.T, server *mysqld.Server, path string) time.Duration {
	pool := open(t, server, "kith")
	dbtest.Migrate(t, pool)
	rows := relation.New(pool, cache.NewNone(), 0, time.Now)
	c := committer.New(rows, committer.Config{})
	defer c.Close(context.Background())
	accounts := account.New(pool, cache.NewNone())
	cfg := graph.ImportConfig{
		Accounts: accounts, Rows: rows, Now: time.Now,
		Relations: apprelation.New(apprelation.Config{Rows: rows, Committer: c, Accounts: accounts, Now: time.Now}),
		Config:    intake.Config{Progress: progressLog(t)},
	}
	sum := importFile(t, cfg, path)
	want := graph.Summary{Lines: 1_768_149, SelfFollows: 14, Edges: 1_768_135, EdgesNew: 1_768_135, AccountsMade: 81_306, RowsWritten: 81_306}
	want.Duration = sum.Duration
	if sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	t.Logf("import\n%v", sum)
	checkSums(t, pool)
	checkSize(t, pool, sum.Edges)
	checkExport(t, rows, path)

	again := importFile(t, cfg, path)
	if again.EdgesHeld != want.Edges || again.RowsWritten != 0 || again.AccountsMade != 0 {
		t.Errorf("again: got %+v, want that nothing changes", again)
	}
	t.Logf("the same file again: %v", again.Duration.Round(time.Millisecond))
	return sum.Duration
}

func progressLog(t *testing.T) func(graph.Progress) {
	phase, start := "", time.Now()
	return func(p graph.Progress) {
		if p.Phase != phase {
			phase = p.Phase
			t.Logf("%6.2fs %s", time.Since(start).Seconds(), phase)
		}
	}
}

func importFile(t *testing.T, cfg graph.ImportConfig, path string) graph.Summary {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cfg.Reader = f
	sum, err := graph.Import(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func checkSums(t *testing.T, pool *sqlx.DB) {
	t.Helper()
	var got struct{ Following, Followers, Friends, Largest int64 }
	err := pool.Get(&got, `SELECT SUM(following) AS following, SUM(followers) AS followers, SUM(friends) AS friends, MAX(followers) AS largest FROM relation`)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("sums %+v", got)
	want := got
	want.Following, want.Followers, want.Friends, want.Largest = 1_768_135, 1_768_135, 851_678, 3_383
	if got != want {
		t.Errorf("got sums %+v, want %+v", got, want)
	}
}

// dataBytes returns what the rows of a table take after it was rebuilt, and what
// its other indexes take.
func dataBytes(t *testing.T, pool *sqlx.DB, table string) (data, index int64) {
	t.Helper()
	for _, statement := range []string{`OPTIMIZE TABLE ` + table, `ANALYZE TABLE ` + table} {
		rows, err := pool.Query(statement)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	var size struct {
		Data  int64 `db:"data"`
		Index int64 `db:"idx"`
	}
	err := pool.Get(&size, `SELECT DATA_LENGTH AS data, INDEX_LENGTH AS idx FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`, table)
	if err != nil {
		t.Fatal(err)
	}
	return size.Data, size.Index
}

func checkSize(t *testing.T, pool *sqlx.DB, edges int64) {
	t.Helper()
	n, index := dataBytes(t, pool, "relation")
	rows, all := float64(n)/float64(2*edges), float64(n+index)/float64(2*edges)
	t.Logf("relation takes %d bytes, %.2f an edge and side, with its index by_blocks %d, %.2f", n, rows, n+index, all)
	if all > 8 {
		t.Errorf("got %.2f bytes an edge and side, want 8 at most", all)
	}
}

// checkExport compares the sorted export with the sorted file.
func checkExport(t *testing.T, rows *relation.Store, path string) {
	t.Helper()
	var out bytes.Buffer
	start := time.Now()
	n, err := graph.Export(t.Context(), graph.ExportConfig{Rows: rows, Writer: &out})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("export of %d edges: %v", n, time.Since(start).Round(time.Millisecond))
	want := fileEdges(t, path)
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if a, b := digest(got), digest(want); a != b {
		t.Errorf("got another export (%d lines, %x) than the file (%d lines, %x)", len(got), a, len(want), b)
	}
}

// fileEdges returns the lines of a file without those of accounts that follow
// themselves.
func fileEdges(t *testing.T, path string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Collect(accepttest.Lines(t, path)), func(line string) bool {
		a, b, _ := strings.Cut(line, " ")
		return a == b
	})
}

func digest(lines []string) [32]byte {
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range lines {
		io.WriteString(h, line+"\n")
	}
	return [32]byte(h.Sum(nil))
}

// twoTables loads the same edges into a row an edge and side.
func twoTables(t *testing.T, server *mysqld.Server, path string, kith time.Duration) {
	pool := open(t, server, "two_tables")
	plain := filepath.Join(t.TempDir(), "edges.txt")
	lines := fileEdges(t, path)
	if err := os.WriteFile(plain, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE follows (follower BIGINT UNSIGNED NOT NULL, followee BIGINT UNSIGNED NOT NULL, created_at INT UNSIGNED NOT NULL, PRIMARY KEY (follower, followee), KEY (follower, created_at)) ENGINE=InnoDB`,
		`CREATE TABLE fans (followee BIGINT UNSIGNED NOT NULL, follower BIGINT UNSIGNED NOT NULL, created_at INT UNSIGNED NOT NULL, PRIMARY KEY (followee, follower), KEY (followee, created_at)) ENGINE=InnoDB`,
	} {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	mysql.RegisterLocalFile(plain)
	defer mysql.DeregisterLocalFile(plain)
	for _, table := range []string{"follows", "fans"} {
		_, err := pool.Exec(fmt.Sprintf(`LOAD DATA LOCAL INFILE '%s' INTO TABLE %s FIELDS TERMINATED BY ' ' (follower, followee) SET created_at = 0`, plain, table))
		if err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(start)
	var size int64
	for _, table := range []string{"follows", "fans"} {
		data, index := dataBytes(t, pool, table)
		size += data + index
	}
	t.Logf("two tables: %v, %d bytes, %.2f an edge and side; kith: %v", took.Round(time.Millisecond), size,
		float64(size)/float64(2*len(lines)), kith.Round(time.Millisecond))
	if kith > took*2/3 {
		t.Errorf("got %v for kith, want clearly less than the %v of LOAD DATA", kith, took)
	}
}
