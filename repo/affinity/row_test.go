package affinity

import (
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/repo/list"
)

func TestRow_RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		row := Row{At: r.Uint32(), Entries: []Entry{}}
		most := uint64(math.MaxUint32)
		if i%2 == 0 {
			most = list.MaxID
		}
		for range r.IntN(600) {
			row.Entries = append(row.Entries, Entry{ID: 1 + r.Uint64N(most), Score: float32(1 + r.IntN(50))})
		}
		Sort(row.Entries)
		row.Entries = slices.Compact(row.Entries)
		b, err := row.encode()
		if err != nil {
			t.Fatal(err)
		}
		var got Row
		if err := got.decode(b); err != nil || got.At != row.At || !slices.Equal(got.Entries, row.Entries) {
			t.Fatalf("got %+v, %v, want %+v", got, err, row)
		}
	}
}

// The bytes of version 1 must stay readable, ids also by SQL.
func TestRow_Golden(t *testing.T) {
	for text, want := range map[string][]Entry{
		"01" + "04" + "0002" + "6a000000" + "00000007" + "00000002" + "42f6e979" + "3f800000": {{7, 123.456}, {2, 1}},
		"01" + "08" + "0001" + "6a000000" + "0000000100000000" + "3f000000":                   {{1 << 32, 0.5}},
		"01" + "04" + "0000" + "6a000000":                                                     {},
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var r Row
		if err := r.decode(raw); err != nil || r.At != 0x6a000000 || !slices.Equal(r.Entries, want) {
			t.Errorf("got %+v, %v, want %v", r, err, want)
		}
		if b, err := (Row{At: 0x6a000000, Entries: want}).encode(); err != nil || hex.EncodeToString(b) != text {
			t.Errorf("got %x, %v, want %s", b, err, text)
		}
	}
}

func TestRow_Bad(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"version":        "02040000" + "6a000000",
		"width":          "01050000" + "6a000000",
		"short":          "01040001" + "6a000000" + "00000007" + "3f8000",
		"long":           "01040001" + "6a000000" + "00000007" + "3f80000000",
		"id 0":           "01040001" + "6a000000" + "00000000" + "3f800000",
		"id too large":   "01080001" + "6a000000" + "8000000000000000" + "3f800000",
		"score 0":        "01040001" + "6a000000" + "00000007" + "00000000",
		"negative score": "01040001" + "6a000000" + "00000007" + "bf800000",
		"nan":            "01040001" + "6a000000" + "00000007" + "7fc00000",
		"infinite":       "01040001" + "6a000000" + "00000007" + "7f800000",
		"order":          "01040002" + "6a000000" + "00000007" + "00000008" + "3f000000" + "3f800000",
		"twice":          "01040002" + "6a000000" + "00000007" + "00000007" + "3f800000" + "3f800000",
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Row).decode(raw); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzRow(f *testing.F) {
	good, _ := Row{At: 7, Entries: []Entry{{7, 2}, {1 << 40, 1}}}.encode()
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Row
		if r.decode(b) != nil {
			return
		}
		out, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.decode(out); err != nil || !slices.Equal(r.Entries, again.Entries) {
			t.Fatalf("got %+v, %v, want %+v", again, err, r)
		}
	})
}
