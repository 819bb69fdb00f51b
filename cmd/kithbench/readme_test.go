package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/work"
)

// The README of kith shows the tables of the runs in results, and shows them once. That of
// homes it shows where there is a run: a whole one, or one in a folder of its own.
func TestReadme(t *testing.T) {
	root, err := work.Repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	whole := readRun(t, "results")
	wants := []string{graphs.of(whole)}
	if homes.in(whole) {
		wants = append(wants, homes.of(whole))
	} else if strings.Contains(string(readme), homes.head()) {
		wants = append(wants, homes.of(readRun(t, filepath.Join("results", "home"))))
	}
	for _, want := range wants {
		if n := strings.Count(string(readme), want); n != 1 {
			t.Errorf("README.md has this table %d times, want once; make bench writes it:\n%s", n, want)
		}
	}
}

func readRun(t *testing.T, dir string) (run report.Run) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	return run
}

// A run replaces the tables of what it has, and leaves all else.
func TestUpdateReadme(t *testing.T) {
	var old report.Run
	hot := report.Line{Work: "hot", Case: "256 clients", Peer: "kith", Values: []float64{42}}
	page := report.Line{Work: work.Home, Case: "1 post to 100 reads", Peer: "kith", Values: []float64{43}}
	path := filepath.Join(t.TempDir(), "README.md")
	const before, between, after = "# Title\n\n| a | table |\n\n", "\nThe text between.\n\n", "\nThe text after.\n\n| another |\n"
	for _, lines := range [][]report.Line{{hot}, {page}, {hot, page}} {
		run := report.Run{Lines: lines}
		if err := os.WriteFile(path, []byte(before+graphs.of(old)+between+homes.of(old)+after), 0o600); err != nil {
			t.Fatal(err)
		}
		want := before + graphs.of(report.Run{Lines: slices.DeleteFunc(slices.Clone(lines), func(l report.Line) bool { return l.Work == work.Home })}) + between + homes.of(run) + after
		for range 2 { // the second changes nothing
			if err := updateReadme(run, path); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("got %v and\n%s\nwant\n%s", err, got, want)
			}
		}
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateReadme(report.Run{Lines: []report.Line{page}}, path); err == nil || !strings.Contains(err.Error(), "has no table") {
		t.Errorf("got %v of a file without a table", err)
	}
}
