package statuses

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kith/app/account"
	"kith/app/api/core"
	"kith/app/post"
	"kith/app/token"
	repopost "kith/repo/post"
)

type noTokens struct{}

func (noTokens) Verify(context.Context, string) (token.Claims, error) { return token.Claims{}, nil }

// posted returns what readPost makes of a body, or the answer to who sent it.
func posted(t *testing.T, kind, body string) (d post.Draft, status int, refusal string) {
	t.Helper()
	handle := func(_ context.Context, c *core.Call) error {
		v, err := c.Body()
		if err == nil {
			d, err = readPost(v)
		}
		if err != nil {
			return err
		}
		return c.OK("{}")
	}
	s, err := core.New(core.Config{Tokens: noTokens{}, Accounts: account.New(nil, time.Now)},
		[]core.Route{core.Post("/post", core.Public.WithBody(core.UsualBody), handle)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/post", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var answer struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return d, w.Code, answer.Error
}

const (
	form     = "application/x-www-form-urlencoded"
	jsonBody = "application/json"
)

// draft makes the draft that a case expects.
func draft(change func(*post.Draft)) (d post.Draft) {
	d.Text = "a"
	change(&d)
	return d
}

func TestReadPost(t *testing.T) {
	both := []repopost.Media{{URL: "https://a.example/1", Description: "one"}, {URL: "https://a.example/2", Preview: "https://a.example/p"}}
	for _, c := range []struct {
		name, kind, body string
		want             post.Draft
	}{
		{"text", form, "status=a", draft(func(*post.Draft) {})},
		{"text, json", jsonBody, `{"status":"a"}`, draft(func(*post.Draft) {})},
		{"spaces around", jsonBody, `{"status":" \r\na b\n\nc \u3000","spoiler_text":"\td "}`, draft(func(d *post.Draft) { d.Text, d.Spoiler, d.Sensitive = "a b\n\nc", "d", true })},
		{"nothing", form, "", post.Draft{}},
		{"all", form, "status=a&in_reply_to_id=9223372036854775807&visibility=private&spoiler_text=b&sensitive=true&language=pt-BR", draft(func(d *post.Draft) {
			d.ReplyTo, d.Visibility, d.Spoiler, d.Sensitive, d.Language = 1<<63-1, repopost.Followers, "b", true, "pt-BR"
		})},
		{"all, json", jsonBody, `{"status":"a","in_reply_to_id":"7","visibility":"direct","spoiler_text":"b","sensitive":false,"language":"de"}`, draft(func(d *post.Draft) {
			d.ReplyTo, d.Visibility, d.Spoiler, d.Sensitive, d.Language = 7, repopost.Direct, "b", true, "de" // what has a warning is sensitive
		})},
		{"reply to a number", jsonBody, `{"status":"a","in_reply_to_id":9223372036854775807}`, draft(func(d *post.Draft) { d.ReplyTo = 1<<63 - 1 })},
		{"public", form, "status=a&visibility=public", draft(func(*post.Draft) {})},
		{"unlisted", form, "status=a&visibility=unlisted", draft(func(d *post.Draft) { d.Visibility = repopost.Unlisted })},
		{"sensitive", form, "status=a&sensitive=1", draft(func(d *post.Draft) { d.Sensitive = true })},
		{"only a warning", form, "status=+&spoiler_text=a", draft(func(*post.Draft) {})},
		{"empty values", form, "status=a&in_reply_to_id=&visibility=&spoiler_text=&sensitive=&language=&media_ids[]=&scheduled_at=&poll=", draft(func(*post.Draft) {})},
		{"null", jsonBody, `{"status":"a","in_reply_to_id":null,"visibility":null,"spoiler_text":null,"sensitive":null,"language":null,"media_ids":null,"media":null,"poll":null,"scheduled_at":null,"quoted_status_id":null}`, draft(func(*post.Draft) {})},
		{"empty arrays", jsonBody, `{"status":"a","media_ids":[],"media":[]}`, draft(func(*post.Draft) {})},
		{"unknown", jsonBody, `{"status":"a","content_type":"text/html","application":{"name":"b"},"polls":1}`, draft(func(*post.Draft) {})},
		{"pictures", form, "media[][url]=https://a.example/1&media[][description]=one&media[][url]=https://a.example/2&media[][preview_url]=https://a.example/p", draft(func(d *post.Draft) { d.Text, d.Media = "", both })},
		{"pictures, index", form, "media[0][url]=https://a.example/1&media[1][url]=https://a.example/2&media[0][description]=one&media[1][preview_url]=https://a.example/p", draft(func(d *post.Draft) { d.Text, d.Media = "", both })},
		{"pictures, json", jsonBody, `{"media":[{"url":"https://a.example/1","description":"one","focus":"0,0"},{"url":"https://a.example/2","preview_url":"https://a.example/p","description":null}]}`, draft(func(d *post.Draft) { d.Text, d.Media = "", both })},
	} {
		got, status, why := posted(t, c.kind, c.body)
		if status != http.StatusOK || !cmp.Equal(got, c.want) {
			t.Errorf("%s: got %d %q %s", c.name, status, why, cmp.Diff(c.want, got))
		}
	}
}

func TestReadPost_Multipart(t *testing.T) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, pair := range [][2]string{{"status", "a"}, {"media[][description]", "one"}, {"media[][url]", "1"}, {"media[][description]", "two"}, {"media[][url]", "2"}} {
		if err := m.WriteField(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	got, status, why := posted(t, m.FormDataContentType(), b.String())
	want := draft(func(d *post.Draft) {
		d.Media = []repopost.Media{{URL: "1", Description: "one"}, {URL: "2", Description: "two"}}
	})
	if status != http.StatusOK || !cmp.Equal(got, want) {
		t.Errorf("got %d %q %s", status, why, cmp.Diff(want, got))
	}
}

func TestReadPost_Refused(t *testing.T) {
	const (
		noParent   = "The post you are trying to reply to does not appear to exist."
		visibility = "Validation failed: visibility must be public, unlisted, private or direct"
		single     = " must be a single value"
		objects    = "media must be an array of objects"
	)
	for body, want := range map[string]struct {
		status int
		why    string
	}{
		`{"status":["a"]}`:                                    {422, "status" + single},
		`{"status":{"text":"a"}}`:                             {422, "status" + single},
		`{"status":"a","spoiler_text":["b"]}`:                 {422, "spoiler_text" + single},
		`{"status":"a","language":["en"]}`:                    {422, "language" + single},
		`{"status":"a","in_reply_to_id":["7"]}`:               {422, "in_reply_to_id" + single},
		`{"status":"a","visibility":["public"]}`:              {422, "visibility" + single},
		`{"status":"a","sensitive":[true]}`:                   {422, "sensitive" + single},
		`{"status":"a","sensitive":"maybe"}`:                  {422, "sensitive must be true or false"},
		`{"status":"a","visibility":"followers"}`:             {422, visibility},
		`{"status":"a","visibility":"Public"}`:                {422, visibility},
		`{"status":"a","visibility":0}`:                       {422, visibility},
		`{"status":"a","in_reply_to_id":"0"}`:                 {404, noParent},
		`{"status":"a","in_reply_to_id":"07"}`:                {404, noParent},
		`{"status":"a","in_reply_to_id":"-7"}`:                {404, noParent},
		`{"status":"a","in_reply_to_id":"x"}`:                 {404, noParent},
		`{"status":"a","in_reply_to_id":7.5}`:                 {404, noParent},
		`{"status":"a","in_reply_to_id":9223372036854775808}`: {404, noParent},
		`{"status":"a","in_reply_to_id":false}`:               {404, noParent},
		`{"status":"a","scheduled_at":"2030-01-01"}`:          {422, "posts cannot be scheduled"},
		`{"status":"a","scheduled_at":["2030-01-01"]}`:        {422, "posts cannot be scheduled"},
		`{"status":"a","poll":{"options":["b"]}}`:             {422, "polls are not supported"},
		`{"status":"a","poll":{}}`:                            {422, "polls are not supported"},
		`{"status":"a","poll[options][]":"b"}`:                {422, "polls are not supported"},
		`{"status":"a","quoted_status_id":"7"}`:               {422, "posts cannot be quoted"},
		`{"status":"a","media_ids":["7"]}`:                    {422, "files cannot be uploaded; give their addresses as media[][url]"},
		`{"status":"a","media_ids":"7"}`:                      {422, "files cannot be uploaded; give their addresses as media[][url]"},
		`{"media":"https://a.example/1"}`:                     {422, objects},
		`{"media":["https://a.example/1"]}`:                   {422, objects},
		`{"media":{"url":"https://a.example/1"}}`:             {422, objects},
		`{"media":[{}]}`:                                      {422, objects},
		`{"media":[{"url":["https://a.example/1"]}]}`:         {422, "url" + single},
		`{"media":[{"url":"1","description":{"a":"b"}}]}`:     {422, "description" + single},
		`{"media":[{"url":"1","preview_url":[]}]}`:            {422, "preview_url" + single},
	} {
		if _, status, why := posted(t, jsonBody, body); status != want.status || !strings.HasSuffix(why, want.why) {
			t.Errorf("%s: got %d %q, want %d %q", body, status, why, want.status, want.why)
		}
	}
}

// What is refused as JSON is refused as a form.
func TestReadPost_RefusedForm(t *testing.T) {
	for body, want := range map[string]string{
		"status=a&poll[options][]=b&poll[options][]=c": "polls are not supported", "status=a&media_ids[]=7": "files cannot be uploaded",
		"status=a&scheduled_at=2030-01-01T00:00:00Z": "posts cannot be scheduled", "media=1": "array of objects", "media[url]=1": "array of objects", "media[]=1": "array of objects",
		"status=a&visibility=x": "visibility must be", "status=a&sensitive=x": "sensitive must be", "status=a&in_reply_to_id=x": "does not appear to exist",
	} {
		if _, status, why := posted(t, form, body); status < 400 || status >= 500 || !strings.Contains(why, want) {
			t.Errorf("%s: got %d %q, want %q", body, status, why, want)
		}
	}
}
