package graph_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/graph"
	"kith/repo/accepttest"
	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/relation"
)

// longAccount is a file in which one account is followed by n others and follows
// every tenth of them back.
func longAccount(star, first uint64, n int, seed uint64) (text string, edges []string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range uint64(n) {
		edges = append(edges, fmt.Sprintf("%d %d %d", first+i, star, 1+r.Uint32N(1000)))
		if i%10 == 0 {
			edges = append(edges, fmt.Sprintf("%d %d %d", star, first+i, 1+r.Uint32N(1000)))
		}
	}
	slices.Sort(edges)
	return strings.Join(edges, "\n") + "\n", edges
}

// An account with more edges than a chunk takes comes in parts, each of which meets
// what the parts before left in the archive.
func TestImport_Parts(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	w.rows = relation.New(dbtest.DB(t), cache.NewNone(), 500, time.Now)
	star := dbtest.IDs(t, 1)[0]
	const first, n = 50_000_000, 12_000
	text, edges := longAccount(star, first, n, 1)
	run := func() graph.Summary {
		cfg := w.config(strings.NewReader(text))
		cfg.Memory = 4 << 20 // parts of 6,500 edges
		return mustImport(t, cfg)
	}
	if sum := run(); sum.EdgesNew != int64(len(edges)) {
		t.Fatalf("got %+v, want %d new edges", sum, len(edges))
	}
	want := relation.Counts{Friends: n / 10, Followers: n, Following: n / 10}
	if c, err := w.rows.Counts(t.Context(), []uint64{star}); err != nil || c[0] != want {
		t.Errorf("got %+v, %v; want %+v", c, err, want)
	}
	if got := w.exportedAll(t, star, first, n); !slices.Equal(got, edges) {
		t.Errorf("%d lines came out, %d went in", len(got), len(edges))
	}
	if sum := run(); sum.EdgesNew != 0 || sum.RowsWritten != 0 || sum.EdgesHeld != int64(len(edges)) {
		t.Errorf("the same file again: %+v, want all held and nothing written", sum)
	}
}

// exportedAll returns the exported lines of the edges between an account and others.
func (w *world) exportedAll(t *testing.T, star, first uint64, n int) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	if _, err := graph.Export(t.Context(), graph.ExportConfig{Rows: w.rows, Writer: &out}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var from, to uint64
		if _, err := fmt.Sscan(line, &from, &to); err != nil {
			t.Fatal(err)
		}
		if from == star || from >= first && from < first+uint64(n) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines
}

// A file of any length: one account has more edges than one list ever held.
func TestAccept_LongAccount(t *testing.T) {
	accepttest.Long(t)
	w := newWorld(t, dbtest.DB(t))
	w.rows = relation.New(dbtest.DB(t), cache.NewNone(), 10_000, time.Now)
	star := dbtest.IDs(t, 1)[0]
	const n = 3_200_000
	text, edges := longAccount(star, 100_000_000, n, 2)
	sum := mustImport(t, w.config(strings.NewReader(text)))
	t.Logf("%d edges in %v", sum.EdgesNew, sum.Duration)
	want := relation.Counts{Friends: n / 10, Followers: n, Following: n / 10}
	if c, err := w.rows.Counts(t.Context(), []uint64{star}); err != nil || c[0] != want || sum.EdgesNew != int64(len(edges)) {
		t.Errorf("got %+v, %v, %+v; want %+v", c, err, sum, want)
	}
}
