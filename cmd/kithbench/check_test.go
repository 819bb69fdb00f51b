package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/cmd/kithbench/report"
)

// asked is a command with the defaults and what a test changes.
func asked(change func(*runCmd)) *runCmd {
	c := &runCmd{Rounds: 5, Span: time.Second, Memory: 5 * time.Minute}
	change(c)
	return c
}

func TestRunCmd_Check(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*runCmd)
		want   string // empty is that nothing is wrong
	}{
		{"Defaults", func(*runCmd) {}, ""},
		{"Part", func(c *runCmd) { c.Works, c.Peers = []string{"hot", "states"}, []string{"kith", "redis"} }, ""},
		{"NoWork", func(c *runCmd) { c.Works = []string{"cold"} }, `there is no work "cold"`},
		{"NoPeer", func(c *runCmd) { c.Peers = []string{"ring"} }, `there is no peer "ring"`},
		{"PeerTwice", func(c *runCmd) { c.Peers = []string{"kith", "kith"} }, `the peer "kith" is named twice`},
		{"HTTP", func(c *runCmd) { c.Works, c.Peers = []string{"http"}, []string{"kith"} }, "http needs the peers [kith kith-alone], and there is no [kith-alone]"},
		{"Contend", func(c *runCmd) { c.Works, c.Peers = []string{"contend"}, []string{"twotable"} }, "contend needs the peers [kith]"},
		{"Memory", func(c *runCmd) { c.Works, c.Peers = []string{"memory"}, []string{"kith-alone"} }, "memory needs the peers [kith]"},
		{"States", func(c *runCmd) { c.Works, c.Peers = []string{"states"}, []string{"naive"} }, "states needs one of"},
		{"NoRounds", func(c *runCmd) { c.Rounds = 0 }, "--rounds"},
		{"NoSpan", func(c *runCmd) { c.Span = 0 }, "--span"},
		{"NegativeMemory", func(c *runCmd) { c.Works, c.Memory = []string{"hot"}, -time.Second }, "--memory"},
		{"NoMemory", func(c *runCmd) { c.Memory = 0 }, "--memory"},
		{"OutIsAFile", func(c *runCmd) { c.Out = file }, "--out"},
		{"OutIsMade", func(c *runCmd) { c.Out = filepath.Join(t.TempDir(), "a", "b") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := asked(c.change).check()
			if c.want == "" && err != nil {
				t.Errorf("got %v, want nothing", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A work that nobody has named and that lacks a peer is left out.
func TestRunCmd_Check_LeavesOut(t *testing.T) {
	c := asked(func(c *runCmd) { c.Peers = []string{"kith", "twotable"} })
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if c.wants("http") || !c.wants("contend") || !c.wants("hot") {
		t.Errorf("got the works %v, want all but http", c.Works)
	}
}

// The file is read in a short run too.
func TestRunner_ReadGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.csv")
	if err := os.WriteFile(path, []byte("1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &runner{cmd: asked(func(c *runCmd) { c.Graph, c.Short = path, true })}
	if err := r.readGraph(); err == nil || !strings.Contains(err.Error(), "graph.csv has 2 accounts and 1 follows") {
		t.Errorf("got %v, want that the file is too small", err)
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

// A run of one peer has no plot, and an old one goes.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plot.svg"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := report.Run{Lines: []report.Line{{Work: "hot", Case: "1", Peer: "twotable", Values: []float64{1}}}}
	if err := write(run, dir); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{"run.json", "short.md", "table.md", "table.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	run.Lines = append(run.Lines, report.Line{Work: "hot", Case: "1", Peer: "kith", Values: []float64{1}})
	if err := write(run, dir); err != nil || len(names(t, dir)) != 5 {
		t.Errorf("got %v, %v, want five files", names(t, dir), err)
	}
}

// A file that cannot be written whole leaves the old one.
func TestWriteFile_Fails(t *testing.T) {
	path, failed := filepath.Join(t.TempDir(), "run.json"), errors.New("disk full")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeFile(path, func(w io.Writer) error {
		io.WriteString(w, "ne")
		return failed
	})
	text, _ := os.ReadFile(path)
	if !errors.Is(err, failed) || string(text) != "old" || len(names(t, filepath.Dir(path))) != 1 {
		t.Errorf("got %v and %q, want %v and the old file alone", err, text, failed)
	}
}
