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
		{"Row", Entry{Ver: 0x0102030405060708, Value: []byte("row")}, "01 00 0102030405060708 00000003 726f77"},
		{"Empty", Entry{Ver: 1}, "01 00 0000000000000001 00000000"},
		{"Absent", Entry{Value: []byte("dropped")}, "01 00 0000000000000000 00000000"},
		{"Hole", Entry{Ver: 9, Value: make([]byte, maxValue+1)}, "01 01 0000000000000009 00000000"},
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
	good := encode(Entry{Ver: 7, Value: []byte("row")})
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
		"layout 2":        change(0, 2),
		"kind 2":          change(1, 2),
		"hole with value": change(1, kindHole),
		"absent value":    change(9, 0),
		"huge length":     change(10, 0xff),
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
	f.Add(encode(Entry{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, hole, err := decode(b)
		if err != nil || hole {
			return
		}
		if got := encode(e); !bytes.Equal(got, b) {
			t.Errorf("decoded %x, encoded %x", b, got)
		}
	})
}
