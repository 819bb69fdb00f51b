package graph_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/app/graph"
	"kith/repo/dbtest"
	"kith/repo/list"
)

// TestExport walks over more rows than are looked up at once, in every bucket.
func TestExport(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2500)
	var want []string
	for i, id := range ids {
		want = append(want, fmt.Sprintf("%d %d %d", id, ids[(i+7)%len(ids)], 1+i))
	}
	mustImport(t, w.config(strings.NewReader(strings.Join(want, "\n"))))
	slices.Sort(want)
	if got := w.exported(t, ids); !slices.Equal(got, want) {
		t.Errorf("got %d lines that are not the %d imported ones", len(got), len(want))
	}
	var seen graph.Progress
	n, err := graph.Export(t.Context(), graph.ExportConfig{Rows: w.rows, Writer: io.Discard, Progress: func(p graph.Progress) { seen = p }})
	if err != nil || n < 2500 || seen != (graph.Progress{Phase: "export", Done: n}) {
		t.Errorf("got %d edges, %v, progress %+v; want 2,500 or more", n, err, seen)
	}
}

type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }

func TestExport_Fails(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2)
	mustImport(t, w.config(strings.NewReader(fmt.Sprintf("%d %d", ids[0], ids[1]))))
	full := errors.New("disk full")
	if _, err := graph.Export(t.Context(), graph.ExportConfig{Rows: w.rows, Writer: fullDisk{full}}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := graph.Export(ctx, graph.ExportConfig{Rows: w.rows, Writer: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

func TestImport_Progress(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	text, _ := randomGraph(dbtest.IDs(t, 20), 5000, 11)
	path := filepath.Join(t.TempDir(), "graph.gz")
	if err := os.WriteFile(path, zipped(t, text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[string]graph.Progress)
	var phases []string
	cfg := w.config(f)
	cfg.Progress = func(p graph.Progress) {
		if last[p.Phase] == (graph.Progress{}) {
			phases = append(phases, p.Phase)
		}
		last[p.Phase] = p
	}
	mustImport(t, cfg)
	if want := []string{"read", "sort", "accounts", "write", "check"}; !slices.Equal(phases, want) {
		t.Errorf("got phases %v, want %v", phases, want)
	}
	if got, want := last["read"], (graph.Progress{Phase: "read", Done: info.Size(), Total: info.Size()}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := last["write"]; got.Done != got.Total || got.Total != 2*int64(5000)-2*selfLines(text) {
		t.Errorf("got %+v, want two sides for each line", got)
	}
}

func selfLines(text string) (n int64) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); f[0] == f[1] {
			n++
		}
	}
	return n
}

// A row that cannot be read is named; the others are written.
func TestExport_BadRow(t *testing.T) {
	pool := dbtest.Fresh(t)
	dbtest.Migrate(t, pool)
	w := newWorld(t, pool)
	mustImport(t, w.config(strings.NewReader("1 2\n2 3\n3 1\n")))
	pool.MustExec(`UPDATE relation SET list = LEFT(list, 6) WHERE bucket = 2 AND account_id = 2`)
	var out strings.Builder
	n, err := graph.Export(t.Context(), graph.ExportConfig{Rows: w.rows, Writer: &out})
	if !errors.Is(err, list.ErrFormat) || !strings.Contains(err.Error(), "account 2") {
		t.Errorf("got %v, want that the list of account 2 cannot be read", err)
	}
	if n != 2 || out.String() != "1 2\n3 1\n" {
		t.Errorf("got %d edges, %q; want the others", n, out.String())
	}
}
