package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/work"
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
		{"PeerTwice", func(c *runCmd) { c.Peers = []string{"kith", "kith"} }, ""}, // it is measured once
		{"HTTP", func(c *runCmd) { c.Works, c.Peers = []string{"http"}, []string{"redis"} }, "http needs one of the peers [kith kith-alone]"},
		{"Contend", func(c *runCmd) { c.Works, c.Peers = []string{"contend"}, []string{"twotable"} }, "contend needs one of the peers [kith]"},
		{"Memory", func(c *runCmd) { c.Works, c.Peers = []string{"memory"}, []string{"kith-alone"} }, "memory needs one of the peers [kith]"},
		{"Home", func(c *runCmd) { c.Works, c.Peers = []string{"home"}, []string{"sql-pull", "redis-push"} }, ""},
		{"HomeOfAGraphPeer", func(c *runCmd) { c.Works, c.Peers = []string{"home"}, []string{"twotable"} }, "home needs one of the peers"},
		{"States", func(c *runCmd) { c.Works, c.Peers = []string{"states"}, []string{"naive"} }, "states needs one of"},
		{"NoRounds", func(c *runCmd) { c.Rounds = 0 }, "--rounds"},
		{"NoSpan", func(c *runCmd) { c.Span = 0 }, "--span"},
		{"NegativeMemory", func(c *runCmd) { c.Works, c.Memory = []string{"hot"}, -time.Second }, "--memory"},
		{"NoMemory", func(c *runCmd) { c.Memory = 0 }, "--memory"},
		{"Readme", func(c *runCmd) { c.Readme = file }, ""},
		{"ReadmeOfSomeWorks", func(c *runCmd) { c.Readme, c.Works = file, []string{"hot"} }, "--readme needs a whole run"},
		{"ReadmeOfSomePeers", func(c *runCmd) { c.Readme, c.Peers = file, []string{"kith"} }, "--readme needs a whole run"},
		{"ReadmeOfAShortRun", func(c *runCmd) { c.Readme, c.Short = file, true }, "--readme needs a whole run"},
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

// A work that was not named and that lacks its peers is left out.
func TestRunCmd_Check_LeavesOut(t *testing.T) {
	c := asked(func(c *runCmd) { c.Peers = []string{"redis", "twotable"} })
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if c.wants("http") || c.wants("contend") || c.wants("memory") || c.wants(work.Home) || len(c.Works) != len(work.Works)-4 {
		t.Errorf("got the works %v, want all but those of kith and of homes", c.Works)
	}
}

// The file is read in a short run too.
func TestRunCmd_ReadGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.csv")
	if err := os.WriteFile(path, []byte("1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := asked(func(c *runCmd) { c.Graph, c.Short = path, true })
	if _, err := c.readGraph(t.Context()); err == nil || !strings.Contains(err.Error(), "graph.csv has 2 accounts and 1 follows") {
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
	if got, want := names(t, dir), []string{"run.json", "table.md"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	run.Lines = append(run.Lines, report.Line{Work: "hot", Case: "1", Peer: "kith", Values: []float64{1}})
	if err := write(run, dir); err != nil || len(names(t, dir)) != 3 {
		t.Errorf("got %v, %v, want three files", names(t, dir), err)
	}
}

// A file that cannot be written leaves nothing.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	for _, text := range []string{"old", "new"} {
		if err := replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	if err := os.Mkdir(path+"s", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replace(path+"s", []byte("new")); err == nil || !slices.Equal(names(t, filepath.Dir(path)), []string{"run.json", "run.jsons"}) {
		t.Errorf("got %v and the files %v, want an error and no file more", err, names(t, filepath.Dir(path)))
	}
}

func TestShownArgs(t *testing.T) {
	got := shownArgs([]string{"--short", "--out=a/b", "--works=hot,one", "c/d"})
	if want := []string{"--short", "--out=b", "--works=hot,one", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
