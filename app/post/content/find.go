package content

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a Part is.
type Kind uint8

// The kinds.
const (
	Mention Kind = iota
	Tag
	Address
)

// Part is a piece of a text that may link somewhere.
type Part struct {
	Kind       Kind
	Start, End int    // in bytes
	Name       string // of the account or the tag as written, or the whole address
	Domain     string // of a mention, "" where none is written
}

// Find returns the parts of a text in their order. They do not overlap.
func Find(s string) []Part {
	if strings.IndexByte(s, '@') < 0 && strings.IndexByte(s, '#') < 0 && !strings.Contains(s, "://") {
		return nil
	}
	parts := make([]Part, 0, 4)
	for i := 0; i < len(s); {
		p := Part{Start: i, End: i}
		switch s[i] {
		case '@':
			p.mention(s)
		case '#':
			p.tag(s)
		case 'h', 'H':
			p.address(s)
		}
		if p.Name != "" {
			parts = append(parts, p)
		}
		i = max(p.End, i+1)
	}
	return parts
}

// Mentions returns the names that a text mentions, in lower case, without repeats. Names
// with another domain than ours are left out.
func Mentions(s, domain string) []string {
	return names(Find(s), func(p Part) bool { return p.Kind == Mention && p.here(domain) })
}

// Tags returns the tags among parts, in lower case, without repeats.
func Tags(parts []Part) []string {
	return names(parts, func(p Part) bool { return p.Kind == Tag })
}

func names(parts []Part, which func(Part) bool) []string {
	var found []string
	for _, p := range parts {
		if !which(p) {
			continue
		}
		if name := strings.ToLower(p.Name); !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// here tells whether a mention is of an account of ours.
func (p *Part) here(domain string) bool {
	return p.Domain == "" || strings.EqualFold(p.Domain, domain)
}

// maxName is the longest name of an account.
const maxName = 60

// mention reads @name or @name@domain.
func (p *Part) mention(s string) {
	before, _ := utf8.DecodeLastRuneInString(s[:p.Start])
	if inWord(before) || before == '/' || before == '=' {
		return
	}
	name := cutName(s[p.Start+1:])
	p.End += 1 + len(name)
	if after, _ := utf8.DecodeRuneInString(s[p.End:]); name == "" || len(name) > maxName || inWord(after) {
		return
	}
	p.Kind, p.Name = Mention, name
	if strings.HasPrefix(s[p.End:], "@") {
		rest := s[p.End+1:]
		p.Domain = cutName(rest)
		p.Domain += cutPort(rest[len(p.Domain):])
		if p.Domain != "" {
			p.End += 1 + len(p.Domain)
		}
	}
}

// cutName returns what s begins with of letters, digits and underscores, with dots and
// dashes inside.
func cutName(s string) string {
	n := 0
	for n < len(s) && (isName(s[n]) || n > 0 && (s[n] == '.' || s[n] == '-')) {
		n++
	}
	return strings.TrimRight(s[:n], ".-")
}

func isName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// cutPort returns what s begins with of a colon and digits after it.
func cutPort(s string) string {
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 1 || s[0] != ':' {
		return ""
	}
	return s[:n]
}

// inWord tells whether what stands next to r is in one word with it. After a letter of a
// script without capitals, such as Chinese, a word may begin.
func inWord(r rune) bool {
	return r == '_' || unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.IsDigit(r)
}

// inTag tells whether r may stand in a tag.
func inTag(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// joiners stand between the letters of a word: Catalan l·l, names in Katakana, Persian.
const joiners = "\u00b7\u30fb\u200c"

// tag reads #tag.
func (p *Part) tag(s string) {
	before, size := utf8.DecodeLastRuneInString(s[:p.Start])
	if size > 0 && (inTag(before) || strings.ContainsRune("/=)", before)) {
		return
	}
	letters, end := false, p.Start+1
	for i, r := range s[end:] {
		if inTag(r) {
			letters = letters || unicode.IsLetter(r)
			end = p.Start + 1 + i + utf8.RuneLen(r)
		} else if !strings.ContainsRune(joiners, r) || p.Start+1+i > end || i == 0 {
			break
		}
	}
	p.End = end
	if letters {
		p.Kind, p.Name = Tag, s[p.Start+1:end]
	}
}
