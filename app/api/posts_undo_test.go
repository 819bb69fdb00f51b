package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mattn/go-mastodon"
)

// What an account did it can undo when it may no longer see the post: the counts fall, and
// the answer is that there is no such post.
func TestPosts_Undo_Unseen(t *testing.T) {
	w := newLiveWorld(t)
	for _, c := range []struct{ name, deed, undo, count string }{
		{"repost", "reblog", "unreblog", "reblogs_count"},
		{"favourite", "favourite", "unfavourite", "favourites_count"},
		{"bookmark", "bookmark", "unbookmark", ""},
	} {
		for _, wrapped := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " ", wrapped), func(t *testing.T) {
				p := w.people(3)
				author, fan, third := p[0], p[1], p[2]
				id := string(w.toot(author, mastodon.Toot{Status: "hello"}).ID)
				one, path := "/api/v1/statuses/"+id, "/api/v1/statuses/"+id
				if wrapped {
					path = "/api/v1/statuses/" + into[status](w.as(third).post(one+"/reblog")).ID
				}
				w.as(fan).post(path + "/" + c.deed).want(http.StatusOK)
				into[rel](w.as(author).post(at(fan, "/block")))
				w.as(fan).post(path + "/" + c.undo).want(http.StatusNotFound)
				if c.count == "" {
					into[rel](w.as(author).post(at(fan, "/unblock")))
					if got := into[status](w.as(fan).get(one)); got.Bookmarked {
						t.Error("the bookmark is still there")
					}
					return
				}
				want := 0
				if wrapped && c.deed == "reblog" {
					want = 1 // that of third
				}
				if body := w.as(author).get(one).want(http.StatusOK).body; !strings.Contains(body, fmt.Sprintf(`%q:%d,`, c.count, want)) {
					t.Errorf("%s, want %s %d", body, c.count, want)
				}
				if got := into[[]status](w.anonymous().get(at(fan, "/statuses"))); len(got) != 0 {
					t.Errorf("the repost is still there: %+v", got)
				}
			})
		}
	}
}

// One's own repost can be deleted when what it shows is no longer seen. Others cannot.
func TestPosts_Delete_Wrapper(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(3)
	author, fan, third := p[0], p[1], p[2]
	id := string(w.toot(author, mastodon.Toot{Status: "hello"}).ID)
	wrapper := "/api/v1/statuses/" + into[status](w.as(fan).post("/api/v1/statuses/"+id+"/reblog")).ID
	into[rel](w.as(author).post(at(fan, "/block")))
	w.as(third).send(http.MethodDelete, wrapper, "", "").want(http.StatusNotFound)
	w.as(fan).send(http.MethodDelete, "/api/v1/statuses/"+id, "", "").want(http.StatusNotFound)
	was := w.as(fan).send(http.MethodDelete, wrapper, "", "").want(http.StatusOK)
	if !strings.Contains(was.body, `"reblog":null`) || strings.Contains(was.body, "hello") {
		t.Errorf("got %s, want the repost without the post", was.body)
	}
	w.as(fan).send(http.MethodDelete, wrapper, "", "").want(http.StatusNotFound)
	if got := into[status](w.as(author).get("/api/v1/statuses/" + id)); got.Reblogs != 0 {
		t.Errorf("got %+v, want no repost", got)
	}
	if got := into[[]status](w.anonymous().get(at(fan, "/statuses"))); len(got) != 0 {
		t.Errorf("the repost is still there: %+v", got)
	}
}

// A repost names nobody who may see it, so that it cannot be direct.
func TestPosts_Repost_Direct(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(2)
	one := "/api/v1/statuses/" + string(w.toot(p[0], mastodon.Toot{Status: "hello"}).ID)
	w.as(p[1]).form(one+"/reblog", "visibility=direct").want(http.StatusUnprocessableEntity)
	w.as(p[1]).form(one+"/reblog", "visibility=private").want(http.StatusOK)
}
