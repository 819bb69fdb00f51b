package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// found writes parts as their marks and names.
func found(s string) []string {
	var out []string
	for _, p := range Find(s) {
		switch p.Kind {
		case Mention:
			out = append(out, "@"+p.Name+map[bool]string{true: "@" + p.Domain}[p.Domain != ""])
		case Tag:
			out = append(out, "#"+p.Name)
		case Address:
			out = append(out, p.Name)
		}
	}
	return out
}

func TestFind_Mention(t *testing.T) {
	check(t, map[string]string{
		"@ann": "@ann", "hi @ann.": "@ann", "@ann, @Bob!": "@ann @Bob", "(@ann)": "@ann", ".@ann": "@ann", "@ann's": "@ann", "@@ann": "@ann",
		"@ann-b.c": "@ann-b.c", "@ann-.": "@ann", "@_": "@_", "@7": "@7", "\n@ann\n@bob": "@ann @bob", "@ann/x": "@ann",
		"@ann@kith.example": "@ann@kith.example", "@ann@kith.example.": "@ann@kith.example", "@ann@localhost:8080 x": "@ann@localhost:8080",
		"@ann@kith.example: x": "@ann@kith.example", "@ann@": "@ann", "@ann@ bob": "@ann", "@ann@@bob": "@ann @bob",
		"你好@ann你好": "@ann", "@" + strings.Repeat("a", 60): "@" + strings.Repeat("a", 60),
		// none:
		"@": "", "@ ann": "", "@-ann": "", "@.": "", "@é": "", "@anné": "", "a@ann": "", "é@ann": "", "_@ann": "", "9@ann": "", "x/@ann": "", "?a=@ann": "",
		"mail ann@kith.example": "", "ann.b@kith.example": "", "@" + strings.Repeat("a", 61): "", "@" + strings.Repeat("a", 61) + "@kith.example": "",
	})
}

func TestFind_Tag(t *testing.T) {
	check(t, map[string]string{
		"#tag": "#tag", "#Tag.": "#Tag", "#a #b,#c": "#a #b #c", "(#a)": "#a", "#a-b": "#a", "#2024x": "#2024x", "#x_1": "#x_1", "##a": "#a", "#a#b": "#a",
		"#话题": "#话题", "#话题#后面": "#话题", "#हिन्दी": "#हिन्दी", "#été!": "#été", "#col·legi": "#col·legi", "#a·": "#a", "#a··b": "#a", "#می\u200cروم": "#می\u200cروم", "#Ж😀": "#Ж",
		"#１a": "#１a", "#a's": "#a",
		// none:
		"#": "", "# a": "", "#1": "", "#12_3": "", "#_": "", "#·a": "", "a#b": "", "é#b": "", "话#b": "", "1#b": "", "/#b": "", "x=#b": "", ")#b": "", "&#39;": "", "#-a": "", "#😀": "",
	})
}

func TestFind_Address(t *testing.T) {
	check(t, map[string]string{
		"http://a.example": "http://a.example", "HTTPS://A.example/B": "HTTPS://A.example/B", "see https://a.example/x?y=1&z=%20#top now": "https://a.example/x?y=1&z=%20#top",
		"http://a.example.": "http://a.example", "http://a.example/?": "http://a.example/", "http://a.example/x...": "http://a.example/x", "http://a.example/x!?": "http://a.example/x",
		"http://a.example,b": "http://a.example", "http://a.example:80/x": "http://a.example:80/x", "http://a.example:": "http://a.example", "http://a.example:x/": "http://a.example",
		"(http://a.example/b)": "http://a.example/b", "http://a.example/b_(c)": "http://a.example/b_(c)", "(http://a.example/b_(c))": "http://a.example/b_(c)",
		"http://a.example/b).": "http://a.example/b", "[http://a.example/b]": "http://a.example/b", "http://a.example/[b]": "http://a.example/[b]", "http://a.example/(": "http://a.example/",
		"http://a.example/)(": "http://a.example/", "http://a.example/([)]": "http://a.example/([)]", "<http://a.example/b>": "http://a.example/b", `"http://a.example/b"`: "http://a.example/b",
		"http://a.example/b'": "http://a.example/b", "http://a.example/b'c": "http://a.example/b'c", "http://a.example/x\\y": "http://a.example/x", "http://a.example\nb": "http://a.example",
		"http://a.example/a\u00a0b": "http://a.example/a", "http://a.example/a\u3000b": "http://a.example/a", "http://a.example/a\u202eb": "http://a.example/a", "http://a.example/a\xffb": "http://a.example/a",
		"http://localhost:3000/": "http://localhost:3000/", "http://1.2.3.4/x": "http://1.2.3.4/x", "http://bücher.example/ü": "http://bücher.example/ü", "http://a.example/你好。": "http://a.example/你好", "http://a.example。你好": "http://a.example",
		"看http://a.example/x": "http://a.example/x", "x:http://a.example": "http://a.example", "http://a.example?x": "http://a.example?x", "http://a.example#x": "http://a.example#x",
		"http://a.example/@ann#tag @bob": "http://a.example/@ann#tag @bob", "http://a.example/?http://b.example": "http://a.example/?http://b.example", "http://a.example http://b.example": "http://a.example http://b.example",
		// none:
		"http://": "", "http:// a": "", "http:///x": "", "http://.a": "", "http://-a": "", "http://?x": "", "xhttp://a.example": "", "éhttp://a.example": "", "1http://a.example": "", "ftp://a.example": "", "://a": "", "www.a.example": "",
		"javascript://a.example/%0aalert(1)": "", "data://text/html": "", "http:/a.example": "", "httpss://a.example": "", "http://[::1]/": "",
		"http://ann@a.example/": "", "https://good.example:x@a.example/": "", "http://a.example\u202e@b.example": "http://a.example @b.example",
	})
}

func check(t *testing.T, cases map[string]string) {
	t.Helper()
	for s, want := range cases {
		if got := strings.Join(found(s), " "); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestMentions(t *testing.T) {
	const s = "@Ann @bob @ANN @bob@kith.example @cat@KITH.example @dan@kith.example.org @eve@other.example http://a.example/@fay"
	if got := Mentions(s, "kith.example"); !slices.Equal(got, []string{"ann", "bob", "cat"}) {
		t.Errorf("got %q", got)
	}
	if got := Mentions("@ann@kith.example @bob", ""); !slices.Equal(got, []string{"bob"}) {
		t.Errorf("without a domain: got %q", got)
	}
	if got := Tags(Find("#Go #go #GO @go #Été #été")); !slices.Equal(got, []string{"go", "été"}) {
		t.Errorf("got %q", got)
	}
}

// FuzzFind checks what holds of the parts of any text.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"", "@ann #tag http://a.example/(b)", "@ann@kith.example:80", "#·a\u200cb", "http://a@b/#c@d", "\xff@a#\xffb http://\xff", "@@##hhttp://://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, p := range Find(s) {
			if p.Start < at || p.End <= p.Start || p.End > len(s) || p.Name == "" {
				t.Fatalf("%q: part %+v after %d", s, p, at)
			}
			at = p.End
			want := map[Kind]string{Mention: "@" + p.Name, Tag: "#" + p.Name, Address: p.Name}[p.Kind]
			if p.Domain != "" {
				want += "@" + p.Domain
			}
			if got := s[p.Start:p.End]; got != want {
				t.Fatalf("%q: got %q, want %q", s, got, want)
			}
			if !utf8.ValidString(p.Name) || strings.ContainsAny(p.Name, "<>\" \n\t\\") {
				t.Fatalf("%q: part %q", s, p.Name)
			}
		}
	})
}

// The work grows with the length of a text and not faster, whatever stands in it.
func TestFind_Linear(t *testing.T) {
	for _, unit := range []string{"@", "#", "h", "http://", "http://a@", "http://a", "http://a.example/(", "http://a.example/)", "@a", "@a@", "#_", "#a·", "(", "http://a/" + strings.Repeat(")", 500), "@" + strings.Repeat("a", 61), "#1"} {
		most := cost(unit, 1<<10)*1000 + 20*time.Millisecond // 100 times as long: a square would be 10,000 times
		if got := cost(unit, 100<<10); got > most {
			t.Errorf("%.20q: 100 KiB took %v, 1 KiB %v", unit, got, cost(unit, 1<<10))
		}
	}
}

func cost(unit string, n int) time.Duration {
	s, best := strings.Repeat(unit, n/len(unit)+1), time.Hour
	for range 3 {
		begun := time.Now()
		_ = HTML(s, Links{})
		best = min(best, time.Since(begun))
	}
	return best
}

func ExampleFind() {
	for _, p := range Find("Thanks @ann! #kith is at https://kith.example.") {
		fmt.Println(p.Kind, p.Name)
	}
	// Output:
	// 0 ann
	// 1 kith
	// 2 https://kith.example
}
