package list

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
)

// FuzzParse feeds bytes that may be anything. Nothing panics, every error is
// ErrFormat, and what passes Check opens and encodes to the same bytes.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.golden", "testdata/bad/*.hex"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, error %v", pattern, len(files), err)
		}
		for _, file := range files {
			f.Add(readHex(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("parse: got error %v, want one that is %v", err, ErrFormat)
			}
			return
		}
		for _, err := range useAll(v) {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("got error %v, want one that is %v", err, ErrFormat)
			}
		}
		if v.Check() == nil {
			checkRoundTrip(t, v)
		}
	})
}

func checkRoundTrip(t *testing.T, v View) {
	t.Helper()
	if errs := useAll(v); len(errs) != 0 {
		t.Fatalf("passed Check, but: %v", errs)
	}
	l, err := v.Open()
	if err != nil {
		t.Fatalf("passed Check, but: %v", err)
	}
	if got := encode(t, l); !bytes.Equal(got, v.Bytes()) {
		t.Fatalf("passed Check, but is encoded otherwise:\n got %x\nwant %x", got, v.Bytes())
	}
	if got := encode(t, l.Clone()); !bytes.Equal(got, v.Bytes()) {
		t.Fatalf("clone is encoded otherwise:\n got %x\nwant %x", got, v.Bytes())
	}
}

// FuzzOps applies edits to a list and to its twin, three bytes to an edit.
func FuzzOps(f *testing.F) {
	f.Add([]byte{0, 1, 1, 1, 1, 2, 2, 1, 0, 3, 1, 0})
	f.Add([]byte{0, 17, 10, 1, 16, 10, 4, 1, 7, 15, 1, 7, 16, 2, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		l, w := New(), newTwin()
		ops := readOps(b)
		for len(ops) > 0 {
			n := min(len(ops), 64)
			w.run(t, l, ops[:n])
			ops = ops[n:]
			var err error
			if l, err = w.same(t, l).Open(); err != nil {
				t.Fatal(err)
			}
		}
		w.same(t, l)
	})
}
