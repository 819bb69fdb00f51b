package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kith/app/api/core"
)

func TestAccounts(t *testing.T) {
	w := newWorld(t)
	ids := w.people(3)
	a, b := text(ids[0]), text(ids[1])
	got := names(into[[]who](w.anonymous().get("/api/v1/accounts?id[]=" + b + "&id[]=x&id[]=9&id[]=" + a + "&id[]=" + b + "&id[]=-1&id[]=")))
	if !slices.Equal(got, []string{b, a}) {
		t.Errorf("got %v, want %v", got, []string{b, a})
	}
	for _, query := range []string{"id=" + a, "id%5B%5D=" + a, "id[0]=" + a, "&&id=" + a + "&other=1"} {
		if got := names(into[[]who](w.anonymous().get("/api/v1/accounts?" + query))); !slices.Equal(got, []string{a}) {
			t.Errorf("%s: got %v, want %s", query, got, a)
		}
	}
	if body := w.anonymous().get("/api/v1/accounts").want(http.StatusOK).body; body != "[]" {
		t.Errorf("got %s, want an empty list", body)
	}
	if got := into[who](w.anonymous().get(at(ids[2], ""))); got.ID != text(ids[2]) {
		t.Errorf("got %+v", got)
	}
	for _, acct := range []string{"Name%d", "@name%d", "NAME%d@kith.example", "name%d@KITH.example"} {
		if got := into[who](w.anonymous().get("/api/v1/accounts/lookup?acct=" + fmt.Sprintf(acct, ids[0]))); got.ID != a {
			t.Errorf("%s: got %+v", acct, got)
		}
	}
}

func TestRelationships(t *testing.T) {
	w := newWorld(t)
	me, you, stranger := w.add(false), w.add(false), w.add(false)
	into[rel](w.as(me).post(at(you, "/follow")))
	path := "/api/v1/accounts/relationships?with_suspended=true&id[]=" + text(stranger) + "&id[]=9&id[]=x&id[]=" + text(you) + "&id[]=" + text(you) + "&id[]=" + text(me)
	got := into[[]rel](w.as(me).get(path))
	if len(got) != 3 || got[0].ID != text(stranger) || got[0].Following || got[1].ID != text(you) || !got[1].Following || got[2].ID != text(me) {
		t.Fatalf("got %+v", got)
	}
	if body := w.as(me).get("/api/v1/accounts/relationships").want(http.StatusOK).body; body != "[]" {
		t.Fatalf("got %s, want an empty list", body)
	}
	hundred := "/api/v1/accounts/relationships?" + strings.Repeat("id[]=9&", 100)
	w.as(me).get(hundred).want(http.StatusOK)
}

// An account of a list that is found no more is passed over, and the mutes of
// the others keep their ends.
func TestLists_MissingAccount(t *testing.T) {
	w, m := newBrokenWorld(t)
	me := w.add(false)
	ids := w.people(3)
	for i, id := range ids {
		into[rel](w.as(me).form(at(id, "/mute"), fmt.Sprintf("duration=%d", 3600*(i+1))))
	}
	m.set(func(m *memory) { m.gone[ids[1]] = true })
	got := into[[]who](w.as(me).get("/api/v1/mutes"))
	if len(got) != 2 || got[0].ID != text(ids[2]) || *got[0].Until != "2026-05-01T13:00:00.000Z" || *got[1].Until != "2026-05-01T11:00:00.000Z" {
		t.Fatalf("got %+v", got)
	}
}

func TestSmallOnes(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	for _, path := range []string{"custom_emojis", "announcements", "lists", "filters", "followed_tags"} {
		if a := w.as(me).get("/api/v1/" + path).want(http.StatusOK); a.body != "[]" {
			t.Errorf("%s: got %s", path, a.body)
		}
	}
	if a := w.as(me).get("/api/v2/filters").want(http.StatusOK); a.body != "[]" {
		t.Errorf("got %s", a.body)
	}
	into[map[string]any](w.as(me).get("/api/v1/preferences"))
	v2 := into[map[string]any](w.anonymous().get("/api/v2/instance"))
	if v2["domain"] != "kith.example" || v2["version"] != "4.3.0 (compatible; kith 0.1)" {
		t.Errorf("got %v", v2)
	}
	links := into[map[string][]map[string]string](w.anonymous().get("/.well-known/nodeinfo"))
	if got := links["links"][0]["href"]; got != "https://kith.example/nodeinfo/2.0" {
		t.Errorf("got %s", got)
	}
	node := into[struct {
		Software struct{ Name string }
		Metadata struct{ Upstream struct{ Name string } }
	}](w.anonymous().get("/nodeinfo/2.0"))
	if node.Software.Name != "kith" || node.Metadata.Upstream.Name != "mastodon" {
		t.Errorf("got %+v", node)
	}
	for _, path := range []string{core.AvatarPath, core.HeaderPath} {
		a := w.anonymous().get(path).want(http.StatusOK)
		if http.DetectContentType([]byte(a.body)) != "image/png" || a.header.Get("Content-Type") != "image/png" {
			t.Errorf("%s is no PNG", path)
		}
	}
}

func TestBody_Flags(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	for body, want := range map[string]bool{
		"true": true, "1": true, "on": true, "TRUE": true, "t": true, "yes": true,
		"false": false, "0": false, "off": false, "F": false, "no": false, "": true,
	} {
		into[rel](w.as(me).post(at(you, "/unfollow")))
		if r := into[rel](w.as(me).form(at(you, "/follow"), "reblogs="+body)); r.ShowingReblogs != want {
			t.Errorf("form %q: got %v, want %v", body, r.ShowingReblogs, want)
		}
	}
	for body, want := range map[string]bool{`true`: true, `1`: true, `"on"`: true, `false`: false, `0`: false, `"false"`: false, `null`: true} {
		into[rel](w.as(me).post(at(you, "/unfollow")))
		if r := into[rel](w.as(me).json(at(you, "/follow"), `{"reblogs":`+body+`,"other":{"a":[1]}}`)); r.ShowingReblogs != want {
			t.Errorf("json %s: got %v, want %v", body, r.ShowingReblogs, want)
		}
	}
}

func TestBody_Languages(t *testing.T) {
	w := newWorld(t)
	me, you := w.add(false), w.add(false)
	follow := func(kind, body string) []string {
		return into[rel](w.as(me).send(http.MethodPost, at(you, "/follow"), kind, body)).Languages
	}
	const form, object = "application/x-www-form-urlencoded; charset=utf-8", "application/json; charset=utf-8"
	for i, c := range []struct {
		kind, body string
		want       []string
	}{
		{form, "languages[]=en&languages[]=de", []string{"en", "de"}},
		{form, "notify=1", []string{"en", "de"}}, // not named: kept
		{form, "languages[0]=fr&languages[1]=nl", []string{"fr", "nl"}},
		{object, `{"languages":["pt-BR"]}`, []string{"pt-BR"}},
		{object, `{"languages":null}`, []string{"pt-BR"}},
		{object, `{"languages":[]}`, nil},
		{object, `{"languages":"en"}`, []string{"en"}},
		{form, "languages[]=", nil},
	} {
		if got := follow(c.kind, c.body); !slices.Equal(got, c.want) {
			t.Errorf("%d: got %v, want %v", i, got, c.want)
		}
	}
}
