package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/app/graph"
	"kith/repo/account"
	"kith/repo/dbtest"
)

// A file of which too little can be used is taken for a file of another kind.
func TestImport_Unusable(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2)
	good, self, bad := fmt.Sprintf("%d %d\n", ids[0], ids[1]), fmt.Sprintf("%d %d\n", ids[0], ids[0]), "x y\n"
	for _, c := range []struct {
		name, text string
		most       int
		refused    bool
	}{
		{"Every", strings.Repeat(bad, 3), 1000, true},
		{"EveryAnyNumber", strings.Repeat(bad, 3) + "# x\n", -1, true},
		{"Half", strings.Repeat(bad+good, 3), 1000, false},
		{"MoreThanHalf", strings.Repeat(bad+good, 3) + bad, 1000, true},
		{"MoreThanHalfAnyNumber", strings.Repeat(bad+good, 3) + bad, -1, false},
		{"SelfFollows", bad + self, 1000, false},
		{"NoLine", "# x\n", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rejects bytes.Buffer
			cfg := w.config(strings.NewReader(c.text))
			cfg.Rejects, cfg.MaxRejects, cfg.DryRun = &rejects, c.most, true
			got, err := graph.Import(t.Context(), cfg)
			if errors.Is(err, graph.ErrRejects) != c.refused || err != nil && !c.refused {
				t.Errorf("got %v, want refused %v", err, c.refused)
			}
			if err != nil && (errors.Is(err, graph.ErrPartial) || !strings.Contains(err.Error(), "nothing was imported")) {
				t.Errorf("got %v, want that nothing was imported", err)
			}
			if n := strings.Count(rejects.String(), "\n"); int64(n) != got.Rejected || n != strings.Count(c.text, bad) {
				t.Errorf("got %d rejects written, %d counted", n, got.Rejected)
			}
		})
	}
}

func TestImport_DryRun(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 60)
	if _, err := w.accounts.Ensure(t.Context(), ids[:10], 1); err != nil {
		t.Fatal(err)
	}
	text, edges := randomGraph(ids, 3000, 11)
	cfg := w.config(strings.NewReader("no edge\n" + text))
	cfg.DryRun, cfg.MaxRejects, cfg.Memory, cfg.TempDir = true, 1, 1, t.TempDir()
	got := mustImport(t, cfg)
	if got.Edges != int64(len(edges)) || got.AccountsMade != 50 || got.Rejected != 1 || got.Lines != 3001 || got.EdgesNew+got.RowsWritten != 0 {
		t.Errorf("got %+v, want %d edges and 50 accounts to be made", got, len(edges))
	}
	if said := got.String(); !strings.Contains(said, "accounts to be made       50\n") || strings.Contains(said, "new") {
		t.Errorf("it says\n%s", said)
	}
	if lines := w.exported(t, ids); len(lines) > 0 {
		t.Errorf("%d edges were written", len(lines))
	}
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) != 10 {
		t.Errorf("got %d accounts, %v; want the 10 of before", len(have), err)
	}
}

// Who was erased does not come back, whichever file names them.
func TestImport_Erased(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 4)
	a, b, gone, d := ids[0], ids[1], ids[2], ids[3]
	text := fmt.Sprintf("%d %d\n%d %d\n%d %d\n%d %d\n%d %d\n", a, b, b, a, a, d, gone, a, b, gone)
	mustImport(t, w.config(strings.NewReader(text)))
	if err := w.accounts.Bury(t.Context(), gone, 1); err != nil {
		t.Fatal(err)
	}
	var rejects bytes.Buffer
	cfg := w.config(strings.NewReader(text))
	cfg.Rejects, cfg.MaxRejects = &rejects, 2
	got := mustImport(t, cfg)
	if got.Rejected != 2 || got.Edges != 3 || got.EdgesHeld != 3 || got.AccountsMade != 0 {
		t.Errorf("got %+v, want 2 rejected and 3 held", got)
	}
	if want := fmt.Sprintf("line 4: erased: \"%d %d\"\nline 5: erased: \"%d %d\"\n", gone, a, b, gone); rejects.String() != want {
		t.Errorf("got rejects\n%s\nwant\n%s", &rejects, want)
	}
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) != 3 {
		t.Errorf("got %d accounts, %v; want that %d is gone", len(have), err, gone)
	}

	// Erased while the import runs: it stops before it writes an edge.
	late := dbtest.IDs(t, 3)
	cfg = w.config(strings.NewReader(fmt.Sprintf("%d %d\n%d %d\n", late[0], late[1], late[1], late[2])))
	cfg.Progress = func(p graph.Progress) {
		if p.Phase == "sort" {
			if err := w.accounts.Bury(t.Context(), late[2], 1); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := graph.Import(t.Context(), cfg); !errors.Is(err, account.ErrErased) {
		t.Errorf("got %v, want %v", err, account.ErrErased)
	}
	if lines := w.exported(t, late); len(lines) > 0 {
		t.Errorf("edges %q were written", lines)
	}
	if have, err := w.accounts.Load(t.Context(), late[2:]); err != nil || len(have) > 0 {
		t.Errorf("%d came back, %v", late[2], err)
	}
}

// More tombstones than the import may keep are refused, not forgotten.
func TestImport_ErasedTooMany(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	cfg := w.config(strings.NewReader("1 2\n"))
	cfg.Memory, cfg.Accounts = 1<<20, manyErased{cfg.Accounts}
	_, err := graph.Import(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "give the import more memory") || !strings.Contains(err.Error(), "nothing was imported") {
		t.Errorf("got %v, want that the memory does not do", err)
	}
}

type manyErased struct{ graph.Accounts }

func (manyErased) Erased(_ context.Context, most int) ([]uint64, error) {
	return slices.Repeat([]uint64{7}, most), nil
}
