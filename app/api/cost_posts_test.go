package api_test

import (
	"fmt"
	"net/http"
	"time"

	"kith/app/post"
	"kith/repo/waittest"
)

// postCases are the requests about posts: about one that many answered, favoured and
// reposted, by somebody who has to do with very many, and about one that few did.
func (w *costWorld) postCases() map[string][]compared {
	const all, one = "/api/v1/statuses", "/api/v1/statuses/:id"
	big, few := w.popular(star, 80), w.popular(small, 2)
	w.popular(hoarder, 2)
	both := func(large, small request) []compared {
		return []compared{{name: "hoarder", large: always(large), small: always(small)}}
	}
	path := func(id uint64, more string) string { return fmt.Sprintf("%s/%d%s", all, id, more) }
	act := func(as, id uint64, deed string) request {
		return request{as: as, method: http.MethodPost, path: path(id, "/"+deed)}
	}
	cases := map[string][]compared{
		"POST " + all: both(w.writing(hoarder, big), w.writing(small, few)),
		"GET " + all:  both(getting(hoarder, fmt.Sprintf("%s?id[]=%d", all, big)), getting(small, fmt.Sprintf("%s?id[]=%d", all, few))),
		"PUT " + one: {{name: "hoarder", status: http.StatusUnprocessableEntity,
			large: always(request{as: star, method: http.MethodPut, path: path(big, "")}), small: always(request{as: small, method: http.MethodPut, path: path(few, "")})}},
		"DELETE " + one: both(w.deleting(star), w.deleting(small)),
	}
	for _, more := range []string{"", "/context", "/reblogged_by", "/favourited_by"} {
		cases["GET "+one+more] = both(getting(hoarder, path(big, more)), getting(small, path(few, more)))
	}
	for _, deed := range []string{"reblog", "unreblog", "favourite", "unfavourite", "bookmark", "unbookmark"} {
		cases["POST "+one+"/"+deed] = both(act(hoarder, big, deed), act(small, few, deed))
	}
	for _, deed := range []string{"pin", "unpin"} {
		cases["POST "+one+"/"+deed] = both(act(star, big, deed), act(small, few, deed))
	}
	cases["GET /api/v1/accounts/:id/statuses"] = both(getting(hoarder, at(star, "/statuses")), getting(small, at(other, "/statuses")))
	for _, list := range []string{"/api/v1/favourites", "/api/v1/bookmarks", "/api/v1/replies/received"} {
		cases["GET "+list] = both(getting(hoarder, list), getting(small, list))
	}
	home := func(method, path string) []compared {
		return both(request{as: hoarder, method: method, path: path, before: w.built}, request{as: small, method: method, path: path})
	}
	cases["GET "+homePath] = home(http.MethodGet, homePath)
	cases["POST "+homePath+"/refresh"] = home(http.MethodPost, homePath+"/refresh")
	preferring := func(as uint64) request {
		return request{as: as, method: http.MethodPost, path: "/api/v1/preferences", body: `{"reading:promotions":true}`}
	}
	cases["POST /api/v1/preferences"] = both(preferring(hoarder), preferring(small))
	cases["GET /api/v1/markers"] = both(getting(hoarder, "/api/v1/markers?timeline[]=home&timeline[]=notifications"), getting(small, "/api/v1/markers?timeline[]=home"))
	cases["POST /api/v1/markers"] = both(moving(hoarder, big), moving(small, few))
	return cases
}

const homePath = "/api/v1/timelines/home"

// built waits until the home of hoarder is kept ready: who follows so many may be told to come
// again, while it is built.
func (w *costWorld) built() {
	waittest.Until(w.t, time.Minute, "the home of hoarder is built", func() bool {
		w.answer.reset()
		w.server.ServeHTTP(&w.answer, getting(hoarder, homePath).http(w))
		return w.answer.status == http.StatusOK
	})
}

func moving(as, to uint64) request {
	return request{as: as, method: http.MethodPost, path: "/api/v1/markers", body: fmt.Sprintf(`{"home":{"last_read_id":"%d"},"notifications":{"last_read_id":"%d"}}`, to, to)}
}

// popular makes a post that so many others answer, favour and repost.
func (w *costWorld) popular(by uint64, n int) uint64 {
	w.t.Helper()
	ctx := w.t.Context()
	made, err := w.posts.Create(ctx, by, post.Draft{Content: post.Content{Text: "popular"}})
	if err != nil {
		w.t.Fatal(err)
	}
	id := made.Post.ID
	for i := range n {
		who := uint64(little0 + i)
		if _, err = w.posts.Create(ctx, who, post.Draft{Content: post.Content{Text: "yes"}, ReplyTo: id}); err == nil {
			if _, err = w.posts.Favour(ctx, who, id, true); err == nil {
				_, err = w.posts.Repost(ctx, who, id, 0)
			}
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

func (w *costWorld) writing(as, to uint64) request {
	return request{as: as, method: http.MethodPost, path: "/api/v1/statuses", body: fmt.Sprintf(`{"status":"hello","in_reply_to_id":"%d"}`, to)}
}

// deleting deletes a post, a new one each time.
func (w *costWorld) deleting(as uint64) (q request) {
	q = request{as: as, method: http.MethodDelete}
	path := new(string)
	q.before = func() { *path = fmt.Sprintf("/api/v1/statuses/%d", w.popular(as, 0)) }
	q.late = path
	return q
}
