package api

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// Whatever stands in the longest body that can be allowed, what is allocated for
// it is a small multiple of its length.
func TestBody_Allocation(t *testing.T) {
	const longest = 4 << 20
	w := newWorld(t, func(c *Config) { c.MaxBody = longest })
	me, you := w.add(false), w.add(false)
	token := "Bearer " + w.as(me, "write", "write:interactions").token
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, (longest-len(head)-len(tail))/len(part)) + tail
	}
	const form, multi = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	for _, c := range []struct{ name, path, kind, body string }{
		{"array", at(you, "/note"), "application/json", fill(`{"a":[1`, `,1`, `]}`)},
		{"fields", at(you, "/note"), "application/json", fill(`{"a":1`, `,"":1`, `}`)},
		{"objects", at(you, "/note"), "application/json", fill(`{"a":[{}`, `,{}`, `]}`)},
		{"depth", at(you, "/note"), "application/json", fill(`{"a":`, `[`, ``)},
		{"text", at(you, "/note"), "application/json", fill(`{"comment":"`, `x`, `"}`)},
		{"escapes", at(you, "/note"), "application/json", fill(`{"comment":"`, `\"`, `"}`)},
		{"no json", at(you, "/note"), "application/json", fill(``, `"`, ``)},
		{"form", at(you, "/note"), form, fill(`a`, `&a`, ``)},
		{"form, text", at(you, "/note"), form, fill(`comment=`, `%78`, ``)},
		{"multipart", at(you, "/note"), multi, fill("", "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n", "--x--\r\n")},
		{"interactions", interactionsPath, "application/json", fill(`{"interactions":[{}`, `,{}`, `]}`)},
		{"interactions, unknown", interactionsPath, "application/json", fill(`{"interactions":[],"a":[1`, `,1`, `]}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			r.Header.Set("Authorization", token)
			got := httptest.NewRecorder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w.server.ServeHTTP(got, r)
			runtime.ReadMemStats(&after)
			if got.Code < 400 || got.Code >= 500 {
				t.Errorf("got %d %s, want a refusal", got.Code, got.Body)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 20*longest {
				t.Errorf("allocated %d MB for a body of %d MB", used>>20, longest>>20)
			}
		})
	}
}

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
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	many := `{"unknown":["en"` + strings.Repeat(`,"en"`, maxValues-2) + `]}`
	w.as(me).json(at(you, "/follow"), many).want(http.StatusOK)
	w.as(me).json(at(you, "/follow"), strings.Replace(many, "[", `["en",`, 1)).refused(http.StatusRequestEntityTooLarge, "too many values")
	w.as(me).form(at(you, "/follow"), strings.Repeat("a=1&", maxValues)).refused(http.StatusRequestEntityTooLarge, "too many values")
}
