package content

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// address reads a web address.
func (p *Part) address(s string) {
	scheme := cutScheme(s[p.Start:])
	before, _ := utf8.DecodeLastRuneInString(s[:p.Start])
	if scheme == 0 || inWord(before) {
		return
	}
	rest := s[p.Start+scheme:]
	authority := rest[:run(rest, "/?#")]
	host := cutHost(authority)
	if host == 0 || strings.Contains(authority, "@") {
		return
	}
	n := host
	if host == len(authority) {
		n += run(rest[host:], "")
	}
	p.End = p.Start + scheme + len(trimAddress(rest[:n]))
	p.Kind, p.Name = Address, s[p.Start:p.End]
}

// cutScheme returns the length of http:// or https:// in any case, 0 where s does not
// begin so.
func cutScheme(s string) int {
	for _, scheme := range [...]string{"https://", "http://"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return len(scheme)
		}
	}
	return 0
}

// run returns how many bytes of s an address may have, up to the first of stop. What is
// not seen, spaces and what browsers escape end it.
func run(s, stop string) int {
	for i, r := range s {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError ||
			r < utf8.RuneSelf && (strings.IndexByte("<>\"`{}|\\^", byte(r)) >= 0 || strings.IndexByte(stop, byte(r)) >= 0) {
			return i
		}
	}
	return len(s)
}

// cutHost returns the length of the host and its port that an authority begins with.
func cutHost(authority string) int {
	n := 0
	for i, r := range authority {
		if !inTag(r) && r != '-' && r != '.' || i == 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	if n == 0 {
		return 0
	}
	return n + len(cutPort(authority[n:]))
}

// trimAddress takes off the end of an address the punctuation of the sentence that it
// stands in, and brackets that do not pair.
func trimAddress(s string) string {
	round := strings.Count(s, "(") - strings.Count(s, ")")
	square := strings.Count(s, "[") - strings.Count(s, "]")
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		switch {
		case r == ')' && round < 0:
			round++
		case r == ']' && square < 0:
			square++
		case r == '(':
			round--
		case r == '[':
			square--
		case r == ')', r == ']':
			return s
		case strings.ContainsRune("?!.,:;*_~'", r), r >= utf8.RuneSelf && unicode.IsPunct(r):
		default:
			return s
		}
		s = s[:len(s)-size]
	}
	return s
}
