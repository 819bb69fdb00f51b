package cache

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// TestEncode_Golden guards the bytes that other processes read.
func TestEncode_Golden(t *testing.T) {
	tests := []struct {
		name string
		e    Entry
		want string
	}{
		{"Row", Entry{Ver: 0x0102030405060708, Value: []byte("row")}, "40 888e98a8c0e0808101 03 726f77"},
		{"Body", Entry{Ver: 2, Value: []byte("row"), Body: []byte("list")}, "40 02 03 726f77 6c697374"},
		{"Apart", Entry{Ver: 2, Value: []byte("row"), Body: make([]byte, maxInline+1)}, "42 02 03 726f77"},
		{"Partial", Entry{Ver: 2, Value: []byte("row"), Partial: true}, "42 02 03 726f77"},
		{"Empty", Entry{Ver: 1}, "40 01 00"},
		{"Absent", Entry{Value: []byte("dropped"), Body: []byte("too")}, "40 00 00"},
		{"Hole", Entry{Ver: 9, Value: make([]byte, maxBytes+1)}, "41 09 00"},
		{"HoleWithHead", Entry{Ver: 9, Value: []byte("row"), Body: make([]byte, maxBytes)}, "41 09 03 726f77"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want, err := hex.DecodeString(strings.ReplaceAll(test.want, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(test.e); !bytes.Equal(got, want) {
				t.Errorf("got %x, want %x", got, want)
			}
		})
	}
}

func TestDecode_Bad(t *testing.T) {
	good := encode(Entry{Ver: 7, Value: []byte("row"), Body: []byte("list")})
	change := func(at int, b byte) []byte {
		bad := bytes.Clone(good)
		bad[at] = b
		return bad
	}
	bad := map[string][]byte{
		"nothing":         nil,
		"only a layout":   good[:1],
		"short head":      good[:2],
		"short value":     good[:5],
		"layout 0":        change(0, 0),
		"layout 1":        change(0, 0x10),
		"layout 2":        change(0, 2),
		"layout 3":        change(0, 0x30),
		"kind 3":          change(0, layout<<4|3),
		"hole with body":  change(0, layout<<4|kindHole),
		"apart with body": change(0, layout<<4|kindApart),
		"absent value":    change(1, 0),
		"absent apart":    pack(nil, kindApart, Entry{}),
		"huge value":      change(2, 0x7f),
		"endless ver":     append([]byte{layout << 4}, bytes.Repeat([]byte{0xff}, 12)...),
		"endless length":  append([]byte{layout << 4, 7}, bytes.Repeat([]byte{0xff}, 12)...),
		"long ver":        {layout << 4, 0x87, 0, 0},
	}
	for name, b := range bad {
		if e, _, err := decode(b); !errors.Is(err, errLayout) {
			t.Errorf("%s: got %v, %v, want an error", name, e, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(encode(Entry{Ver: 7, Value: []byte("row")}))
	f.Add(encode(Entry{Ver: 7, Value: []byte("row"), Body: []byte("list")}))
	f.Add(encode(Entry{Ver: 7, Value: []byte("row"), Partial: true}))
	f.Add(encode(Entry{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, kind, err := decode(b)
		if err != nil {
			return
		}
		if got := pack(nil, kind, e); !bytes.Equal(got, b) {
			t.Errorf("decoded %x, encoded %x", b, got)
		}
	})
}
