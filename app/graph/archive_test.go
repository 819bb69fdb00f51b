package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/relation"
)

// Imports and exports of rows that have entries in the archive: what stands
// there is held, not added again, and is written out.
func TestImport_Archive(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 30)
	text, edges := randomGraph(ids, 1500, 11)
	mustImport(t, w.config(strings.NewReader(text)))
	edits := relation.NewEdits(w.rows, func() time.Time { return testNow })
	cut := 0
	for _, id := range ids[:20] { // rows of which only the other side knows, and pairs of which no row knows
		done, err := edits.Trim(t.Context(), id, 3)
		if err != nil {
			t.Fatal(err)
		}
		cut += done.Entries
	}
	if cut < len(ids) {
		t.Fatalf("only %d entries were cut", cut)
	}
	t.Run("export", func(t *testing.T) {
		got := w.exported(t, ids)
		if len(got) != len(edges) {
			t.Errorf("%d lines, want %d", len(got), len(edges))
		}
	})
	t.Run("the same file again", func(t *testing.T) {
		before := w.exported(t, ids)
		got := mustImport(t, w.config(strings.NewReader(text)))
		if got.EdgesNew != 0 || got.EdgesHeld != int64(len(edges)) || got.RowsWritten != 0 {
			t.Errorf("got %+v; want all %d held", got, len(edges))
		}
		if after := w.exported(t, ids); !slices.Equal(before, after) {
			t.Error("the edges changed")
		}
	})
	t.Run("the other direction makes friends", func(t *testing.T) {
		var back strings.Builder
		for e := range edges {
			var from, to, at uint64
			if _, err := fmt.Sscan(e, &from, &to, &at); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&back, "%d %d 5\n", to, from)
		}
		mustImport(t, w.config(strings.NewReader(back.String())))
		counts, err := relation.New(dbtest.DB(t), dbtest.DB(t), cache.NewNone(), 0).Counts(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range counts {
			if c.Friends != c.Followers || c.Friends != c.Following {
				t.Errorf("counts of %d: %+v; want every edge mutual", ids[i], c)
			}
		}
		lines := w.exported(t, ids)
		slices.Sort(lines)
		if n := len(slices.Compact(lines)); n != len(lines) {
			t.Errorf("%d lines, %d of them different", len(lines), n)
		}
	})
}
