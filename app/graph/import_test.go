package graph_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"kith/app/graph"
	"kith/repo"
	"kith/repo/accepttest"
	"kith/repo/dbtest"
	"kith/repo/list"
	"kith/repo/relation"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImport(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 4)
	a, b, c, d := ids[0], ids[1], ids[2], ids[3]
	var rejects bytes.Buffer
	cfg := w.config(strings.NewReader(fmt.Sprintf("\ufeff# a graph\n%d %d 100\r\n%d,%d,50\n\n%d\t%d\n%d %d\nfoo %d\n%d %d 7\n%d %d 3\n0 5\n%d %d\n%d",
		a, b, b, a, a, c, a, a, b, c, d, c, d, c, d, a)))
	cfg.Rejects, cfg.MaxRejects = &rejects, 3
	got := mustImport(t, cfg)
	want := graph.Summary{Lines: 12, Comments: 2, Rejected: 3, SelfFollows: 1, Repeats: 2, Edges: 4, EdgesNew: 4,
		AccountsMade: 4, RowsWritten: 4, Duration: got.Duration}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	wantRejects := fmt.Sprintf("line 7: not a number: %q\nline 10: id is 0: \"0 5\"\nline 12: cut short: %q\n", fmt.Sprintf("foo %d", b), fmt.Sprint(a))
	if rejects.String() != wantRejects {
		t.Errorf("got rejects\n%s\nwant\n%s", &rejects, wantRejects)
	}
	wantLines := []string{fmt.Sprintf("%d %d 100", a, b), fmt.Sprintf("%d %d", a, c), fmt.Sprintf("%d %d 50", b, a), fmt.Sprintf("%d %d 3", c, d)}
	slices.Sort(wantLines)
	if lines := w.exported(t, ids); !slices.Equal(lines, wantLines) {
		t.Errorf("got edges %q, want %q", lines, wantLines)
	}
	w.whole(t, ids)
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) != 4 {
		t.Errorf("got %d accounts, %v; want 4", len(have), err)
	}
}

// whole checks that both sides of every edge between ids agree and that the
// counts are those of the lists.
func (w *world) whole(t *testing.T, ids []uint64) (edges int) {
	t.Helper()
	rows, err := w.rows.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	drafts := make(map[uint64]*relation.Draft)
	for id, r := range rows {
		v, err := r.View()
		if err == nil {
			err = v.Check()
		}
		if err != nil {
			t.Fatalf("account %d: %v", id, err)
		}
		if drafts[id], err = relation.Open(r); err != nil {
			t.Fatal(err)
		}
		friends := uint32(v.Len(list.Friends))
		want := relation.Counts{Friends: friends, Followers: friends + uint32(v.Len(list.Followers)), Following: friends + uint32(v.Len(list.Following))}
		if r.Counts != want {
			t.Errorf("account %d: got counts %+v, want %+v of the list", id, r.Counts, want)
		}
	}
	for a, mine := range drafts {
		for b, theirs := range drafts {
			out, in := mine.Rel(b)&list.IsFollowing != 0, theirs.Rel(a)&list.IsFollower != 0
			outAt, _ := mine.Times(b)
			_, inAt := theirs.Times(a)
			if out != in || out && outAt != inAt {
				t.Errorf("%d follows %d: got %v since %d in the follower's row, %v since %d in the followee's", a, b, out, outAt, in, inAt)
			}
			if out {
				edges++
			}
			if out && mine.Rel(b)&(list.IsBlocking|list.IsBlockedBy) != 0 {
				t.Errorf("%d follows %d, but one blocks the other", a, b)
			}
		}
	}
	return edges
}

// randomGraph returns lines between ids and the edges they mean.
func randomGraph(ids []uint64, lines int, seed uint64) (string, map[string]bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	edges := make(map[string]bool)
	for range lines {
		x, y := ids[rng.IntN(len(ids))], ids[rng.IntN(len(ids))]
		fmt.Fprintf(&b, "%d %d %d\n", x, y, 1000+x%100+y%10)
		if x != y {
			edges[fmt.Sprintf("%d %d %d", x, y, 1000+x%100+y%10)] = true
		}
	}
	return b.String(), edges
}

// TestImport_Again imports a file in memory, spilled, zipped and plain, in pieces
// of a byte, and looks that the second time changes nothing.
func TestImport_Again(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 302)
	ids[300], ids[301] = ids[300]+1<<40, ids[301]+1<<62
	text, edges := randomGraph(ids, 20_000, 1)
	dir := t.TempDir()
	cfg := w.config(bytes.NewReader(zipped(t, text)))
	cfg.Memory, cfg.TempDir = 1<<20, dir
	first := mustImport(t, cfg)
	if first.EdgesNew != int64(len(edges)) || first.Spilled == 0 {
		t.Errorf("got %+v, want %d new edges and runs on disk", first, len(edges))
	}
	if n := w.whole(t, ids); n != len(edges) {
		t.Errorf("got %d edges, want %d", n, len(edges))
	}
	if lines := w.exported(t, ids); !slices.Equal(lines, slices.Sorted(maps.Keys(edges))) {
		t.Errorf("got another export than what was imported, %d lines of %d", len(lines), len(edges))
	}
	before := w.state(t, ids)
	for name, r := range map[string]io.Reader{
		"Plain": strings.NewReader(text), "Bytes": iotest.OneByteReader(strings.NewReader(text)), "DataErr": iotest.DataErrReader(strings.NewReader(text)),
	} {
		again := mustImport(t, w.config(r))
		if again.EdgesHeld != int64(len(edges)) || again.RowsWritten+again.AccountsMade+again.Settled+again.RowsMoved != 0 {
			t.Errorf("%s: got %+v, want that nothing changes", name, again)
		}
		if after := w.state(t, ids); !maps.Equal(before, after) {
			t.Errorf("%s: got changed rows, want none", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("got %d files left behind, want none", len(left))
	}
}

func TestImport_Merges(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 5)
	a, b, c, d, e := ids[0], ids[1], ids[2], ids[3], ids[4]
	w.edit(t, a, b, func(me, them *relation.Draft) { me.AddFollowing(b, 900); them.AddFollower(a, 900) })
	w.edit(t, a, c, func(me, them *relation.Draft) { me.Put(list.Blocking, c, 5); them.Put(list.BlockedBy, a, 5) })
	w.edit(t, a, d, func(me, them *relation.Draft) { me.Put(list.Requested, d, 5); them.Put(list.Requests, a, 5) })
	w.edit(t, a, e, func(me, _ *relation.Draft) { me.AddFollowing(e, 800) }) // a half edge
	got := mustImport(t, w.config(strings.NewReader(fmt.Sprintf("%d %d 1\n%d %d 2\n%d %d 3\n%d %d 4\n%d %d 5\n%d %d 6\n",
		a, b, b, a, a, c, c, a, a, d, a, e))))
	want := graph.Summary{Lines: 6, Edges: 6, EdgesNew: 2, EdgesHeld: 2, Blocked: 2, AccountsMade: 5, RowsWritten: 4, Settled: 1, Duration: got.Duration}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	wantLines := []string{fmt.Sprintf("%d %d 900", a, b), fmt.Sprintf("%d %d 2", b, a), fmt.Sprintf("%d %d 5", a, d), fmt.Sprintf("%d %d 800", a, e)}
	slices.Sort(wantLines)
	if lines := w.exported(t, ids); !slices.Equal(lines, wantLines) {
		t.Errorf("got edges %q, want %q", lines, wantLines)
	}
	w.whole(t, ids)
	rows, err := w.rows.Fresh(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if v, _ := rows[id].View(); v.Len(list.Requests)+v.Len(list.Requested) > 0 {
			t.Errorf("account %d: got an open request for an edge that exists", id)
		}
	}
}

// edit changes the rows of two accounts through the committer.
func (w *world) edit(t *testing.T, a, b uint64, change func(me, them *relation.Draft)) {
	t.Helper()
	err := w.committer.Do(t.Context(), []uint64{a, b}, func(rows map[uint64]*relation.Draft) error {
		change(rows[a], rows[b])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImport_TooManyRejects(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2)
	text := fmt.Sprintf("%d %d\nx\ny\n%d %d\n", ids[0], ids[1], ids[1], ids[0])
	var rejects bytes.Buffer
	cfg := w.config(strings.NewReader(text))
	cfg.Rejects, cfg.MaxRejects = &rejects, 1
	got, err := graph.Import(t.Context(), cfg)
	if !errors.Is(err, graph.ErrRejects) || errors.Is(err, graph.ErrPartial) || got.Rejected != 2 || strings.Count(rejects.String(), "\n") != 2 {
		t.Errorf("got %v, %d rejects, %q; want %v with 2", err, got.Rejected, &rejects, graph.ErrRejects)
	}
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) > 0 {
		t.Errorf("got %d accounts, %v; want that nothing was written", len(have), err)
	}
	cfg = w.config(strings.NewReader(text))
	cfg.MaxRejects = -1
	mustImport(t, cfg)
}

// A compressed file that breaks off is no shorter file: nothing of it is imported.
func TestImport_CutShort(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 50)
	text, _ := randomGraph(ids, 3000, 2)
	long := zipped(t, text+"#"+strings.Repeat("x", 1<<20)+strings.Repeat("1 2\n", 10))
	whole := zipped(t, text)
	for _, part := range [][]byte{whole[:3], whole[:15], whole[:len(whole)/2], whole[:len(whole)-4], long[:len(long)-30]} {
		_, err := graph.Import(t.Context(), w.config(bytes.NewReader(part)))
		if !errors.Is(err, graph.ErrUnreadable) || !strings.Contains(err.Error(), "breaks off") || !strings.Contains(err.Error(), "nothing was imported") {
			t.Errorf("%d bytes: got %v, want an error that says it", len(part), err)
		}
	}
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) > 0 {
		t.Errorf("got %d accounts, %v; want that nothing was written", len(have), err)
	}
}

func TestImport_Unreadable(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2)
	good := zipped(t, fmt.Sprintf("%d %d\n", ids[0], ids[1]))
	bad := bytes.Clone(good)
	bad[len(bad)-6] ^= 1 // the sum
	errDisk := errors.New("disk on fire")
	for name, r := range map[string]io.Reader{
		"Sum":   bytes.NewReader(bad),
		"Magic": strings.NewReader("\x1f\x8b no gzip at all"),
		"Error": io.MultiReader(strings.NewReader(fmt.Sprintf("%d %d\n", ids[0], ids[1])), iotest.ErrReader(errDisk)),
	} {
		_, err := graph.Import(t.Context(), w.config(r))
		if !errors.Is(err, graph.ErrUnreadable) || !strings.Contains(err.Error(), "nothing was imported") || name == "Error" && !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v, want an error that says that nothing was imported", name, err)
		}
	}
	if have, err := w.accounts.Load(t.Context(), ids); err != nil || len(have) > 0 {
		t.Errorf("got %d accounts, %v; want none", len(have), err)
	}
}

func TestImport_LongLines(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 2)
	long := strings.Repeat("x", 200_000)
	var rejects bytes.Buffer
	cfg := w.config(strings.NewReader(fmt.Sprintf("#%s\n%s\n%d %d\n1 2 #%s", long, long, ids[0], ids[1], long)))
	cfg.Rejects, cfg.MaxRejects = &rejects, -1
	got := mustImport(t, cfg)
	if got.Lines != 4 || got.Comments != 1 || got.Rejected != 2 || got.Edges != 1 {
		t.Errorf("got %+v, want a comment, two rejects and an edge", got)
	}
	want := fmt.Sprintf("line 2: line is too long: %q\n", long[:80])
	if first, _, _ := strings.Cut(rejects.String(), "line 4"); first != want {
		t.Errorf("got %q, want %q", first, want)
	}
}

func TestImport_Empty(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	for _, text := range []string{"", "\n", "# nothing\n"} {
		cfg := w.config(strings.NewReader(text))
		cfg.MaxRejects = 1
		if got := mustImport(t, cfg); got.Edges != 0 {
			t.Errorf("%q: got %+v, want no edges", text, got)
		}
	}
}

// TestImport_Interrupted: a reader that does not return, and a stop while
// writing, after which the same file completes the import.
func TestImport_Interrupted(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	t.Run("Reading", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stuck, hold := io.Pipe()
		defer hold.Close()
		go func() {
			io.WriteString(hold, "1 2\n")
			cancel()
		}()
		_, err := graph.Import(ctx, w.config(stuck))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nothing was imported") {
			t.Errorf("got %v, want an interrupt", err)
		}
	})
	t.Run("Writing", func(t *testing.T) {
		ids := dbtest.IDs(t, 60)
		text, edges := randomGraph(ids, 2000, 3)
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		cfg := w.config(strings.NewReader(text))
		cfg.TempDir, cfg.Memory, cfg.Writers = dir, 1, 1
		cfg.Rows = &hookRows{Store: w.rows,
			lose: func(n int, _ []relation.Row) bool { return n == 1 },
			beforeSwap: func(n int) {
				if n == 3 { // the second half
					cancel()
				}
			}}
		_, err := graph.Import(ctx, cfg)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, graph.ErrPartial) || !strings.Contains(err.Error(), "run again") {
			t.Errorf("got %v, want an interrupt", err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("got %d files left behind, want none", len(left))
		}
		got := mustImport(t, w.config(strings.NewReader(text)))
		if n := w.whole(t, ids); n != len(edges) || got.Edges != int64(n) {
			t.Errorf("got %d edges after %+v, want %d", n, got, len(edges))
		}
	})
}

// hookRows calls beforeSwap with the number of each swap, and may lose it.
type hookRows struct {
	*relation.Store
	beforeSwap func(n int)
	lose       func(n int, rows []relation.Row) bool
	fail       func(n int) error
	n          int
	locked     int
}

func (h *hookRows) MergeLocked(ctx context.Context, id uint64, edges []list.Edge, merge func(*relation.Draft, []list.Edge)) (relation.Row, error) {
	h.locked++
	return h.Store.MergeLocked(ctx, id, edges, merge)
}

func (h *hookRows) Swap(ctx context.Context, rows []relation.Row) (bool, error) {
	h.n++
	if h.beforeSwap != nil {
		h.beforeSwap(h.n)
	}
	if h.fail != nil {
		if err := h.fail(h.n); err != nil {
			return false, err
		}
	}
	if h.lose != nil && h.lose(h.n, rows) {
		return false, nil
	}
	return h.Store.Swap(ctx, rows)
}

func TestImport_LostSwaps(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	t.Run("Some", func(t *testing.T) {
		ids := dbtest.IDs(t, 40)
		text, edges := randomGraph(ids, 1000, 4)
		cfg := w.config(strings.NewReader(text))
		cfg.Writers = 1
		cfg.Rows = &hookRows{Store: w.rows, lose: func(n int, _ []relation.Row) bool { return n%3 != 0 }}
		got := mustImport(t, cfg)
		if n := w.whole(t, ids); n != len(edges) || got.LostSwaps == 0 || got.EdgesNew != int64(n) {
			t.Errorf("got %d edges, %+v; want %d", n, got, len(edges))
		}
	})
	t.Run("OneForEver", func(t *testing.T) {
		ids := dbtest.IDs(t, 10)
		text, edges := randomGraph(ids, 200, 5)
		cfg := w.config(strings.NewReader(text))
		cfg.Writers = 1
		hook := &hookRows{Store: w.rows, lose: func(_ int, rows []relation.Row) bool {
			return slices.ContainsFunc(rows, func(r relation.Row) bool { return r.ID == ids[3] })
		}}
		cfg.Rows = hook
		got := mustImport(t, cfg)
		if n := w.whole(t, ids); n != len(edges) || hook.locked != 1 || got.RowsMoved != 0 || got.RowsWritten != 10 || got.Settled != 0 {
			t.Errorf("got %d edges, %d rows written under lock, %+v; want %d edges and one row", n, hook.locked, got, len(edges))
		}
	})
	t.Run("Unavailable", func(t *testing.T) {
		ids := dbtest.IDs(t, 10)
		text, edges := randomGraph(ids, 200, 6)
		cfg := w.config(strings.NewReader(text))
		cfg.Writers = 1
		cfg.Rows = &hookRows{Store: w.rows, fail: func(n int) error {
			if n < 4 {
				return repo.ErrUnavailable
			}
			return nil
		}}
		mustImport(t, cfg)
		if n := w.whole(t, ids); n != len(edges) {
			t.Errorf("got %d edges, want %d", n, len(edges))
		}
	})
	t.Run("TooLarge", func(t *testing.T) {
		ids := dbtest.IDs(t, 10)
		text, _ := randomGraph(ids, 200, 7)
		cfg := w.config(strings.NewReader(text))
		cfg.Rows = &hookRows{Store: w.rows, fail: func(int) error { return repo.ErrTooLarge }}
		if _, err := graph.Import(t.Context(), cfg); !errors.Is(err, repo.ErrTooLarge) {
			t.Errorf("got %v, want %v", err, repo.ErrTooLarge)
		}
	})
}

// TestImport_RealFile reads a real file that ends in the middle of a number,
// which cannot be known, and half of it compressed, which can.
func TestImport_RealFile(t *testing.T) {
	whole, err := os.ReadFile(accepttest.File(t, "higgs-follows-part.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	for _, tt := range []struct {
		bytes []byte
		want  error
		lines int64
	}{{whole, stop, 355_075}, {whole[:len(whole)/2], graph.ErrUnreadable, 170_000}} {
		w := newWorld(t, dbtest.DB(t))
		cfg := w.config(bytes.NewReader(tt.bytes))
		cfg.MaxRejects = 1
		cfg.Accounts = noAccounts{cfg.Accounts, stop} // reading is what is tested
		got, err := graph.Import(t.Context(), cfg)
		if !errors.Is(err, tt.want) || got.Lines < tt.lines || got.Rejected > 1 {
			t.Errorf("got %+v, %v; want %d lines or more, and %v", got, err, tt.lines, tt.want)
		}
	}
}

type noAccounts struct {
	graph.Accounts
	err error
}

func (n noAccounts) Ensure(context.Context, []uint64, uint64) (int, error) { return 0, n.err }

// strict is rows that refuse to name anybody who is no account.
type strict struct{ *relation.Store }

func (s strict) Swap(ctx context.Context, rows []relation.Row) (bool, error) {
	var ids []uint64
	for _, r := range rows {
		v, err := r.View()
		if err != nil {
			return false, err
		}
		ids = v.AppendIDs(append(ids, r.ID), list.ByFollower)
		_ = v.Each(list.Following, func(id uint64, _, _ uint32) bool { ids = append(ids, id); return true })
	}
	if missing, err := s.Missing(ctx, ids); err != nil || len(missing) > 0 {
		return false, fmt.Errorf("rows name %d who do not exist: %v", len(missing), err)
	}
	return s.Store.Swap(ctx, rows)
}

// All accounts exist before any row names them, however many chunks there are.
func TestImport_AccountsFirst(t *testing.T) {
	w := newWorld(t, dbtest.DB(t))
	ids := dbtest.IDs(t, 1500)
	var text strings.Builder
	for i, id := range ids {
		fmt.Fprintln(&text, id, ids[(i+700)%len(ids)])
	}
	cfg := w.config(strings.NewReader(text.String()))
	cfg.Rows = strict{w.rows}
	if sum := mustImport(t, cfg); sum.AccountsMade != 1500 || sum.EdgesNew != 1500 {
		t.Errorf("got %+v, want 1,500 accounts and edges", sum)
	}
}
