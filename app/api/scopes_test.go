package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mattn/go-mastodon"
)

// A token that may not read posts shows what anybody sees, also of its owner's posts.
func TestScopes_Posts(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(2)
	author, reader := p[0], p[1]
	w.follow(reader, author)
	root := string(w.toot(author, mastodon.Toot{Status: "for all"}).ID)
	private := string(w.toot(author, mastodon.Toot{Status: "secret", Visibility: "private", InReplyToID: mastodon.ID(root)}).ID)
	public := string(w.toot(author, mastodon.Toot{Status: "public"}).ID)
	w.as(reader).post("/api/v1/statuses/" + public + "/favourite").want(http.StatusOK)
	narrow := []string{"profile", "follow", "write:favourites", "write:bookmarks", "read:accounts", "read:favourites"}
	for _, as := range []uint64{author, reader} {
		c := w.as(as, narrow...)
		for _, path := range []string{"", "/context", "/reblogged_by", "/favourited_by"} {
			c.get("/api/v1/statuses/" + private + path).want(http.StatusNotFound)
			w.as(as, "read:statuses").get("/api/v1/statuses/" + private + path).want(http.StatusOK)
		}
		for _, path := range []string{"/api/v1/statuses?id[]=" + private + "&id[]=" + public, at(author, "/statuses"), "/api/v1/statuses/" + root + "/context"} {
			if r := c.get(path).want(http.StatusOK); strings.Contains(r.body, "secret") || strings.Contains(r.body, `"favourited":true`) {
				t.Errorf("GET %s shows what the token may not read: %s", path, r.body)
			}
			if r := w.as(as, "read:statuses").get(path).want(http.StatusOK); !strings.Contains(r.body, "secret") {
				t.Errorf("GET %s with the scope: %s", path, r.body)
			}
		}
	}
}

// A refresh moves the read position, as POST markers does.
func TestScopes_Refresh(t *testing.T) {
	w := newLiveWorld(t)
	me := w.people(1)[0]
	w.toot(me, mastodon.Toot{Status: "hello"})
	w.as(me, "read:statuses").post(refreshPath).want(http.StatusForbidden)
	w.as(me, "write:statuses").post(refreshPath).want(http.StatusForbidden)
	if r := w.as(me, "read:statuses").get(bothMarkers).want(http.StatusOK); r.body != "{}" {
		t.Errorf("the position moved: %s", r.body)
	}
	w.as(me, "read:statuses", "write:statuses").post(refreshPath).want(http.StatusOK)
}

// What the instance says of posts is what posting takes.
func TestInstance_Limits(t *testing.T) {
	w := newLiveWorld(t)
	for _, path := range []string{"/api/v1/instance", "/api/v2/instance"} {
		if r := w.anonymous().get(path); !strings.Contains(r.body, `"max_media_attachments":4`) || !strings.Contains(r.body, `"max_pinned_statuses":5`) {
			t.Errorf("GET %s: %s", path, r.body)
		}
	}
	me := w.as(w.people(1)[0])
	body := func(n int) string {
		return `{"status":"x\rY","media":[` + strings.Repeat(`{"url":"https://a.example/p"},`, n-1) + `{"url":"https://a.example/p"}]}`
	}
	me.json("/api/v1/statuses", body(5)).want(http.StatusUnprocessableEntity)
	if r := me.json("/api/v1/statuses", body(4)).want(http.StatusOK); !strings.Contains(r.body, `x\u003cbr /\u003eY`) && !strings.Contains(r.body, `x<br />Y`) {
		t.Errorf("a carriage return is no line end: %s", r.body)
	}
	me.json("/api/v1/statuses", `{"status":"a","media":[{"url":"https://a.b/\"><script>"}]}`).want(http.StatusUnprocessableEntity)
}
