package content

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var here = Links{Base: "https://kith.example", Domain: "kith.example", Accounts: []Account{{7, "Ann"}, {8, "bob"}}}

const (
	ann  = `<span class="h-card"><a href="https://kith.example/@Ann" class="u-url mention">@<span>Ann</span></a></span>`
	more = ` target="_blank" rel="nofollow noopener noreferrer">`
)

func TestHTML(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a": "<p>a</p>", "a\nb": "<p>a<br />b</p>", "a\n\nb": "<p>a</p><p>b</p>", "a\r\nb\r\n\r\nc": "<p>a<br />b</p><p>c</p>", "a\n\n\n\nb": "<p>a</p><p>b</p>",
		"x\rY": "<p>x<br />Y</p>", "x\r\ry": "<p>x</p><p>y</p>", "x\n\ry": "<p>x</p><p>y</p>",
		"a\tb\x00c\x1b\x7f": "<p>a\tbc</p>", "é☃😀": "<p>é☃😀</p>",
		`<b a="1" c='2'>&amp;`:    "<p>&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;</p>",
		"@ann":                    "<p>" + ann + "</p>",
		"hi @ANN@Kith.example!":   "<p>hi " + ann + "!</p>",
		"@ann@other.example @eve": "<p>@ann@other.example @eve</p>",
		"#Go <":                   `<p><a href="https://kith.example/tags/go" class="mention hashtag" rel="tag">#<span>Go</span></a> &lt;</p>`,
		"#été":                    `<p><a href="https://kith.example/tags/%C3%A9t%C3%A9" class="mention hashtag" rel="tag">#<span>été</span></a></p>`,
		"http://a.example/?b&c'd": `<p><a href="http://a.example/?b&amp;c&#39;d"` + more + `http://a.example/?b&amp;c&#39;d</a></p>`,
		"@ann\n#a":                "<p>" + ann + `<br /><a href="https://kith.example/tags/a" class="mention hashtag" rel="tag">#<span>a</span></a></p>`,
	} {
		if got := HTML(s, here); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", s, got, want)
		}
	}
}

// allowed are the elements and attributes that a text may become, each attribute with the
// values that it may have, none: see safe.
var allowed = map[string]map[string][]string{
	"p": {}, "br": {}, "span": {"class": {"h-card"}},
	"a": {"href": nil, "target": {"_blank"}, "class": {"u-url mention", "mention hashtag"}, "rel": {"tag", "nofollow noopener noreferrer"}},
}

// FuzzHTML parses what comes out as a browser does: there is nothing but what is allowed,
// links lead to where they say, and the text is the text that went in.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{
		"", "a\n\nb", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `http://a.example/"onmouseover="alert(1)`, "http://a.example/'><b>", "javascript:alert(1)",
		"@ann #tag http://a.example/x&lt;", "#a\"b", "@bob\"'", "&#60;b&#62;", "http://a.example/&quot;><b>", "\x00<\x00b>", "http://javascript:alert(1)/", "HTTP://a\u2028b", "]]><!-- --> <![CDATA[", "<\nb>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := HTML(s, here)
		doc, err := html.ParseFragment(strings.NewReader(out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		for _, n := range doc {
			safe(t, s, n, &shown)
		}
		if got, want := letters(shown.String()), letters(s); utf8.ValidString(s) && got != want {
			t.Fatalf("%q shows %q, want %q", s, got, want)
		}
	})
}

func safe(t *testing.T, s string, n *html.Node, shown *strings.Builder) {
	switch n.Type {
	case html.TextNode:
		shown.WriteString(n.Data)
	case html.ElementNode:
		attributes, ok := allowed[n.Data]
		if !ok {
			t.Fatalf("%q: element %s", s, n.Data)
		}
		for _, a := range n.Attr {
			values, ok := attributes[a.Key]
			if !ok || values != nil && !slices.Contains(values, a.Val) || a.Namespace != "" {
				t.Fatalf("%q: attribute %s=%q of %s", s, a.Key, a.Val, n.Data)
			}
			if a.Key == "href" {
				leads(t, s, a.Val, n)
			}
		}
	default:
		t.Fatalf("%q: node of type %d: %q", s, n.Type, n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		safe(t, s, c, shown)
	}
}

// leads checks a link: it is of us, or http or https and to the host that it shows.
func leads(t *testing.T, s, to string, n *html.Node) {
	if strings.HasPrefix(to, here.Base+"/@") || strings.HasPrefix(to, here.Base+"/tags/") {
		return
	}
	lower := strings.ToLower(to)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") || n.FirstChild == nil || n.FirstChild.Data != to {
		t.Fatalf("%q: link to %q", s, to)
	}
	if u, err := url.Parse(to); err == nil && (u.User != nil || u.Host == "") {
		t.Fatalf("%q: link to %q, host %q, user %v", s, to, u.Host, u.User)
	}
}

// letters returns what of a text HTML keeps in any case: no spaces and controls. The
// name of our domain goes when a mention is linked.
func letters(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(strings.ToLower(s), "@kith.example", "")
}

// BenchmarkHTML renders texts as they stand in home timelines.
func BenchmarkHTML(b *testing.B) {
	plain := strings.Repeat("A line of a post that names nobody, and goes on a bit. ", 6)
	for name, s := range map[string]string{
		"Plain":   plain,
		"Chinese": strings.Repeat("今天天气很好，我们去公园散步吧。", 6),
		"Parts":   "@ann " + plain + "\n\n#kith see https://en.wikipedia.org/wiki/Kith_(disambiguation)?a=1&b=2.",
	} {
		b.Run(name, func(b *testing.B) {
			buffer := make([]byte, 0, 4<<10)
			b.ReportAllocs()
			for b.Loop() {
				buffer = AppendHTML(buffer[:0], s, Find(s), here)
			}
		})
	}
}
