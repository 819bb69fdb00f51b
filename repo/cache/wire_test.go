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
		{"Row", Entry{Ver: 0x0102030405060708, Value: []byte("row")}, "02 00 0102030405060708 00000003 00000000 726f77"},
		{"Body", Entry{Ver: 2, Value: []byte("row"), Body: []byte("list"), Token: Token{cas: 9}}, "02 00 0000000000000002 00000003 00000004 726f77 6c697374"},
		{"Apart", Entry{Ver: 2, Value: []byte("row"), Body: make([]byte, maxInline+1)}, "02 02 0000000000000002 00000003 00000000 726f77"},
		{"Partial", Entry{Ver: 2, Value: []byte("row"), Partial: true}, "02 02 0000000000000002 00000003 00000000 726f77"},
		{"Empty", Entry{Ver: 1}, "02 00 0000000000000001 00000000 00000000"},
		{"Absent", Entry{Value: []byte("dropped"), Body: []byte("too")}, "02 00 0000000000000000 00000000 00000000"},
		{"Hole", Entry{Ver: 9, Value: make([]byte, maxBytes+1)}, "02 01 0000000000000009 00000000 00000000"},
		{"HoleWithHead", Entry{Ver: 9, Value: []byte("row"), Body: make([]byte, maxBytes)}, "02 01 0000000000000009 00000003 00000000 726f77"},
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
		"short header":    good[:headerSize-1],
		"short value":     good[:len(good)-1],
		"long value":      append(bytes.Clone(good), 0),
		"layout 0":        change(0, 0),
		"layout 1":        change(0, 1),
		"layout 3":        change(0, 3),
		"kind 3":          change(1, 3),
		"hole with body":  change(1, kindHole),
		"apart with body": change(1, kindApart),
		"absent value":    change(9, 0),
		"absent apart":    pack(kindApart, Entry{}),
		"huge value":      change(10, 0xff),
		"huge body":       change(14, 0xff),
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
		if got := pack(kind, e); !bytes.Equal(got, b) {
			t.Errorf("decoded %x, encoded %x", b, got)
		}
	})
}
