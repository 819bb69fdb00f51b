package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-mastodon"
)

// toot posts through the library.
func (w *world) toot(as uint64, t mastodon.Toot) *mastodon.Status {
	w.t.Helper()
	s, err := w.library(as).PostStatus(w.t.Context(), &t)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) follow(a, b uint64) {
	w.t.Helper()
	into[rel](w.as(a).post(at(b, "/follow")))
}

// home walks a home down through the library and returns the ids of its entries.
func (w *world) home(as uint64, limit int64) (ids []mastodon.ID) {
	w.t.Helper()
	for pg := (mastodon.Pagination{Limit: limit}); ; {
		page, err := w.library(as).GetTimelineHome(w.t.Context(), &pg)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		if pg.MaxID == "" {
			return ids
		}
		pg = mastodon.Pagination{MaxID: pg.MaxID, Limit: limit}
	}
}

// A conversation through the library: post, reply, boost, favourite, bookmark, home,
// context, delete.
func TestLibrary_Posts(t *testing.T) {
	w, ctx := newLiveWorld(t), patience(t)
	p := w.people(4)
	ann, ben, cat, dan := p[0], p[1], p[2], p[3]
	w.follow(cat, ann)
	w.follow(cat, ben)
	w.follow(dan, cat)
	first := w.toot(ann, mastodon.Toot{Status: "hello <b>world</b> #kith", SpoilerText: "careful", Language: "en", Visibility: "unlisted"})
	if first.Content != `<p>hello &lt;b&gt;world&lt;/b&gt; <a href="https://kith.example/tags/kith" class="mention hashtag" rel="tag">#<span>kith</span></a></p>` ||
		first.SpoilerText != "careful" || !first.Sensitive || first.Visibility != "unlisted" || first.Language != "en" || first.CreatedAt.IsZero() || len(first.Tags) != 1 {
		t.Errorf("got %+v", first)
	}
	reply := w.toot(ben, mastodon.Toot{Status: "hi", InReplyToID: first.ID})
	if reply.InReplyToID != string(first.ID) || reply.InReplyToAccountID != text(ann) {
		t.Errorf("got %+v", reply)
	}
	boost, err := w.library(cat).Reblog(ctx, reply.ID)
	if err != nil || boost.Reblog == nil || boost.Reblog.ID != reply.ID {
		t.Fatalf("got %+v, %v", boost, err)
	}
	if s, err := w.library(dan).Favourite(ctx, reply.ID); err != nil || s.FavouritesCount != 1 || s.Favourited != true {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := w.library(dan).Bookmark(ctx, first.ID); err != nil || s.Bookmarked != true {
		t.Errorf("got %+v, %v", s, err)
	}
	if got, want := w.home(dan, 1), []mastodon.ID{boost.ID}; !slices.Equal(got, want) {
		t.Errorf("home of dan %v, want %v", got, want)
	}
	if got, want := w.home(cat, 1), []mastodon.ID{reply.ID, first.ID}; !slices.Equal(got, want) {
		t.Errorf("home of cat %v, want %v", got, want)
	}
	context, err := w.library(dan).GetStatusContext(ctx, reply.ID)
	if err != nil || len(context.Ancestors) != 1 || context.Ancestors[0].ID != first.ID || len(context.Descendants) != 0 {
		t.Errorf("got %+v, %v", context, err)
	}
	for name, list := range map[string]func() ([]*mastodon.Status, error){
		"favourites": func() ([]*mastodon.Status, error) { return w.library(dan).GetFavourites(ctx, nil) },
		"bookmarks":  func() ([]*mastodon.Status, error) { return w.library(dan).GetBookmarks(ctx, nil) },
		"statuses": func() ([]*mastodon.Status, error) {
			return w.library(dan).GetAccountStatuses(ctx, mastodon.ID(text(ann)), nil)
		},
	} {
		if found, err := list(); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v; want one", name, found, err)
		}
	}
	who, err := w.library(dan).GetRebloggedBy(ctx, reply.ID, nil)
	if err != nil || len(who) != 1 || string(who[0].ID) != text(cat) || who[0].StatusesCount != 1 {
		t.Errorf("reblogged by %+v, %v", who, err)
	}
	if s, err := w.library(cat).Unreblog(ctx, reply.ID); err != nil || s.ID != reply.ID || s.ReblogsCount != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := w.library(ann).DeleteStatus(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.library(dan).GetStatus(ctx, first.ID); err == nil {
		t.Error("a deleted post is shown")
	}
	if got, want := w.home(cat, 20), []mastodon.ID{reply.ID}; !slices.Equal(got, want) {
		t.Errorf("home of cat %v, want %v", got, want)
	}
}

// What somebody may not see is 404 on every route that names it, as if it were not there,
// and stands in no list.
func TestPosts_Unseen(t *testing.T) {
	w := newLiveWorld(t)
	p := w.people(3)
	author, stranger, blocked := p[0], p[1], p[2]
	into[rel](w.as(author).post(at(blocked, "/block")))
	for _, c := range []struct {
		name, visibility string
		by               uint64
	}{{"private", "private", stranger}, {"direct", "direct", stranger}, {"blocked", "public", blocked}, {"private, anonymous", "private", 0}} {
		id := string(w.toot(author, mastodon.Toot{Status: "secret", Visibility: c.visibility}).ID)
		one := "/api/v1/statuses/" + id
		client := w.anonymous()
		if c.by != 0 {
			client = w.as(c.by)
		}
		for _, path := range []string{one, one + "/context", one + "/reblogged_by", one + "/favourited_by"} {
			if r := client.get(path); r.status != http.StatusNotFound || strings.Contains(r.body, "secret") {
				t.Errorf("%s: GET %s: %d %s", c.name, path, r.status, r.body)
			}
		}
		for _, path := range []string{"/api/v1/statuses?id[]=" + id, at(author, "/statuses")} {
			if r := client.get(path); r.status != http.StatusOK || strings.Contains(r.body, id) {
				t.Errorf("%s: GET %s: %d %s", c.name, path, r.status, r.body)
			}
		}
		if c.by == 0 {
			continue
		}
		for _, deed := range []string{"reblog", "unreblog", "favourite", "unfavourite", "bookmark", "unbookmark", "pin", "unpin"} {
			if r := client.post(one + "/" + deed); r.status != http.StatusNotFound {
				t.Errorf("%s: %s: %d %s", c.name, deed, r.status, r.body)
			}
		}
		if r := client.form("/api/v1/statuses", "status=re&in_reply_to_id="+id); r.status != http.StatusNotFound {
			t.Errorf("%s: reply: %d %s", c.name, r.status, r.body)
		}
		if r := client.send(http.MethodDelete, one, "", ""); r.status != http.StatusNotFound {
			t.Errorf("%s: delete: %d %s", c.name, r.status, r.body)
		}
		if got := w.home(c.by, 20); len(got) != 0 {
			t.Errorf("%s: home %v", c.name, got)
		}
	}
}

// Pages of a list by ids have links in both directions, and what they must repeat.
func TestPosts_Links(t *testing.T) {
	w := newLiveWorld(t)
	author := w.people(1)[0]
	var ids []string
	for i := range 5 {
		ids = append(ids, string(w.toot(author, mastodon.Toot{Status: fmt.Sprint("post ", i)}).ID))
	}
	r := w.as(author).get(at(author, "/statuses?limit=2&exclude_replies=true"))
	want := fmt.Sprintf(`<https://kith.example%s?exclude_replies=true&limit=2&max_id=%s>; rel="next", <https://kith.example%s?exclude_replies=true&limit=2&min_id=%s>; rel="prev"`,
		at(author, "/statuses"), ids[3], at(author, "/statuses"), ids[4])
	if got := r.header.Get("Link"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	oldest := into[[]struct{ ID string }](w.as(author).get("/api/v1/timelines/home?limit=2&min_id=" + ids[0]))
	if len(oldest) != 2 || oldest[0].ID != ids[2] || oldest[1].ID != ids[1] {
		t.Errorf("after the first: %v, want %v", oldest, ids[1:3])
	}
	newest := into[[]struct{ ID string }](w.as(author).get("/api/v1/timelines/home?limit=2&since_id=" + ids[0]))
	if len(newest) != 2 || newest[0].ID != ids[4] || newest[1].ID != ids[3] {
		t.Errorf("since the first: %v, want %v", newest, ids[3:])
	}
	if r := w.as(author).get("/api/v1/timelines/home?max_id=x"); r.status != http.StatusBadRequest {
		t.Errorf("a bad cursor: %d %s", r.status, r.body)
	}
}
