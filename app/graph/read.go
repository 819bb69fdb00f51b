package graph

import (
	"bytes"
	"math"
	"strconv"

	"kith/repo/list"
)

// maxLine is the longest line that is read; a comment may be longer.
const maxLine = 64 << 10

// edge is one line: follower follows followee since time (0: unknown).
type edge struct {
	follower, followee uint64
	time               uint32
}

// verdict is what a line is, or why it is rejected, as it stands in the rejects file.
type verdict string

const (
	isEdge       verdict = "edge"
	isComment    verdict = "comment"
	missingField verdict = "missing field"
	extraField   verdict = "extra field"
	notNumber    verdict = "not a number"
	zeroID       verdict = "id is 0"
	largeID      verdict = "id is too large"
	badTime      verdict = "bad time"
	cutShort     verdict = "cut short"
	longLine     verdict = "line is too long"
	erasedID     verdict = "erased"
)

// parseLine reads one line without its newline.
func parseLine(b []byte) (edge, verdict) {
	if i := bytes.IndexByte(b, '#'); i >= 0 {
		b = b[:i]
	}
	first, b, ok := field(b)
	if !ok {
		return edge{}, isComment
	}
	var e edge
	var v verdict
	if e.follower, v = parseID(first); v != isEdge {
		return edge{}, v
	}
	second, b, ok := field(b)
	if !ok {
		return edge{}, missingField
	}
	if e.followee, v = parseID(second); v != isEdge {
		return edge{}, v
	}
	third, b, ok := field(b)
	if !ok {
		return e, isEdge
	}
	t, v := number(third, math.MaxUint32)
	if v != isEdge {
		return edge{}, badTime
	}
	e.time = uint32(t)
	if _, _, ok := field(b); ok {
		return edge{}, extraField
	}
	return e, isEdge
}

// field cuts the next field off, with the one comma that may follow it. Two
// commas have an empty field between them.
func field(b []byte) (f, rest []byte, ok bool) {
	b = skipBlank(b)
	if len(b) == 0 {
		return nil, nil, false
	}
	n := 0
	for n < len(b) && b[n] != ',' && !blank(b[n]) {
		n++
	}
	f, rest = b[:n], skipBlank(b[n:])
	if len(rest) > 0 && rest[0] == ',' {
		rest = rest[1:]
	}
	return f, rest, true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func skipBlank(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	return b
}

func parseID(f []byte) (uint64, verdict) {
	if len(f) == 0 {
		return 0, missingField
	}
	id, v := number(f, list.MaxID)
	if v == isEdge && id == 0 {
		return 0, zeroID
	}
	return id, v
}

// number reads decimal digits and nothing else.
func number(f []byte, most uint64) (uint64, verdict) {
	n, err := strconv.ParseUint(string(f), 10, 64)
	switch {
	case err == nil && n <= most:
		return n, isEdge
	case len(f) == 0, len(bytes.TrimLeft(f, "0123456789")) > 0:
		return 0, notNumber
	}
	return 0, largeID
}
