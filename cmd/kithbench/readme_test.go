package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/kithbench/report"
	"kith/cmd/kithbench/work"
)

// The README of kith shows the table of the run that is in results, and shows it
// once.
func TestReadme(t *testing.T) {
	root, err := work.Repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("results", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var run report.Run
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	want := run.Summary(columns, rows)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(readme), want); n != 1 {
		t.Errorf("README.md has this table %d times, want once; make bench writes it:\n%s", n, want)
	}
}

func TestUpdateReadme(t *testing.T) {
	var old report.Run
	run := report.Run{Lines: []report.Line{{Work: "hot", Case: "256 clients", Peer: "kith", Values: []float64{42}}}}
	path := filepath.Join(t.TempDir(), "README.md")
	before, after := "# Title\n\n| a | table |\n\n", "\nThe text after it.\n\n| another |\n"
	if err := os.WriteFile(path, []byte(before+old.Summary(columns, rows)+after), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second changes nothing
		if err := updateReadme(run, path); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != before+run.Summary(columns, rows)+after {
			t.Errorf("got %v and\n%s", err, got)
		}
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := updateReadme(run, path); err == nil || !strings.Contains(err.Error(), "has no table") {
		t.Errorf("got %v of a file without a table", err)
	}
}
