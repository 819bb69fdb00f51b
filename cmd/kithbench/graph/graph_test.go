package graph

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMake holds a made graph against the shape of the Twitter graph: 22 follows
// an account, 48 per cent of them mutual, the most followed far above the mean.
func TestMake(t *testing.T) {
	const follows = 100_000
	g := Make(follows, 1)
	if n := len(g.Edges); n < follows*9/10 || n > follows*11/10 || g.Own != n {
		t.Fatalf("got %d follows, %d of its own, want about %d", n, g.Own, follows)
	}
	followers, there := map[uint64]int{}, map[[2]uint64]bool{}
	for _, e := range g.Edges {
		if e.From == e.To || there[[2]uint64{e.From, e.To}] {
			t.Fatalf("follow %v is of himself or there twice", e)
		}
		there[[2]uint64{e.From, e.To}] = true
		followers[e.To]++
	}
	mutual, most := 0, 0
	for _, e := range g.Edges {
		if there[[2]uint64{e.To, e.From}] {
			mutual++
		}
		most = max(most, followers[e.To])
	}
	if share := float64(mutual) / float64(len(g.Edges)); share < 0.43 || share > 0.6 {
		t.Errorf("got %.2f of the follows mutual, want about 0.48", share)
	}
	if mean := len(g.Edges) / len(g.Accounts()); mean < 15 || mean > 30 || most < 10*mean {
		t.Errorf("got %d followers on average and %d at most", mean, most)
	}
}

func TestGraph_Complete(t *testing.T) {
	g := Make(5_000, 2)
	own := slices.Clone(g.Edges)
	g = g.Complete(2)
	for i, e := range own {
		if g.Edges[i].From != e.From || g.Edges[i].To != e.To || g.Own != len(own) {
			t.Fatalf("got the edge %v, want %v of the graph's own", g.Edges[i], e)
		}
	}
	followers, seen := map[uint64]int{}, map[uint32]bool{}
	for _, e := range g.Edges {
		if seen[e.At] || e.At < first || e.At > first+span {
			t.Fatalf("time %d is taken, or out of the three years", e.At)
		}
		seen[e.At] = true
		followers[e.To]++
	}
	for id, want := range map[uint64]int{Star(0): FullList, Star(1): FullList, Star(2): 0, Long: LongList, Viewer(200): 100} {
		if followers[id] != want {
			t.Errorf("%d has %d followers, want %d", id, followers[id], want)
		}
	}
	if from, to := g.Pair(rand.New(rand.NewPCG(1, 1))); from == to || from >= fans || to >= fans {
		t.Errorf("got the pair %d, %d, want two of the graph's own", from, to)
	}
}

func TestRead(t *testing.T) {
	text := "# who whom\n1 2\n2\t1\r\n1,2\n3 3\n\n10 20 99\n9000000000,5"
	want := []Edge{{1, 2, 0}, {2, 1, 0}, {10, 20, 0}, {9000000000, 5, 0}}
	for name, b := range map[string][]byte{"plain.gz": []byte(text), "zipped.txt": zipped(text)} {
		g, err := Read(written(t, name, b))
		if err != nil || !slices.Equal(g.Edges, want) || g.Own != len(want) {
			t.Errorf("%s: got %v, %v, want %v", name, g, err, want)
		}
	}
	if text := string(Text([]Edge{{1, 2, 3}, {4, 5, 0}})); !strings.HasPrefix(text, "1 2 3\n4 5 0\n") {
		t.Errorf("got %q", text)
	}
}

func TestRead_Bad(t *testing.T) {
	whole := zipped(strings.Repeat("1 2\n", 1000))
	for text, want := range map[string]string{
		"1 2\nx y\n1 2\n4\n":          `line 2: "x" is no id`,
		"1 2\n4":                      `line 2: "4" is not two ids`,
		"0 1\n":                       `line 1: "0" is no id`,
		"1 -2\n":                      `line 1: "-2" is no id`,
		"1 18446744073709551615\n":    `"18446744073709551615" is no id`,
		"1 2\n3 1000000000\n":         "line 2: id 1000000000 is one of those from 1000000000 to 4294967295",
		"4294967295 1\n":              "line 1: id 4294967295 is one of those",
		string(whole[:len(whole)-5]):  "unexpected EOF",
		strings.Repeat("1", 100_000):  "too long",
		string([]byte{0x1f, 0x8b, 0}): "EOF",
	} {
		_, err := Read(written(t, "bad", []byte(text)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

func written(t *testing.T, name string, b []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGraph_Check(t *testing.T) {
	if err := Make(LeastFollows*6, 1).Check(); err != nil {
		t.Errorf("got %v of a graph that is large enough", err)
	}
	for _, g := range []*Graph{{}, Make(400, 1)} {
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), "works need") {
			t.Errorf("%d follows: got %v, want how many works need", g.Own, err)
		}
	}
}

func TestGraph_Cut(t *testing.T) {
	g := Make(5_000, 1)
	whole := slices.Clone(g.Edges)
	if g.Cut(len(whole)); len(g.Edges) != len(whole) {
		t.Errorf("got %d follows, want all %d", len(g.Edges), len(whole))
	}
	if g.Cut(1_000); !slices.Equal(g.Edges, whole[:1_000]) || g.Own != 1_000 || !strings.Contains(g.Name, "first 1000") {
		t.Errorf("got %d follows of %s, want the first 1000", g.Own, g.Name)
	}
}

// TestZipf draws often enough to see that the second is wanted half as often.
func TestZipf(t *testing.T) {
	z, n, r := NewZipf([]uint64{7, 8, 9}, 1), map[uint64]int{}, rand.New(rand.NewPCG(1, 2))
	for range 11_000 {
		n[z.Draw(r)]++
	}
	for id, want := range map[uint64]int{7: 6000, 8: 3000, 9: 2000} {
		if got := n[id]; got < want*9/10 || got > want*11/10 {
			t.Errorf("%d was drawn %d times, want about %d", id, got, want)
		}
	}
}

func TestGraph_Sides(t *testing.T) {
	g := &Graph{Edges: []Edge{{2, 1, 7}, {1, 3, 8}, {1, 2, 9}}}
	following, followers := g.Sides()
	if want := []Edge{{1, 2, 9}, {1, 3, 8}, {2, 1, 7}}; !slices.Equal(following, want) {
		t.Errorf("got %v, want %v", following, want)
	}
	if want := []Edge{{1, 2, 7}, {2, 1, 9}, {3, 1, 8}}; !slices.Equal(followers, want) {
		t.Errorf("got %v, want %v", followers, want)
	}
}
