package graph

import (
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseLine(t *testing.T) {
	tests := []struct {
		line string
		want edge
		is   verdict
	}{
		{"1 2", edge{1, 2, 0}, isEdge},
		{"1\t2", edge{1, 2, 0}, isEdge},
		{"1,2", edge{1, 2, 0}, isEdge},
		{"1, 2", edge{1, 2, 0}, isEdge},
		{"1 , 2 , 3", edge{1, 2, 3}, isEdge},
		{"  1 \t 2  \r", edge{1, 2, 0}, isEdge},
		{"1 2 1700000000", edge{1, 2, 1700000000}, isEdge},
		{"1,2,1700000000", edge{1, 2, 1700000000}, isEdge},
		{"1 2 0", edge{1, 2, 0}, isEdge},
		{"1,2,", edge{1, 2, 0}, isEdge},
		{"1 2 4294967295", edge{1, 2, 4294967295}, isEdge},
		{"001 02", edge{1, 2, 0}, isEdge},
		{"9223372036854775807 1", edge{1<<63 - 1, 1, 0}, isEdge},
		{"7 7", edge{7, 7, 0}, isEdge},
		{"1 2 # friend", edge{1, 2, 0}, isEdge},
		{"1 2 3#", edge{1, 2, 3}, isEdge},
		{"", edge{}, isComment},
		{" \t\r", edge{}, isComment},
		{"# follower followee", edge{}, isComment},
		{"  #", edge{}, isComment},
		{"1", edge{}, missingField},
		{"1 ", edge{}, missingField},
		{"1,", edge{}, missingField},
		{"1 # 2", edge{}, missingField},
		{",1,2", edge{}, missingField},
		{"1,,2", edge{}, missingField},
		{"1 2 3 4", edge{}, extraField},
		{"1 2 3 x", edge{}, extraField},
		{"a 2", edge{}, notNumber},
		{"1 b", edge{}, notNumber},
		{"follower,followee", edge{}, notNumber},
		{"-1 2", edge{}, notNumber},
		{"+1 2", edge{}, notNumber},
		{"1.0 2", edge{}, notNumber},
		{"1;2", edge{}, notNumber},
		{"1 2", edge{}, notNumber},
		{"\x00 2", edge{}, notNumber},
		{"99999999999999999999x 2", edge{}, notNumber},
		{"0 2", edge{}, zeroID},
		{"1 000", edge{}, zeroID},
		{"9223372036854775808 1", edge{}, largeID},
		{"1 18446744073709551616", edge{}, largeID},
		{"1 99999999999999999999999999", edge{}, largeID},
		{"1 2 4294967296", edge{}, badTime},
		{"1 2 -5", edge{}, badTime},
		{"1 2 1.7e9", edge{}, badTime},
		{"1 2 now", edge{}, badTime},
		{"1,2,,", edge{}, badTime},
	}
	for _, tt := range tests {
		got, is := parseLine([]byte(tt.line))
		if got != tt.want || is != tt.is {
			t.Errorf("parseLine(%q): got %v, %v; want %v, %v", tt.line, got, is, tt.want, tt.is)
		}
	}
}

// slowParse is parseLine for lines without commas, written to be plain.
func slowParse(line string) (edge, verdict) {
	line, _, _ = strings.Cut(line, "#")
	f := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
	if len(f) == 0 {
		return edge{}, isComment
	}
	var ids [2]uint64
	for i := range ids {
		if i >= len(f) {
			return edge{}, missingField
		}
		n, ok := digits(f[i])
		switch {
		case !ok:
			return edge{}, notNumber
		case n.Sign() == 0:
			return edge{}, zeroID
		case n.BitLen() > 63:
			return edge{}, largeID
		}
		ids[i] = n.Uint64()
	}
	e := edge{follower: ids[0], followee: ids[1]}
	if len(f) > 2 {
		n, ok := digits(f[2])
		if !ok || n.BitLen() > 32 {
			return edge{}, badTime
		}
		e.time = uint32(n.Uint64())
	}
	if len(f) > 3 {
		return edge{}, extraField
	}
	return e, isEdge
}

func digits(s string) (*big.Int, bool) {
	if strings.Trim(s, "0123456789") != "" {
		return nil, false
	}
	return new(big.Int).SetString(s, 10)
}

func FuzzParseLine(f *testing.F) {
	for _, line := range []string{"1 2", "1\t2 3", "0 1", "x", "# c", "9223372036854775808 1", "1 2 4294967296", "1 2 3 4", "1,2,3", ",,", ""} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, is := parseLine([]byte(line))
		if is == isEdge && (got.follower == 0 || got.followee == 0 || got.follower > 1<<63-1 || got.followee > 1<<63-1) {
			t.Fatalf("%q: got the edge %v", line, got)
		}
		if strings.ContainsAny(line, ",\n") || !utf8.ValidString(line) {
			return
		}
		if want, wantIs := slowParse(line); got != want || is != wantIs {
			t.Fatalf("%q: got %v, %v; want %v, %v", line, got, is, want, wantIs)
		}
	})
}
