package graph

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"kith/app/intake"
	"kith/repo/list"
	"kith/repo/relation"
)

// maxTestID is the largest id of the file.
const maxTestID = 1 << 20

// nowhere is a store that remembers which rows were written and nothing else.
type nowhere struct{ written []atomic.Bool }

func (nowhere) Ensure(_ context.Context, ids []uint64, _ uint64) (int, error) { return len(ids), nil }

func (nowhere) Erased(context.Context, int) ([]uint64, error) { return nil, nil }

func (nowhere) Missing(context.Context, []uint64) (map[uint64]bool, error) { return nil, nil }

func (s nowhere) Outlines(_ context.Context, ids []uint64) (map[uint64]relation.Outline, error) {
	out := make(map[uint64]relation.Outline)
	for _, id := range ids {
		if s.written[id].Load() {
			out[id] = relation.Outline{AccountID: id, Ver: 1}
		}
	}
	return out, nil
}

func (s nowhere) Vers(ctx context.Context, ids []uint64) (map[uint64]uint64, error) {
	rows, err := s.Outlines(ctx, ids)
	vers := make(map[uint64]uint64, len(rows))
	for id, o := range rows {
		vers[id] = o.Ver
	}
	return vers, err
}

func (nowhere) Fresh(context.Context, []uint64) (map[uint64]relation.Row, error) {
	return map[uint64]relation.Row{}, nil
}

func (s nowhere) Swap(_ context.Context, rows []relation.Row) (bool, error) {
	for i, r := range rows {
		rows[i].Ver = 1
		s.written[r.ID].Store(true)
	}
	return true, nil
}

func (nowhere) OpenFor(_ context.Context, r relation.Row, edges []list.Edge) (*relation.Draft, []list.Edge, error) {
	d, err := relation.Open(r)
	return d, edges, err
}

func (nowhere) Pack(d *relation.Draft) (relation.Row, error) { return d.Pack(1, 0, 2) }

func (nowhere) MergeLocked(context.Context, uint64, []list.Edge, func(*relation.Draft, []list.Edge)) (relation.Row, error) {
	panic("no one else writes these rows")
}

// TestImport_Memory imports a file of several times the memory it may take.
// KITH_LINES makes the file longer, KITH_MEMORY the memory larger (MiB).
func TestImport_Memory(t *testing.T) {
	lines, memory := setting(t, "KITH_LINES", 400_000), setting(t, "KITH_MEMORY", 24)<<20
	var most uint64
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	measure := func(Progress) {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64()-sample[1].Value.Uint64())
	}
	s := nowhere{make([]atomic.Bool, maxTestID+1)}
	measure(Progress{})
	before := most
	sum, err := Import(t.Context(), ImportConfig{
		Config:   intake.Config{Reader: madeFile(lines), Memory: int64(memory), TempDir: t.TempDir(), Progress: measure},
		Accounts: s, Rows: s, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lines, %d runs, %v; %d MiB before, %d at most", lines, sum.Spilled, sum.Duration, before>>20, most>>20)
	if most > before+uint64(memory) || sum.Spilled == 0 && lines == 400_000 {
		t.Errorf("got %d MiB at most and %d runs, want %d MiB on top of the %d of the program, and some runs", most>>20, sum.Spilled, memory>>20, before>>20)
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// madeFile is a file of random edges that is made as it is read.
func madeFile(lines int) io.Reader {
	r, w := io.Pipe()
	go func() {
		rng := rand.New(rand.NewPCG(3, 4))
		b := bufio.NewWriterSize(w, 64<<10)
		for range lines {
			x := rng.Uint64N(maxTestID)
			fmt.Fprintf(b, "%d %d\n", 1+x*x/maxTestID, 1+rng.Uint64N(maxTestID))
		}
		b.Flush()
		w.Close()
	}()
	return r
}
