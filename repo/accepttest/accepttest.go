// Package accepttest is what long checks need that look at the whole with real
// data: the wish to run them, and the data.
//
//	KITH_ACCEPT=1 go test -run TestAccept -v ./app/graph
//
// The data is not part of the repository. It is looked for in a folder beside it, or in
// the one that KITH_DATA names; a check whose file is not there is skipped.
package accepttest

import (
	"bufio"
	"compress/gzip"
	"iter"
	"os"
	"path/filepath"
	"testing"
)

// Asked reports that long checks are to be run.
func Asked() bool { return os.Getenv("KITH_ACCEPT") != "" }

// Long skips a test that takes a minute or more, unless long checks are asked for.
func Long(tb testing.TB) {
	tb.Helper()
	if !Asked() {
		tb.Skip("a long check: set KITH_ACCEPT=1, or make accept")
	}
}

// Path returns where a file of real data would be, for a repository at root.
func Path(root, name string) string {
	dir := os.Getenv("KITH_DATA")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "data")
	}
	return filepath.Join(dir, name)
}

// File returns the path of a file of real data, or skips the test.
func File(tb testing.TB, name string) string {
	tb.Helper()
	// Tests run in the folder of their package, two below the root.
	path := Path(filepath.Join("..", ".."), name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no real data: %v", err)
	}
	return path
}

// Lines gives the lines of a gzip file. One that cannot be read ends the test.
func Lines(tb testing.TB, path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		tb.Helper()
		f, err := os.Open(path)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		in := bufio.NewScanner(z)
		for in.Scan() {
			if !yield(in.Text()) {
				return
			}
		}
		if err := in.Err(); err != nil {
			tb.Fatalf("read %s: %v", path, err)
		}
	}
}
