package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kith/cmd/kithbench/report"
)

// The README of kith shows the table of the run that is in results, and shows it
// once.
func TestReadme(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join("results", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run, err := report.ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	if err := writeShort(run, &want); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(readme), want.String()); n != 1 {
		t.Errorf("README.md has this table %d times, want once; results/short.md has it:\n%s", n, want.String())
	}
}
