package spill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// records returns n records with few different keys if narrow, else with many.
func records(n int, narrow bool) []Record {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]Record, n)
	for i := range out {
		if narrow {
			out[i] = Record{Hi: rng.Uint64N(7), Lo: rng.Uint64N(50), Val: rng.Uint32N(3)}
		} else {
			out[i] = Record{Hi: rng.Uint64() >> rng.UintN(64), Lo: rng.Uint64(), Val: rng.Uint32()}
		}
	}
	return out
}

func fill(t testing.TB, s *Sorter, rs []Record) {
	t.Helper()
	for _, r := range rs {
		if err := s.Add(t.Context(), r); err != nil {
			t.Fatalf("add: %v", err)
		}
	}
}

func read(t testing.TB, w *Walk) []Record {
	t.Helper()
	var out []Record
	for r, ok := w.Next(); ok; r, ok = w.Next() {
		out = append(out, r)
	}
	if err := w.Err(); err != nil {
		t.Fatalf("walk: %v", err)
	}
	return out
}

func TestSorter(t *testing.T) {
	tests := []struct {
		n, memory   int
		narrow      bool
		wantSpilled bool
	}{
		{0, 0, false, false},
		{1, 0, false, false},
		{4096, 0, false, false},
		{4097, 0, false, true},
		{8192, 0, false, true},
		{50_000, 0, false, true},
		{50_000, 0, true, true},
		{50_000, 4 << 20, false, false},
		{50_000, 4 << 20, true, false},
		{400_000, 0, false, true}, // 97 runs: two levels
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d in %d narrow %v", tt.n, tt.memory, tt.narrow), func(t *testing.T) {
			dir := t.TempDir()
			s := New(Config{Dir: dir, Memory: int64(tt.memory)})
			defer s.Close()
			want := records(tt.n, tt.narrow)
			fill(t, s, want)
			if err := s.Sort(t.Context()); err != nil {
				t.Fatalf("sort: %v", err)
			}
			if got := s.Spilled() > 0; got != tt.wantSpilled || s.Len() != int64(tt.n) {
				t.Errorf("got spilled %v, len %d; want %v, %d", got, s.Len(), tt.wantSpilled, tt.n)
			}
			slices.SortFunc(want, Compare)
			for pass := range 2 {
				if got := read(t, s.Walk()); !slices.Equal(got, want) {
					t.Errorf("pass %d: got %d records that are not the %d sorted ones", pass, len(got), len(want))
				}
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 0 {
				t.Errorf("got %d files in the folder, %v; want none", len(left), err)
			}
		})
	}
}

func TestSorter_TwoWalks(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	defer s.Close()
	fill(t, s, records(20_000, false))
	if err := s.Sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := s.Walk(), s.Walk()
	for range 20_000 {
		ra, okA := a.Next()
		rb, okB := b.Next()
		if ra != rb || !okA || !okB {
			t.Fatalf("got %v %v and %v %v, want equal records", ra, okA, rb, okB)
		}
	}
}

func TestSorter_FewFiles(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	defer s.Close()
	fill(t, s, records(minRecords*(fanIn*2+3), true))
	if err := s.Sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Spilled(); got != 5 {
		t.Errorf("got %d runs, want 2 merged ones and 3", got)
	}
}

func TestSorter_Canceled(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var err error
	for _, r := range records(20_000, false) {
		if err = s.Add(ctx, r); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("got %d files left, want none", len(left))
	}
}

func TestSorter_NoFolder(t *testing.T) {
	s := New(Config{Dir: t.TempDir() + "/absent"})
	defer s.Close()
	var err error
	for _, r := range records(5000, false) {
		if err = s.Add(t.Context(), r); err != nil {
			break
		}
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the folder does not exist", err)
	}
}

func TestSorter_AddAfterSort(t *testing.T) {
	s := New(Config{})
	fill(t, s, records(10, false))
	if err := s.Sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), Record{}); err == nil {
		t.Error("got no error for a late record")
	}
}

// TestWalk_Damaged changes a run in every way a disk could and wants an error
// and no wrong record.
func TestWalk_Damaged(t *testing.T) {
	const n = 5000
	tests := map[string]func(t *testing.T, f *os.File){
		"flipped": func(t *testing.T, f *os.File) { change(t, f, 70_000) },
		"count":   func(t *testing.T, f *os.File) { change(t, f, 0) },
		"sum":     func(t *testing.T, f *os.File) { change(t, f, 5) },
		"short": func(t *testing.T, f *os.File) {
			if err := f.Truncate(80_000); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, f *os.File) {
			if err := f.Truncate(0); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			s := New(Config{Dir: t.TempDir()})
			defer s.Close()
			fill(t, s, records(n, false))
			if err := s.Sort(t.Context()); err != nil {
				t.Fatal(err)
			}
			damage(t, s.runs[0].file)
			w := s.Walk()
			for _, ok := w.Next(); ok; _, ok = w.Next() {
			}
			if !errors.Is(w.Err(), ErrDamaged) {
				t.Errorf("got %v, want %v", w.Err(), ErrDamaged)
			}
		})
	}
}

// change flips a bit of the byte at an offset.
func change(t *testing.T, f *os.File, at int64) {
	t.Helper()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 3_500_000
	from := records(n, false)
	for i := range from {
		from[i].Hi = from[i].Lo >> 1 // spread as keys that lead with a bucket are
	}
	for _, how := range []struct {
		name string
		sort func([]Record)
	}{
		{"Split", func(rs []Record) { sortRecords(context.Background(), rs) }},
		{"Plain", func(rs []Record) { slices.SortFunc(rs, Compare) }},
	} {
		b.Run(how.name, func(b *testing.B) {
			rs := make([]Record, n)
			b.SetBytes(n * memoryBytes)
			for b.Loop() {
				copy(rs, from)
				how.sort(rs)
			}
		})
	}
}

func BenchmarkSpill(b *testing.B) {
	const n = 2_000_000
	from := records(n, false)
	b.SetBytes(n * diskBytes)
	for b.Loop() {
		s := New(Config{Dir: b.TempDir(), Memory: 8 << 20})
		fill(b, s, from)
		if err := s.Sort(b.Context()); err != nil {
			b.Fatal(err)
		}
		w := s.Walk()
		for _, ok := w.Next(); ok; _, ok = w.Next() {
		}
		s.Close()
	}
}

// broken is a source that fails after some records.
type broken struct{ left int }

var errBroken = errors.New("broken")

func (b *broken) next() (Record, error) {
	if b.left--; b.left < 0 {
		return Record{}, errBroken
	}
	return Record{Hi: uint64(b.left)}, nil
}

// A run that cannot be written is an error, whenever that comes, and leaves no file.
func TestWriteRun_Broken(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		left int
		want error
	}{
		"at once":    {t.Context(), 0, errBroken},
		"in a block": {t.Context(), blockRecords + 5, errBroken},
		"no time":    {over, 2 * blockRecords, context.Canceled},
	} {
		dir := t.TempDir()
		r, err := writeRun(c.ctx, dir, 0, &broken{c.left})
		if left, _ := os.ReadDir(dir); r != nil || !errors.Is(err, c.want) || len(left) > 0 {
			t.Errorf("%s: got %v, %v and %d files, want %v", name, r, err, len(left), c.want)
		}
	}
}
