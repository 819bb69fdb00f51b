package entity

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// lineEnds begin with a byte that other characters begin with, too.
const lineEnds = "\u2028\u2029"

// escapes are what bytes become in a JSON string, "" for those that stay.
var escapes = func() (all [256]string) {
	for c := range utf8.RuneSelf {
		quoted, _ := json.Marshal(string(rune(c))) // a string always marshals
		if inner := string(quoted[1 : len(quoted)-1]); inner != string(rune(c)) {
			all[c] = inner
		}
	}
	all[lineEnds[0]] = "to be looked at"
	return all
}()

// appendString appends a JSON string, the same as encoding/json. It is our own because the
// text of a post is the longest part of a page and is HTML, and most of the world does not
// write ASCII: see BenchmarkString.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		escaped, _ := json.Marshal(s)
		return append(b, escaped...)
	}
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		escape, size := escapes[s[i]], 1
		if escape == "" {
			continue
		}
		if s[i] == lineEnds[0] {
			switch size = 3; s[i : i+3] {
			case lineEnds[:3]:
				escape = `\u2028`
			case lineEnds[3:]:
				escape = `\u2029`
			default:
				continue
			}
		}
		b = append(append(b, s[start:i]...), escape...)
		start = i + size
	}
	return append(append(b, s[start:]...), '"')
}

// appendOrNull appends a string, an empty one as null.
func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendID appends an id, 0 as null.
func appendID(b []byte, id uint64) []byte {
	if id == 0 {
		return append(b, "null"...)
	}
	return append(strconv.AppendUint(append(b, '"'), id, 10), '"')
}

// appendUntil appends a time in unix seconds, 0 as null.
func appendUntil(b []byte, seconds uint32) []byte {
	if seconds == 0 {
		return append(b, "null"...)
	}
	return appendTime(b, int64(seconds)*1000)
}

// appendTime appends a time in unix milliseconds as "2006-01-02T15:04:05.000Z". RFC 3339
// is the one layout that package time formats fast; with this one as the layout, times
// took a third of a page.
func appendTime(b []byte, millis int64) []byte {
	t := time.UnixMilli(millis).UTC()
	b = t.AppendFormat(append(b, '"'), time.RFC3339)
	ms := t.Nanosecond() / 1e6
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// appendDate appends the day of a time in unix milliseconds, 0 as null.
func appendDate(b []byte, millis int64) []byte {
	if millis == 0 {
		return append(b, "null"...)
	}
	b = time.UnixMilli(millis).UTC().AppendFormat(append(b, '"'), time.RFC3339)
	return append(b[:len(b)-len("T00:00:00Z")], '"')
}
