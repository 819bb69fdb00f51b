package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kith/app/api"
	"kith/repo"
)

func TestErrors_Sentences(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	c := w.as(me)
	long := "comment=" + strings.Repeat("x", 2001)
	for name, a := range map[string]struct {
		got      answer
		status   int
		sentence string
	}{
		"unknown path":       {c.get("/api/v1/timelines/public"), 404, "There is no such endpoint"},
		"unknown path, post": {c.post("/api/v1/polls"), 404, "There is no such endpoint"},
		"outside the api":    {c.get("/nothing"), 404, "There is no such endpoint"},
		"root":               {c.get("/"), 404, "There is no such endpoint"},
		"wrong method":       {c.get(at(you, "/follow")), 405, "Method not allowed"},
		"wrong method, post": {c.post("/api/v1/blocks"), 405, "Method not allowed"},
		"unknown account":    {c.get(at(9, "")), 404, "Record not found"},
		"follow unknown":     {c.post(at(9, "/follow")), 404, "Record not found"},
		"block unknown":      {c.post(at(9, "/block")), 404, "Record not found"},
		"followers, unknown": {c.get(at(9, "/followers")), 404, "Record not found"},
		"no id":              {c.get("/api/v1/accounts/abc"), 404, "Record not found"},
		"id 0":               {c.post("/api/v1/accounts/0/follow"), 404, "Record not found"},
		"id signed":          {c.get("/api/v1/accounts/-1"), 404, "Record not found"},
		"id with a zero":     {c.get("/api/v1/accounts/0101"), 404, "Record not found"},
		"id too large":       {c.get("/api/v1/accounts/9223372036854775808"), 404, "Record not found"},
		"largest id":         {c.get("/api/v1/accounts/9223372036854775807"), 404, "Record not found"},
		"myself":             {c.post(at(me, "/follow")), 403, "Following your own account is not allowed"},
		"block myself":       {c.post(at(me, "/block")), 403, "You cannot do this to your own account"},
		"no request":         {c.post("/api/v1/follow_requests/" + text(you) + "/authorize"), 404, "Record not found"},
		"bad flag":           {c.form(at(you, "/follow"), "reblogs=maybe"), 422, "reblogs must be true or false"},
		"bad number":         {c.form(at(you, "/mute"), "duration=1h"), 422, "duration must be a whole number"},
		"negative":           {c.form(at(you, "/mute"), "duration=-1"), 422, "Duration is out of range"},
		"too long":           {c.form(at(you, "/mute"), "duration=9223372036854775807"), 422, "Duration is out of range"},
		"bad language":       {c.form(at(you, "/follow"), "languages[]=%22"), 422, "Languages are invalid"},
		"long note":          {c.form(at(you, "/note"), long), 422, "Comment is too long"},
		"bad json":           {c.json(at(you, "/note"), `{"comment":`), 400, "not a JSON object"},
		"json array":         {c.json(at(you, "/note"), `[1]`), 400, "not a JSON object"},
		"json null":          {c.json(at(you, "/note"), `null`), 400, "not a JSON object"},
		"two jsons":          {c.json(at(you, "/note"), `{} {}`), 400, "not a JSON object"},
		"json not utf-8":     {c.json(at(you, "/note"), "{\"comment\":\"\xff\"}"), 400, "not valid UTF-8"},
		"form not utf-8":     {c.form(at(you, "/note"), "comment=%ff"), 400, "not valid UTF-8"},
		"bad escape":         {c.form(at(you, "/note"), "comment=%zz"), 400, "not encoded correctly"},
		"bad query":          {c.get("/api/v1/accounts?id[]=%zz"), 400, "not encoded correctly"},
		"bad multipart":      {c.send("POST", at(you, "/note"), "multipart/form-data; boundary=x", "junk"), 400, "not multipart"},
		"no boundary":        {c.send("POST", at(you, "/note"), "multipart/form-data", "junk"), 400, "not multipart"},
		"other type":         {c.send("POST", at(you, "/note"), "text/plain", "junk"), 415, "must be a form, JSON or multipart"},
		"no type":            {c.send("POST", at(you, "/note"), "", "junk"), 415, "must be a form, JSON or multipart"},
		"too many ids":       {c.get("/api/v1/accounts/relationships?" + strings.Repeat("id[]=1&", 101)), 422, "at most 100"},
		"too many accounts":  {c.get("/api/v1/accounts?" + strings.Repeat("id[]=1&", 41)), 422, "at most 40"},
		"too many familiar":  {c.get("/api/v1/accounts/familiar_followers?" + strings.Repeat("id=1&", 41)), 422, "at most 40"},
		"lookup, unknown":    {c.get("/api/v1/accounts/lookup?acct=nobody"), 404, "Record not found"},
		"lookup of nothing":  {c.get("/api/v1/accounts/lookup"), 404, "Record not found"},
		"lookup elsewhere":   {c.get("/api/v1/accounts/lookup?acct=Name101@else.where"), 404, "Record not found"},
	} {
		t.Run(name, func(t *testing.T) {
			a.got.t = t
			a.got.refused(a.status, a.sentence)
			if kind := a.got.header.Get("Content-Type"); kind != "application/json; charset=utf-8" {
				t.Errorf("got content type %q", kind)
			}
		})
	}
}

// Whatever goes wrong inside, the caller reads a sentence and the log has the
// cause, once.
func TestErrors_NothingInternalLeaves(t *testing.T) {
	const inside = "Error 1146 (42S02): Table 'kith.relation' doesn't exist at 10.0.0.7"
	for _, c := range []struct {
		name   string
		change func(m *memory)
		status int
		want   string
	}{
		{"unknown", func(m *memory) { m.fail = errors.New(inside) }, 500, "Something went wrong on our side"},
		{"away", func(m *memory) { m.fail = fmt.Errorf("%s: %w", inside, repo.ErrUnavailable) }, 503, "There was a temporary problem serving your request, please try again"},
		{"conflict", func(m *memory) { m.fail = fmt.Errorf("%s: %w", inside, repo.ErrConflict) }, 503, "There was a temporary problem serving your request, please try again"},
		{"full", func(m *memory) { m.fail = fmt.Errorf("%s: %w", inside, repo.ErrTooLarge) }, 422, "This account's list is full"},
		{"panic", func(m *memory) { m.panics = true }, 500, "Something went wrong on our side"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, m := newBrokenWorld(t)
			me := w.add(false)
			m.set(c.change)
			a := w.as(me).get("/api/v1/blocks")
			a.refused(c.status, c.want)
			if c.status == 503 && a.header.Get("Retry-After") != "1" {
				t.Errorf("got Retry-After %q, want 1", a.header.Get("Retry-After"))
			}
			w.http.Close() // waits for the log line
			logged := strings.Count(w.log.String(), "request not served")
			if want := map[bool]int{true: 1}[c.status >= 500]; logged != want {
				t.Errorf("got %d log entries of the cause, want %d: %s", logged, want, w.log.String())
			}
		})
	}
}

func TestErrors_TimeLimit(t *testing.T) {
	w, m := newBrokenWorld(t, func(c *api.Config) { c.RequestTimeout = 20 * time.Millisecond })
	me := w.add(false)
	m.set(func(m *memory) { m.hang = true })
	w.as(me).get("/api/v1/blocks").refused(http.StatusServiceUnavailable, "There was a temporary problem serving your request, please try again")
}

func TestErrors_SlowBody(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.RequestTimeout = 50 * time.Millisecond })
	me, you := w.add(false), w.add(false)
	body, stop := io.Pipe()
	defer stop.Close()
	r, err := http.NewRequest(http.MethodPost, w.http.URL+at(you, "/note"), body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	w.as(me).do(r).refused(http.StatusRequestTimeout, "took too long")
}

func TestErrors_BodyLimit(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.MaxBody = 100 })
	me, you := w.add(false), w.add(false)
	body := "comment=" + strings.Repeat("x", 100)
	w.as(me).form(at(you, "/note"), body).refused(http.StatusRequestEntityTooLarge, "The request is too large")
	t.Run("of unknown length", func(t *testing.T) {
		r := httptest.NewRequest(http.MethodPost, at(you, "/note"), io.MultiReader(strings.NewReader(body)))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer "+w.as(me).token)
		got := httptest.NewRecorder()
		w.server.ServeHTTP(got, r)
		if got.Code != http.StatusRequestEntityTooLarge || !strings.Contains(got.Body.String(), "too large") {
			t.Fatalf("got %d %s", got.Code, got.Body)
		}
	})
	into[rel](w.as(me).form(at(you, "/note"), "comment=short"))
}

// Programs see the code: one look at each kind of refusal that a client can cause.
func TestErrors_Codes(t *testing.T) {
	w := newWorld(t, func(c *api.Config) { c.MaxBody = 1 << 10 })
	me, you := w.add(false), w.add(false)
	c := w.as(me)
	for want, got := range map[string]answer{
		"400 invalid_request":        c.json(at(you, "/note"), "{"),
		"401 invalid_token":          w.anonymous().get("/api/v1/blocks"),
		"403 insufficient_scope":     w.as(me, "read:lists").get("/api/v1/blocks"),
		"403 own_account":            c.post(at(me, "/mute")),
		"404 not_found":              c.get(at(9, "")),
		"404 unknown_endpoint":       c.get("/api/v1/timelines/public"),
		"405 method_not_allowed":     c.post("/api/v1/blocks"),
		"413 request_too_large":      c.json(at(you, "/note"), fmt.Sprintf("%2000d", 1)),
		"415 unsupported_media_type": c.send("POST", at(you, "/note"), "text/plain", "x"),
		"422 validation_failed":      c.form(at(you, "/mute"), "duration=x"),
	} {
		var status int
		var code string
		fmt.Sscan(want, &status, &code)
		got.refused(status, "")
		if !strings.Contains(got.body, `,"code":"`+code+`"}`) {
			t.Errorf("%s: got %s, want the code %s", got.what, got.body, code)
		}
	}
	for _, change := range []string{"/follow", "/unfollow", "/remove_from_followers", "/block", "/unblock", "/mute", "/unmute", "/note"} {
		if a := c.post(at(me, change)).want(403); !strings.Contains(a.body, `"code":"own_account"`) {
			t.Errorf("%s of oneself: got %s", change, a.body)
		}
	}
}
