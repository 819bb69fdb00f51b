package content

import (
	"net/url"
	"strings"
)

// Links says where parts lead to.
type Links struct {
	Base     string // the public address
	Domain   string // the name after the @ of our accounts
	Accounts []Account
}

// Account is an account that a post mentions.
type Account struct {
	ID       uint64
	Username string
}

// HTML renders a text.
func HTML(s string, to Links) string { return string(AppendHTML(nil, s, Find(s), to)) }

// AppendHTML appends a text, whose parts Find found, as HTML. A blank line begins a
// paragraph. A mention is linked where its account is among those of to.
func AppendHTML(b []byte, s string, parts []Part, to Links) []byte {
	if s == "" {
		return b
	}
	b = append(b, "<p>"...)
	at := 0
	for i := range parts {
		p := &parts[i]
		b = appendText(b, s[at:p.Start])
		at = p.End
		switch p.Kind {
		case Mention:
			b = to.appendMention(b, p, s[p.Start:p.End])
		case Tag:
			b = to.appendTag(b, p)
		case Address:
			b = appendText(append(b, `<a href="`...), p.Name)
			b = appendText(append(b, `" target="_blank" rel="nofollow noopener noreferrer">`...), p.Name)
			b = append(b, `</a>`...)
		}
	}
	return append(appendText(b, s[at:]), "</p>"...)
}

func (to Links) appendMention(b []byte, p *Part, written string) []byte {
	for _, a := range to.Accounts {
		if p.here(to.Domain) && strings.EqualFold(p.Name, a.Username) {
			b = appendText(append(b, `<span class="h-card"><a href="`...), to.Base)
			b = appendText(append(b, "/@"...), a.Username)
			b = appendText(append(b, `" class="u-url mention">@<span>`...), a.Username)
			return append(b, `</span></a></span>`...)
		}
	}
	return appendText(b, written)
}

func (to Links) appendTag(b []byte, p *Part) []byte {
	b = appendText(append(b, `<a href="`...), TagURL(to.Base, p.Name))
	b = appendText(append(b, `" class="mention hashtag" rel="tag">#<span>`...), p.Name)
	return append(b, `</span></a>`...)
}

// TagURL returns the address of a tag.
func TagURL(base, name string) string {
	return base + "/tags/" + url.PathEscape(strings.ToLower(name))
}

// special are the bytes that appendText does not copy.
var special = func() (is [256]bool) {
	for c := range is[:' '] {
		is[c] = c != '\t'
	}
	is['&'], is['<'], is['>'], is['"'], is['\''], is[0x7f] = true, true, true, true, true, true
	return is
}()

// appendText is the one way of a user's bytes into HTML. It escapes them for an element
// and for an attribute in quotes, breaks lines and drops control characters.
func appendText(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		b = append(b, s[start:i]...)
		switch s[i] {
		case '&':
			b = append(b, "&amp;"...)
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '"':
			b = append(b, "&quot;"...)
		case '\'':
			b = append(b, "&#39;"...)
		case '\n', '\r':
			first := i
			for i+1 < len(s) && (s[i+1] == '\n' || s[i+1] == '\r') {
				i++
			}
			ends := s[first : i+1] // each is \n, \r, or \r\n
			if len(ends)-strings.Count(ends, "\r\n") == 1 {
				b = append(b, "<br />"...)
			} else {
				b = append(b, "</p><p>"...)
			}
		}
		start = i + 1
	}
	return append(b, s[start:]...)
}
