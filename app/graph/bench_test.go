package graph

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"kith/app/intake"
)

// benchFile returns lines as the Twitter graph has them.
func benchFile(lines int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for range lines {
		fmt.Fprintf(&b, "%d %d\n", 1+rng.Uint64N(600_000_000), 1+rng.Uint64N(600_000_000))
	}
	return b.Bytes()
}

func BenchmarkParseLine(b *testing.B) {
	for name, line := range map[string]string{"Plain": "568770231 363148423", "Timed": "568770231\t363148423\t1700000000"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				parseLine([]byte(line))
			}
		})
	}
}

// BenchmarkRead reads a million lines up to the sorted records.
func BenchmarkRead(b *testing.B) {
	file := benchFile(1_000_000)
	for name, memory := range map[string]int64{"InMemory": 512 << 20, "Spilled": 32 << 20} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				im := &importer{cfg: ImportConfig{Config: intake.Config{Reader: bytes.NewReader(file), Memory: memory, TempDir: b.TempDir()}}.withDefaults()}
				im.edges = im.sorter(memory / 4)
				if err := im.read(context.Background()); err != nil {
					b.Fatal(err)
				}
				if err := im.sort(context.Background()); err != nil {
					b.Fatal(err)
				}
				im.edges.Close()
			}
		})
	}
}
