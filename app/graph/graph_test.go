package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/graph"
	"kith/app/intake"
	apprelation "kith/app/relation"
	"kith/repo/account"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/dbtest"
	"kith/repo/relation"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var testNow = time.Unix(1_700_000_000, 0)

// world is the stores of one database and a committer.
type world struct {
	rows      *relation.Store
	accounts  *account.Store
	committer *committer.Committer[*relation.Draft, relation.Row]
	relations *apprelation.Service
	changes   []apprelation.Change // that the service gave
}

func newWorld(t testing.TB, pool *sqlx.DB) *world {
	t.Helper()
	w := &world{rows: relation.New(pool, cache.NewNone(), 0, func() time.Time { return testNow }), accounts: account.New(pool, cache.NewNone())}
	w.committer = committer.New(w.rows, committer.Config{})
	t.Cleanup(func() { w.committer.Close(context.Background()) })
	w.relations = apprelation.New(apprelation.Config{Rows: w.rows, Committer: w.committer, Accounts: w.accounts, Now: func() time.Time { return testNow },
		Listeners: []func(apprelation.Change){func(c apprelation.Change) { w.changes = append(w.changes, c) }}})
	return w
}

func (w *world) config(file io.Reader) graph.ImportConfig {
	return graph.ImportConfig{
		Config: intake.Config{Reader: file}, Accounts: w.accounts, Rows: w.rows, Relations: w.relations,
		Now: func() time.Time { return testNow },
	}
}

func mustImport(t *testing.T, cfg graph.ImportConfig) graph.Summary {
	t.Helper()
	sum, err := graph.Import(t.Context(), cfg)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	balance(t, sum)
	return sum
}

// balance checks that each line and each edge is counted once.
func balance(t *testing.T, s graph.Summary) {
	t.Helper()
	if got := s.Comments + s.Rejected + s.SelfFollows + s.Repeats + s.Edges; got != s.Lines {
		t.Errorf("got %d lines counted of %d: %+v", got, s.Lines, s)
	}
	if got := s.EdgesNew + s.EdgesHeld + s.Blocked; got != s.Edges && !s.DryRun {
		t.Errorf("got %d edges counted of %d: %+v", got, s.Edges, s)
	}
}

// exported returns the lines of an export that begin with one of ids.
func (w *world) exported(t *testing.T, ids []uint64) []string {
	t.Helper()
	var out bytes.Buffer
	if _, err := graph.Export(t.Context(), graph.ExportConfig{Rows: w.rows, Writer: &out}); err != nil {
		t.Fatalf("export: %v", err)
	}
	mine := make(map[string]bool)
	for _, id := range ids {
		mine[fmt.Sprint(id)] = true
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if first, _, _ := strings.Cut(line, " "); mine[first] {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines
}

// state returns every ver and the bytes of every list of ids.
func (w *world) state(t *testing.T, ids []uint64) map[uint64]string {
	t.Helper()
	rows, err := w.rows.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[uint64]string)
	for id, r := range rows {
		out[id] = fmt.Sprintf("%d %+v %x", r.Ver, r.Counts, r.List)
	}
	return out
}
