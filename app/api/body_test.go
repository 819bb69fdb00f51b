package api_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"kith/app/api"
)

// Whatever stands in the longest body that can be allowed, what is allocated for
// it is a small multiple of its length.
func TestBody_Allocation(t *testing.T) {
	const longest = 4 << 20
	w := newWorld(t, func(c *api.Config) { c.MaxBody = longest })
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
		{"multipart, no names", at(you, "/note"), multi, fill("", "--x\r\n\r\n\r\n", "--x--\r\n")},
		{"multipart, files", at(you, "/note"), multi, fill("", "--x\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\n\r\n", "--x--\r\n")},
		{"interactions", "/api/v1/interactions", "application/json", fill(`{"interactions":[{}`, `,{}`, `]}`)},
		{"interactions, unknown", "/api/v1/interactions", "application/json", fill(`{"interactions":[],"a":[1`, `,1`, `]}`)},
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

// What is allowed is let through, and what is not is refused.
func TestBody_Values(t *testing.T) {
	const maxValues = 1000
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	many := `{"unknown":["en"` + strings.Repeat(`,"en"`, maxValues-2) + `]}`
	w.as(me).json(at(you, "/follow"), many).want(http.StatusOK)
	w.as(me).json(at(you, "/follow"), strings.Replace(many, "[", `["en",`, 1)).refused(http.StatusRequestEntityTooLarge, "too many values")
	w.as(me).form(at(you, "/follow"), strings.Repeat("a=1&", maxValues)).refused(http.StatusRequestEntityTooLarge, "too many values")
}
