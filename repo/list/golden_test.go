package list

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the saved bad inputs anew")

// goldens are lists whose bytes may never change within a format version. Add
// new ones; a difference in an old one means that stored rows are not read.
var goldens = map[string]func(l *List){
	"empty": func(*List) {},
	"edges": func(l *List) {
		l.AddFollowing(7, 1_700_000_000)
		l.AddFollower(7, 1_700_000_100)
		l.AddFollower(8, 1_700_000_000)
		l.AddFollowing(8, 1_700_000_100)
		l.AddFollower(9, 1_700_000_000)
		l.AddFollower(10, 1_700_000_000)
		l.AddFollowing(300, 1_600_000_000)
	},
	"sections": func(l *List) {
		for s := Blocking; s <= Requested; s++ {
			for i := range uint64(3) {
				l.Put(s, uint64(s)*1000+i, 1_700_000_000+uint32(i)*86400)
			}
		}
		l.AddFollower(uint64(Muting)*1000, 5)
	},
	"options": func(l *List) {
		l.SetOption(1, Option{HideReposts: true})
		l.SetOption(2, Option{Notify: true, Languages: []string{"en", "zh-Hant-TW"}})
		l.SetOption(3, Option{HideNotifications: true, MuteUntil: 1_800_000_000})
		l.SetOption(4, Option{Note: true})
		l.SetOption(5, Option{true, true, true, 1, true, []string{"de"}})
	},
	"wide": func(l *List) {
		l.AddFollower(1<<32, 1_700_000_000)
		l.AddFollowing(MaxID, 1_700_000_000)
		l.Put(Blocking, 3, 1_700_000_000)
	},
	"unknown": func(l *List) {
		for id := range uint64(300) {
			l.AddFollower(id+1, 0)
			l.AddFollowing(2*id+1, 0)
		}
		l.AddFollower(1000, 9) // the only times are those of the newest
		l.AddFollower(301, 9)
	},
	"bare": func(l *List) { // no times, no columns
		l.AddFollowing(7, 0)
		l.AddFollower(7, 0)
		l.AddFollower(8, 0)
		l.Put(Requested, 9, 0)
	},
	"tail": func(l *List) { // a column between two that have no bytes
		l.AddFollowing(7, 0)
		l.AddFollower(7, 0)
		l.AddFollower(8, 1_700_000_000)
		l.Put(Requested, 9, 0)
	},
	"counts": func(l *List) { // more than 255 in a section
		for id := range uint64(256) {
			l.AddFollower(1000+id, 1_700_000_000+uint32(id)*60)
		}
		l.AddFollowing(7, 1_700_000_000)
	},
	"times": func(l *List) {
		for i, at := range []uint32{0, 0, 1, 127, 128, 16383, 16384, math.MaxUint32, math.MaxUint32} {
			l.AddFollower(uint64(i+1), at)
		}
		l.AddFollowing(1, math.MaxUint32)
		l.AddFollowing(8, 0)
		l.AddFollowing(2, 0)
	},
}

func TestGolden(t *testing.T) {
	for name, fill := range goldens {
		t.Run(name, func(t *testing.T) {
			l := New()
			fill(l)
			got := encode(t, l)
			file := filepath.Join("testdata", name+".golden")
			if *update {
				writeHex(t, file, got)
			}
			want := readHex(t, file)
			if !bytes.Equal(got, want) {
				t.Fatalf("got  %x\nwant %x", got, want)
			}
			v, err := Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Check(); err != nil {
				t.Fatal(err)
			}
			again, err := v.Open()
			if err != nil {
				t.Fatal(err)
			}
			if b := encode(t, again); !bytes.Equal(b, want) {
				t.Fatalf("opened and encoded: got %x\nwant %x", b, want)
			}
		})
	}
}

// writeHex writes bytes as hex, 32 to a line.
func writeHex(t *testing.T, file string, b []byte) {
	t.Helper()
	var text strings.Builder
	for i := 0; i < len(b); i += 32 {
		text.WriteString(hex.EncodeToString(b[i:min(len(b), i+32)]) + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readHex(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBad reads saved inputs of which each is broken in the way that its name
// says. None may pass Check, whatever else still answers from it.
func TestBad(t *testing.T) {
	if *update {
		for name, b := range badInputs() {
			writeHex(t, filepath.Join("testdata", "bad", name+".hex"), b)
		}
	}
	files, err := filepath.Glob("testdata/bad/*.hex")
	if err != nil || len(files) != len(badInputs()) {
		t.Fatalf("got %d saved inputs, error %v, want %d", len(files), err, len(badInputs()))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".hex")
		t.Run(name, func(t *testing.T) {
			found, err := findBad(readHex(t, file))
			if want := findsBad(name); found != want || !errors.Is(err, ErrFormat) {
				t.Fatalf("got error %v from %q, want one of %v from %q", err, found, ErrFormat, want)
			}
		})
	}
}

// findBad returns the first error of Parse, Open and Check.
func findBad(b []byte) (string, error) {
	v, err := Parse(b)
	if err != nil {
		return "Parse", err
	}
	useAll(v)
	checkErr := v.Check()
	if _, err := v.Open(); err != nil {
		if checkErr == nil {
			return "Open, not Check", err
		}
		return "Open", err
	}
	return "Check", checkErr
}

// useAll calls everything that reads bytes that passed Parse only. Nothing may
// panic, and what is bad must be ErrFormat.
func useAll(v View) (errs []error) {
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for s := range numSections + 1 {
		note(v.Each(s, func(uint64, uint32, uint32) bool { return true }))
	}
	for o := range numOrders {
		for _, r := range []Range{
			{Limit: 2}, {Limit: 2, Oldest: true}, {Limit: 3, Before: Cursor{1_700_000_000, 8}},
			{Limit: 1, After: Cursor{0, 1}, Before: Cursor{math.MaxUint32, 1}, Oldest: true},
		} {
			_, _, err := v.Page(o, r, nil)
			note(err)
		}
		v.AppendIDs(nil, o)
	}
	v.Rels(opIDs, make([]Rel, len(opIDs)))
	_, err := v.Options()
	note(err)
	for _, id := range opIDs {
		v.Rel(id)
		_, _, err := v.Option(id)
		note(err)
	}
	if l, err := v.Open(); err != nil {
		note(err)
	} else if _, err := l.Encode(nil); err != nil {
		note(err)
	}
	return errs
}
