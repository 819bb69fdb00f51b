package core

import (
	"strings"
	"testing"
)

// What is allowed is let through, and brackets in texts do not count.
func TestBody_Fits(t *testing.T) {
	for _, c := range []struct {
		json string
		most int
		want bool
	}{
		{`{"a":1}`, 1, true},
		{`{"a":1,"b":2}`, 2, true}, {`{"a":1,"b":2}`, 1, false},
		{`{"a":[1,2,3]}`, 4, true}, {`{"a":[1,2,3]}`, 3, false},
		{`{"a":",,[[{{","b":"\",[\\"}`, 2, true},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), 99, true},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), 99, false},
		{`"\`, 0, true}, {``, 0, true},
	} {
		if got := fits([]byte(c.json), c.most); got != c.want {
			t.Errorf("%s, at most %d: got %v, want %v", c.json, c.most, got, c.want)
		}
	}
}

const (
	formType  = "application/x-www-form-urlencoded"
	jsonBody  = "application/json"
	multiType = "multipart/form-data; boundary=x"
)

// fields are the parts of a multipart body.
func fields(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString("--x\r\nContent-Disposition: form-data; name=\"" + pairs[i] + "\"\r\n\r\n" + pairs[i+1] + "\r\n")
	}
	return b.String() + "--x--\r\n"
}

// The objects of an array come out alike, however they are sent.
func TestBody_Objects(t *testing.T) {
	for _, c := range []struct{ name, kind, body, want string }{
		{"form", formType, "p[][url]=a&p[][text]=b&p[][url]=c&p[][text]=d", "a:b c:d"},
		{"form, field left out", formType, "p[][url]=a&p[][url]=c&p[][text]=d", "a: c:d"},
		{"form, index", formType, "p[0][url]=a&p[1][url]=c&p[1][text]=d&p[0][text]=b", "a:b c:d"},
		{"form, escaped", formType, "p%5B%5D%5Burl%5D=a&p%5B%5D%5Btext%5D=b+%C3%A9", "a:b é"},
		{"form, other names", formType, "p=&x=1&px[][url]=2&p[][url]=a", "refused"},
		{"json", jsonBody, `{"p":[{"url":"a","text":"b"},{"text":"d","url":"c"}],"x":{"url":"y"}}`, "a:b c:d"},
		{"json, null", jsonBody, `{"p":[null,{"url":"a","text":null,"n":1,"deep":{"url":"z"},"more":[{"url":"y"}]}]}`, "a:"},
		{"json, as in a form", jsonBody, `{"p[0][url]":"a"}`, "a:"},
		{"multipart", multiType, fields("p[][url]", "a", "p[][text]", "b", "p[][url]", "c", "p[][text]", "d"), "a:b c:d"},
		{"multipart, index", multiType, fields("p[0][url]", "a", "p[1][url]", "c", "p[0][text]", "b"), "a:b c:"},
		{"none", jsonBody, `{"x":1}`, ""}, {"null", jsonBody, `{"p":null}`, ""}, {"empty", jsonBody, `{"p":[]}`, ""}, {"form, empty", formType, "q=", ""},

		{"text", jsonBody, `{"p":"a"}`, "refused"}, {"texts", jsonBody, `{"p":["a"]}`, "refused"}, {"both", jsonBody, `{"p":[{"url":"a"},"b"]}`, "refused"},
		{"one object", jsonBody, `{"p":{"url":"a"}}`, "refused"}, {"arrays", jsonBody, `{"p":[["a"]]}`, "refused"}, {"no fields", jsonBody, `{"p":[{"url":"a"},{}]}`, "refused"},
		{"only null", jsonBody, `{"p":[{"url":null}]}`, "refused"}, {"form, text", formType, "p[]=a", "refused"}, {"form, one object", formType, "p[url]=a", "refused"},
		{"form, index", formType, "p[a][url]=a", "refused"},
	} {
		v, err := readBody(c.kind, []byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := "refused"
		if all, err := v.Objects("p"); err == nil {
			var texts []string
			for _, o := range all {
				texts = append(texts, o.Get("url")+":"+o.Get("text"))
			}
			got = strings.Join(texts, " ")
		} else if why := refusalOf(err); why.Sentence != "Validation failed: p must be an array of objects" || why.Status != 422 {
			t.Errorf("%s: got %d %q", c.name, why.Status, why.Sentence)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// An object is no text, and what it holds has a name of its own, as in a form.
func TestBody_Object(t *testing.T) {
	sent, err := readBody(jsonBody, []byte(`{"a":{"b":{"c":1}},"d":[{"e":"x"}],"f":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	form, err := readBody(formType, []byte("a[b][c]=1&d[0][e]=x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Values{sent, form} {
		if b, d := v.Get("a[b][c]"), v.Get("d[0][e]"); b != "1" || d != "x" {
			t.Errorf("got %q and %q in %v", b, d, v)
		}
		if !v.Given("a") || !v.Given("d") || v.Given("b") {
			t.Errorf("got the wrong names as given in %v", v)
		}
	}
	for _, name := range []string{"a", "d", "f", "a[b]"} {
		if _, err := sent.One(name); err == nil {
			t.Errorf("%s passes as a text", name)
		}
		if _, _, err := sent.All(name); err == nil {
			t.Errorf("%s passes as texts", name)
		}
	}
	for body, want := range map[string]bool{`{"a":""}`: false, `{"a":null}`: false, `{"a":[]}`: false, `{"a":[""]}`: false, `{"a":0}`: true, `{"a":{}}`: true, `{"a":[[]]}`: true, `{"a":["b"]}`: true, `{"ab":1}`: false} {
		v, err := readBody(jsonBody, []byte(body))
		if got := v.Given("a"); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", body, got, err, want)
		}
	}
}

// The name of an object, which stands in those of its fields, is not multiplied.
func TestBody_LongNames(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, body := range []string{
		`{"` + long + `":{"a":1` + strings.Repeat(`,"a`+long[:9]+`":1`, 900) + `}}`,
		`{"a":[{"` + long + `":{"a":{"b":1}}}]}`,
		`{"` + strings.Repeat(`xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx":{"`, 14) + `a":1` + strings.Repeat("}", 15),
	} {
		v, err := readBody(jsonBody, []byte(body))
		n := 0
		for _, one := range v {
			n += len(one.name)
		}
		if err != nil || n > len(long)+maxName*len(v) || len(v) > 10 {
			t.Errorf("%.20s…: got %v and %d values with names of %d bytes", body, err, len(v), n)
		}
	}
}
