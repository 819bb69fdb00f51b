package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/repo/cache"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

// Imports and exports of rows that have entries in the archive: what stands
// there is held, not added again, and is written out.
func TestImport_Archive(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 30)
	text, edges := randomGraph(ids, 1500, 11)
	mustImport(t, w.config(strings.NewReader(text)))
	cut := 0
	for _, id := range ids[:20] { // rows of which only the other side knows, and pairs of which no row knows
		done, err := w.rows.Trim(t.Context(), id, 3)
		if err != nil {
			t.Fatal(err)
		}
		cut += done
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
		counts, err := relation.New(dbtest.DB(t), cache.NewNone(), 0, time.Now).Counts(t.Context(), ids)
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

// A file with edges between people who block, whose blocks are archived, changes
// nothing the second time: blocks are looked at, not moved.
func TestImport_ArchivedBlocks(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	w.rows = relation.New(dbtest.DB(t), cache.NewNone(), 5, func() time.Time { return testNow })
	ids := dbtest.IDs(t, 40)
	var text strings.Builder
	for i, other := range ids[1:] {
		won, err := w.rows.Locked(t.Context(), []uint64{ids[0], other}, nil, func(rows map[uint64]*relation.Draft) (out []relation.Row, err error) {
			rows[ids[0]].Put(list.Blocking, other, uint32(i+1))
			rows[other].Put(list.BlockedBy, ids[0], uint32(i+1))
			for _, d := range rows {
				r, err := w.rows.Pack(d)
				if err != nil {
					return nil, err
				}
				out = append(out, r)
			}
			return out, nil
		})
		if !won || err != nil {
			t.Fatal(won, err)
		}
		fmt.Fprintf(&text, "%d %d\n%d %d\n", ids[0], other, other, ids[0])
	}
	for range 2 {
		got := mustImport(t, w.config(strings.NewReader(text.String())))
		if got.RowsWritten != 0 || got.EdgesNew != 0 || got.Blocked == 0 {
			t.Errorf("got %+v, want all blocked and nothing written", got)
		}
	}
}
