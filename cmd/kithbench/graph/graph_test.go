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

func TestDate(t *testing.T) {
	g := Make(5_000, 2)
	g.AddStars(2)
	g.AddLong()
	g.AddViewers(200)
	g.Date(1)
	seen := map[uint32]bool{}
	for _, e := range g.Edges {
		if seen[e.At] || e.At < first || e.At > first+span {
			t.Fatalf("time %d is taken, or out of the three years", e.At)
		}
		seen[e.At] = true
	}
	if from, to := g.Pair(rand.New(rand.NewPCG(1, 1))); from == to || from >= fans || to >= fans {
		t.Errorf("got the pair %d, %d, want two of the graph's own", from, to)
	}
}

func TestRead(t *testing.T) {
	text := "1 2\n2 1\n1 2\n3 3\nx y\n4\n10 20 99\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(text))
	z.Close()
	for name, b := range map[string][]byte{"plain.txt": []byte(text), "zipped.gz": zipped.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := Read(path, name)
		if want := []Edge{{1, 2, 0}, {2, 1, 0}, {10, 20, 0}}; err != nil || !slices.Equal(g.Edges, want) {
			t.Errorf("%s: got %v, %v, want %v", name, g.Edges, err, want)
		}
	}
	if text := string((&Graph{Edges: []Edge{{1, 2, 3}, {4, 5, 0}}}).Text()); !strings.HasPrefix(text, "1 2 3\n4 5 0\n") {
		t.Errorf("got %q", text)
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
