package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every code has a status and a text of its own, and the table in the package
// doc is that of the code.
func TestCodes_Documented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\d{3} [a-z_]+) +\S`).FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = true
	}
	texts := map[string]bool{}
	for i, m := range meanings {
		if m.status < 400 || m.text == "" || texts[m.text] {
			t.Errorf("code %d means %+v: want an error's status and a text of its own", i, m)
		}
		texts[m.text] = true
		if line := fmt.Sprint(m.status, " ", m.text); !listed[line] {
			t.Errorf("the doc lacks %s", line)
		}
	}
	if len(listed) != len(meanings) {
		t.Errorf("the doc lists %d codes, want %d", len(listed), len(meanings))
	}
}

// Whatever kind of refusal services know has a code.
func TestCodes_Kinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for _, d := range file.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
			kinds += len(group.Specs)
		}
	}
	if kinds == 0 || len(byKind) != kinds {
		t.Errorf("%d kinds have a code, want %d", len(byKind), kinds)
	}
}

// Programs see the code: one look at each kind of refusal that a client can cause.
func TestErrors_Codes(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxBody = 1 << 10 })
	me, you := w.add(false), w.add(false)
	c := w.as(me)
	for want, got := range map[code]answer{
		codeInvalid:    c.json(at(you, "/note"), "{"),
		codeToken:      w.nobody().get("/api/v1/blocks"),
		codeScope:      w.as(me, "read:lists").get("/api/v1/blocks"),
		codeOwnAccount: c.post(at(me, "/mute")),
		codeNotFound:   c.get(at(9, "")),
		codeEndpoint:   c.get("/api/v1/timelines/home"),
		codeMethod:     c.post("/api/v1/blocks"),
		codeLarge:      c.json(at(you, "/note"), fmt.Sprintf("%2000d", 1)),
		codeMediaType:  c.send("POST", at(you, "/note"), "text/plain", "x"),
		codeValidation: c.form(at(you, "/mute"), "duration=x"),
	} {
		got.refused(meanings[want].status, "")
		if !strings.Contains(got.body, `,"code":"`+meanings[want].text+`"}`) {
			t.Errorf("%s: got %s, want the code %s", got.what, got.body, meanings[want].text)
		}
	}
	for _, change := range []string{"/follow", "/unfollow", "/remove_from_followers", "/block", "/unblock", "/mute", "/unmute", "/note"} {
		if a := c.post(at(me, change)).want(403); !strings.Contains(a.body, `"code":"own_account"`) {
			t.Errorf("%s of oneself: got %s", change, a.body)
		}
	}
}
