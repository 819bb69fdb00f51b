package graph

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Read reads a file of `follower followee` lines, gzip or plain. Lines that are
// not two different ids are left out, as are repeats in a row.
func Read(path, name string) (*Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = bufio.NewReaderSize(f, 1<<20)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	g := &Graph{Name: name}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		from, to, ok := twoIDs(lines.Text())
		if ok && from != to {
			g.Edges = append(g.Edges, Edge{From: from, To: to})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	g.compact()
	return g, nil
}

func twoIDs(line string) (from, to uint64, ok bool) {
	a, b, _ := strings.Cut(line, " ")
	b, _, _ = strings.Cut(b, " ") // a time may follow
	from, err := strconv.ParseUint(a, 10, 64)
	to, err2 := strconv.ParseUint(b, 10, 64)
	return from, to, err == nil && err2 == nil && from > 0 && to > 0
}

// Text is the graph as `kith import` reads it.
func (g *Graph) Text() []byte {
	b := make([]byte, 0, 32*len(g.Edges))
	for _, e := range g.Edges {
		b = strconv.AppendUint(b, e.From, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, e.To, 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(e.At), 10)
		b = append(b, '\n')
	}
	return b
}
