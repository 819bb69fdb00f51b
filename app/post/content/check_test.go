package content

import (
	"strings"
	"testing"

	"kith/app"
)

func TestLength(t *testing.T) {
	for _, c := range []struct {
		text, spoiler string
		want          int
	}{
		{"", "", 0}, {"abc", "de", 5}, {"é☃😀", "", 3}, {"e\u0301", "", 1}, {"👨‍👩‍👧‍👦🏳️‍🌈", "", 2}, {"a\nb", "", 3}, {"你好", "", 2},
		{"http://a.example", "", 23}, {"http://a.example/" + strings.Repeat("x", 1000), "", 23}, {"see http://a.example.", "", 4 + 23 + 1},
		{"http://a.example http://b.example", "", 47}, {"", "http://a.example", 16},
		{"@ann", "", 4}, {"@ann@kith.example!", "", 5}, {"@ann@other.example @bob", "", 9}, {"#tag", "", 4}, {"a #tag http://a.example", "", 7 + 23},
	} {
		if got := Length(c.text, c.spoiler); got != c.want {
			t.Errorf("%.40q and %q: got %d, want %d", c.text, c.spoiler, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	long := strings.Repeat("a", MaxLength)
	picture := Media{URL: "https://a.example/p.png"}
	media := func(m Media) Content { return Content{Media: []Media{m}} }
	address := func(n int) string { return "http://a.example/" + strings.Repeat("x", n-len("http://a.example/")) }
	described := func(n int) Content {
		return media(Media{URL: picture.URL, Description: strings.Repeat("é", n)})
	}
	for name, c := range map[string]struct {
		content Content
		why     string // "" where it is taken
	}{
		"text":               {Content{Text: "a"}, ""},
		"longest":            {Content{Text: long}, ""},
		"longest of both":    {Content{Text: long[1:], Spoiler: "a"}, ""},
		"longest, not ASCII": {Content{Text: strings.Repeat("é", MaxLength)}, ""},
		"address":            {Content{Text: long[:MaxLength-AddressLength-1] + " " + address(3000)}, ""},
		"most bytes":         {Content{Text: address(MaxBytes)}, ""},
		"language":           {Content{Text: "a", Language: "pt-BR"}, ""},
		"longest language":   {Content{Text: "a", Language: strings.Repeat("a", 35)}, ""},
		"picture alone":      {media(picture), ""},
		"preview":            {media(Media{URL: picture.URL, Preview: "http://a.example:80/é?x", Description: "a\nb"}), ""},
		"most pictures":      {Content{Media: []Media{picture, picture, picture, picture}}, ""},
		"longest address":    {media(Media{URL: address(MaxMediaURL), Preview: address(MaxMediaURL)}), ""},
		"description":        {described(MaxDescription), ""},

		"nothing":           {Content{}, "Text can't be blank"},
		"blank":             {Content{Text: " \n\t\u3000\u200b\x00"}, "Text can't be blank"},
		"only a spoiler":    {Content{Spoiler: "a"}, "Text can't be blank"},
		"too long":          {Content{Text: long + "a"}, "Text character limit of 500 exceeded"},
		"too long together": {Content{Text: long, Spoiler: "a"}, "Text character limit of 500 exceeded"},
		"too long, picture": {Content{Text: long + "a", Media: []Media{picture}}, "Text character limit of 500 exceeded"},
		"too many bytes":    {Content{Text: address(MaxBytes), Spoiler: "a"}, "Text is too long (maximum is 16384 bytes)"},
		"many accents":      {Content{Text: "e" + strings.Repeat("\u0301", MaxBytes/2)}, "Text is too long (maximum is 16384 bytes)"},
		"text not UTF-8":    {Content{Text: "a\xff"}, "Text is not valid UTF-8"},
		"spoiler not UTF-8": {Content{Text: "a", Spoiler: "\xff"}, "Text is not valid UTF-8"},
		"language, letters": {Content{Text: "a", Language: "en_GB"}, "Language must be a code such as en or pt-BR"},
		"language, long":    {Content{Text: "a", Language: strings.Repeat("a", 36)}, "Language must be a code such as en or pt-BR"},
		"five pictures":     {Content{Text: "a", Media: make([]Media, 5)}, "Cannot attach more than 4 files"},
		"no address":        {media(Media{Description: "a"}), "Media url must be"},
		"address too long":  {media(Media{URL: address(MaxMediaURL + 1)}), "Media url must be"},
		"preview too long":  {media(Media{URL: picture.URL, Preview: address(MaxMediaURL + 1)}), "Media preview_url must be"},
		"preview, script":   {media(Media{URL: picture.URL, Preview: "javascript:alert(1)"}), "Media preview_url must be"},
		"description, long": {described(MaxDescription + 1), "Media description is too long (maximum is 1500 characters)"},
		"description, bad":  {media(Media{URL: picture.URL, Description: "\xff"}), "Media description is"},
		"the second":        {Content{Media: []Media{picture, {URL: "x"}}}, "Media url must be"},
	} {
		why := ""
		err := Check(&c.content)
		if err != nil {
			why = strings.TrimPrefix(err.Error(), "Validation failed: ")
		}
		if (c.why == "") != (err == nil) || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: got %q, want %q", name, why, c.why)
		}
		if err != nil && app.KindOf(err) != app.Unprocessable {
			t.Errorf("%s: got kind %d", name, app.KindOf(err))
		}
	}
}

func TestCheck_MediaURL(t *testing.T) {
	for _, s := range []string{
		"javascript:alert(1)", "JavaScript://a.example/%0aalert(1)", "data:image/png;base64,AA", "ftp://a.example/p", "//a.example/p", "/p.png", "p.png", "http:p.png", "http://", "https:///p",
		"http://ann@a.example/p", "http://ann:b@a.example/p", "http://a.example/a b", " http://a.example/", "http://a.example/\n", "http://a.example/\u202e", "http://a.example/\xff", "http://a.example/%zz", "http://:80/",
		`https://a.b/"><script>`, "https://a.b/?q=<b>", "https://a.b/x#`", `https://a.b/\`, "https://a.b/?{x}", "https://a.b/a|b", "https://a.b/^",
	} {
		if err := Check(&Content{Media: []Media{{URL: s}}}); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}
