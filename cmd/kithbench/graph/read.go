package graph

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// Read reads a file of lines of a follower and whom he follows, between them a
// space, a tab or a comma, gzip or plain; what comes after is not read. Empty lines
// and those that begin with # are left out, as are follows of oneself and repeats.
// A line that is anything else is an error, and so is an id that works use for
// accounts of their own.
func Read(path, name string) (*Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := unzipped(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	g := &Graph{Name: name}
	if err := g.readLines(in); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	g.compact()
	return g, nil
}

// unzipped reads gzip, by its first bytes, or what is there.
func unzipped(in *bufio.Reader) (io.Reader, error) {
	if first, _ := in.Peek(2); !bytes.Equal(first, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	return gzip.NewReader(in)
}

func (g *Graph) readLines(in io.Reader) error {
	var bad []error
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		e, there, err := readEdge(lines.Text())
		if err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", n, err))
		}
		if there && err == nil {
			g.Edges = append(g.Edges, e)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d bad lines, first %w", len(bad), bad[0])
	}
	return nil
}

// readEdge reads a line; there is false where it has no follow.
func readEdge(line string) (e Edge, there bool, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return e, false, nil
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if len(words) < 2 {
		return e, false, fmt.Errorf("%.40q is not two ids", line)
	}
	if e.From, err = readID(words[0]); err != nil {
		return e, false, err
	}
	e.To, err = readID(words[1])
	return e, e.From != e.To, err
}

func readID(word string) (uint64, error) {
	id, err := strconv.ParseUint(word, 10, 63)
	switch {
	case err != nil || id == 0:
		return 0, fmt.Errorf("%.40q is no id: those are numbers from 1 to %d", word, uint64(math.MaxInt64))
	case id >= fans && id < wide:
		return 0, fmt.Errorf("id %d is one of those from %d to %d, which works use for accounts of their own", id, uint64(fans), uint64(wide-1))
	}
	return id, nil
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
