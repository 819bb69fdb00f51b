package graph

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Read reads a file, gzip or plain. A line has a follower and a followee, separated by a
// space, a tab or a comma; the rest of it is ignored, and so are empty lines, comments (#),
// repeats and accounts that follow themselves. Any other line is an error, and so is an id
// that works use for accounts of their own.
func Read(path string) (*Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g := &Graph{Name: filepath.Base(path)}
	if err := g.read(bufio.NewReaderSize(f, 1<<20)); err != nil {
		return nil, fmt.Errorf("read %s: %w", g.Name, err)
	}
	g.compact()
	return g, nil
}

func (g *Graph) read(file *bufio.Reader) error {
	var in io.Reader = file
	if first, _ := file.Peek(2); bytes.Equal(first, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		in = z
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := readEdge(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if e.From != e.To {
			g.Edges = append(g.Edges, e)
		}
	}
	return lines.Err()
}

func readEdge(line string) (e Edge, err error) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if len(words) < 2 {
		return e, fmt.Errorf("%.40q is not two ids", line)
	}
	for i, id := range []*uint64{&e.From, &e.To} {
		*id, err = strconv.ParseUint(words[i], 10, 63)
		if err != nil || *id == 0 {
			return e, fmt.Errorf("%.40q is no id: those are numbers from 1 to %d", words[i], uint64(math.MaxInt64))
		}
		if *id >= fans && *id < wide {
			return e, fmt.Errorf("id %d is one of those from %d to %d, which works use for accounts of their own", *id, uint64(fans), uint64(wide-1))
		}
	}
	return e, nil
}
