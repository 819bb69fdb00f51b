package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-mastodon"
)

// Who reposted or favoured a post is named to those who may see that, and a page is filled
// with them.
func TestPosts_Reactors(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(8)
	author, viewer, open, blocked, blocking, muted, private, ended := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	id := string(w.toot(author, mastodon.Toot{Status: "hello"}).ID)
	one := "/api/v1/statuses/" + id
	for _, who := range []uint64{open, ended, private, blocked, blocking, muted} { // the hidden ones are the newest
		w.clock.pass(time.Second)
		w.as(who).post(one + "/favourite").want(http.StatusOK)
		visibility := "public"
		if who == private {
			visibility = "private"
		}
		w.as(who).form(one+"/reblog", "visibility="+visibility).want(http.StatusOK)
	}
	into[rel](w.as(viewer).post(at(blocked, "/block")))
	into[rel](w.as(blocking).post(at(viewer, "/block")))
	into[rel](w.as(viewer).post(at(muted, "/mute")))
	into[rel](w.as(viewer).form(at(ended, "/mute"), "duration=60"))
	w.clock.pass(2 * time.Minute)
	for _, c := range []struct {
		list string
		as   client
		want []uint64
	}{
		{"/reblogged_by", w.anonymous(), []uint64{muted, blocking, blocked, ended, open}},
		{"/reblogged_by", w.as(viewer), []uint64{ended, open}},
		{"/reblogged_by", w.as(private), []uint64{muted, blocking, blocked, private, ended, open}},
		{"/favourited_by", w.anonymous(), []uint64{muted, blocking, blocked, private, ended, open}},
		{"/favourited_by", w.as(viewer), []uint64{private, ended, open}},
	} {
		var got []uint64
		for path := one + c.list + "?limit=1"; path != ""; {
			a := c.as.get(path)
			found := into[[]who](a)
			if len(found) != 1 && a.header.Get("Link") != "" {
				t.Fatalf("%s: a page of %d", path, len(found))
			}
			for _, f := range found {
				got = append(got, number(t, f.ID))
			}
			path = nextOf(a)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.list, got, c.want)
		}
	}
	into[rel](w.as(viewer).post(at(private, "/follow")))
	if got := into[[]who](w.as(viewer).get(one + "/reblogged_by")); len(got) != 3 {
		t.Errorf("a follower sees %v", got)
	}
}

func number(t *testing.T, id string) (n uint64) {
	t.Helper()
	if _, err := fmt.Sscan(id, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// nextOf returns the path of the next page, "" where there is none.
func nextOf(a answer) string {
	m := regexp.MustCompile(`<https://kith\.example([^>]*)>; rel="next"`).FindStringSubmatch(a.header.Get("Link"))
	if m == nil {
		return ""
	}
	return m[1]
}

// Pages of replies received, favourites and bookmarks are filled past what is not seen, and
// their links name no such post.
func TestPosts_Refill(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(4)
	owner, stranger, friend, other := p[0], p[1], p[2], p[3]
	root := w.toot(owner, mastodon.Toot{Status: "root"}).ID
	reply := w.toot(friend, mastodon.Toot{Status: "seen", InReplyToID: root}).ID
	liked := w.toot(friend, mastodon.Toot{Status: "liked"}).ID
	w.as(owner).post("/api/v1/statuses/" + string(liked) + "/favourite").want(http.StatusOK)
	w.as(owner).post("/api/v1/statuses/" + string(liked) + "/bookmark").want(http.StatusOK)
	var unseen []string
	for range 45 {
		unseen = append(unseen, string(w.toot(stranger, mastodon.Toot{Status: "spam", Visibility: "direct", InReplyToID: root}).ID))
		id := string(w.toot(other, mastodon.Toot{Status: "soon gone"}).ID)
		w.as(owner).post("/api/v1/statuses/" + id + "/favourite").want(http.StatusOK)
		w.as(owner).post("/api/v1/statuses/" + id + "/bookmark").want(http.StatusOK)
	}
	into[rel](w.as(other).post(at(owner, "/block")))
	for path, want := range map[string]mastodon.ID{"/api/v1/replies/received": reply, "/api/v1/favourites": liked, "/api/v1/bookmarks": liked} {
		for _, query := range []string{"?limit=1", "?limit=20", "?limit=20&min_id=1"} {
			a := w.as(owner).get(path + query)
			if got := into[[]status](a); len(got) != 1 || got[0].ID != string(want) {
				t.Errorf("%s: got %+v, want %s", path+query, got, want)
			}
			if link := a.header.Get("Link"); slices.ContainsFunc(unseen, func(id string) bool { return strings.Contains(link, id) }) {
				t.Errorf("%s: the link names a post that is not seen: %s", path+query, link)
			}
		}
	}
}

// Replies that only those mentioned see hide no other reply, and no number tells of them.
func TestPosts_Context_Crowded(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(4)
	owner, attacker, honest, viewer := p[0], p[1], p[2], p[3]
	root := w.toot(owner, mastodon.Toot{Status: "root"}).ID
	for range 70 {
		w.toot(attacker, mastodon.Toot{Status: "spam", Visibility: "direct", InReplyToID: root})
	}
	private := w.toot(honest, mastodon.Toot{Status: "for followers", Visibility: "private", InReplyToID: root}).ID
	reply := w.toot(honest, mastodon.Toot{Status: "honest", InReplyToID: root}).ID
	w.follow(viewer, honest)
	type conversation struct{ Ancestors, Descendants []status }
	for name, c := range map[string]struct {
		as   client
		want []string
	}{
		"anybody": {w.anonymous(), []string{string(reply)}}, "owner": {w.as(owner), []string{string(reply)}},
		"follower": {w.as(viewer), []string{string(private), string(reply)}}, "without the scope": {w.as(viewer, "profile"), []string{string(reply)}},
	} {
		var got []string
		for _, s := range into[conversation](c.as.get("/api/v1/statuses/" + string(root) + "/context")).Descendants {
			got = append(got, s.ID)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if s := into[status](w.anonymous().get("/api/v1/statuses/" + string(root))); s.Replies != 1 {
		t.Errorf("%d replies are counted, want 1", s.Replies)
	}
	if r := w.anonymous().get(at(attacker, "")); !strings.Contains(r.body, `"statuses_count":0`) || !strings.Contains(r.body, `"last_status_at":null`) {
		t.Errorf("the account tells of direct posts: %s", r.body)
	}
}
