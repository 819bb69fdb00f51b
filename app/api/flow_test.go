package api_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"kith/app/api"
)

// The flows run on a real database.

func TestFlow_FollowAndFriends(t *testing.T) {
	w := newLiveWorld(t)
	a, b := w.add(false), w.add(false)
	r := into[rel](w.as(a).form(at(b, "/follow"), "reblogs=false&notify=on&languages[]=en&languages[]=de"))
	want := rel{ID: text(b), Following: true, Notifying: true, Languages: []string{"en", "de"}}
	if !reflect.DeepEqual(r, want) {
		t.Fatalf("got %+v, want %+v", r, want)
	}
	r = into[rel](w.as(b).post(at(a, "/follow")))
	if !r.Following || !r.FollowedBy || !r.ShowingReblogs || r.Languages != nil {
		t.Fatalf("got %+v, want friends", r)
	}
	for _, path := range []string{"/followers", "/following", "/friends"} {
		people := into[[]who](w.anonymous().get(at(a, path)))
		if len(people) != 1 || people[0].ID != text(b) || people[0].Followers != 1 || people[0].Following != 1 {
			t.Fatalf("%s: got %+v, want b with its counts", path, people)
		}
	}
	r = into[rel](w.as(a).json(at(b, "/unfollow"), "{}"))
	if r.Following || !r.FollowedBy || r.Notifying {
		t.Fatalf("got %+v, want b as a follower", r)
	}
	into[rel](w.as(a).post(at(b, "/remove_from_followers")))
	if people := into[[]who](w.anonymous().get(at(a, "/followers"))); len(people) != 0 {
		t.Fatalf("got %+v, want no followers", people)
	}
}

func TestFlow_LockedAccount(t *testing.T) {
	w := newLiveWorld(t)
	locked, yes, no := w.add(true), w.add(false), w.add(false)
	for _, id := range []uint64{yes, no} {
		r := into[rel](w.as(id).post(at(locked, "/follow")))
		if r.Following || !r.Requested {
			t.Fatalf("got %+v, want a request", r)
		}
	}
	me := into[map[string]any](w.as(locked).get("/api/v1/accounts/verify_credentials"))
	if n := me["source"].(map[string]any)["follow_requests_count"]; n != 2.0 {
		t.Fatalf("got %v requests, want 2", n)
	}
	if people := into[[]who](w.as(locked).get("/api/v1/follow_requests")); len(people) != 2 {
		t.Fatalf("got %v, want two requests", people)
	}
	path := "/api/v1/follow_requests/"
	if r := into[rel](w.as(locked).post(path + text(yes) + "/authorize")); !r.FollowedBy || r.RequestedBy {
		t.Fatalf("got %+v, want a follower", r)
	}
	if r := into[rel](w.as(locked).post(path + text(no) + "/reject")); r.FollowedBy || r.RequestedBy {
		t.Fatalf("got %+v, want nothing", r)
	}
	w.as(locked).post(path+text(no)+"/authorize").refused(http.StatusNotFound, "Record not found")
	got := into[[]rel](w.as(locked).get("/api/v1/accounts/relationships?id[]=" + text(yes) + "&id[]=" + text(no)))
	if len(got) != 2 || !got[0].FollowedBy || got[1].FollowedBy {
		t.Fatalf("got %+v", got)
	}
}

func TestFlow_Block(t *testing.T) {
	w := newLiveWorld(t)
	a, b := w.add(false), w.add(false)
	into[rel](w.as(a).post(at(b, "/follow")))
	into[rel](w.as(b).post(at(a, "/follow")))
	r := into[rel](w.as(b).json(at(a, "/block"), ""))
	if !r.Blocking || r.Following || r.FollowedBy {
		t.Fatalf("got %+v, want only a block", r)
	}
	w.as(a).post(at(b, "/follow")).refused(http.StatusForbidden, "This action is not allowed")
	w.as(b).post(at(a, "/follow")).refused(http.StatusForbidden, "This action is not allowed")
	if got := into[[]rel](w.as(a).get("/api/v1/accounts/relationships?id=" + text(b))); !got[0].BlockedBy {
		t.Fatalf("got %+v, want blocked by", got)
	}
	if got := into[[]who](w.as(b).get("/api/v1/blocks")); len(got) != 1 || got[0].ID != text(a) {
		t.Fatalf("got %+v, want a", got)
	}
	into[rel](w.as(b).post(at(a, "/unblock")))
	if r := into[rel](w.as(a).post(at(b, "/follow"))); !r.Following {
		t.Fatalf("got %+v, want a follow after the unblock", r)
	}
}

func TestFlow_MuteAndNote(t *testing.T) {
	w := newLiveWorld(t)
	a, b := w.add(false), w.add(false)
	if r := into[rel](w.as(a).post(at(b, "/mute"))); !r.Muting || !r.MutingNotifications || r.MutingExpiresAt != nil {
		t.Fatalf("got %+v, want a mute of everything without an end", r)
	}
	r := into[rel](w.as(a).send(multipartPost(t, at(b, "/mute"), "notifications", "false", "duration", "3600")))
	if !r.Muting || r.MutingNotifications || r.MutingExpiresAt == nil || *r.MutingExpiresAt != "2026-05-01T11:00:00.000Z" {
		t.Fatalf("got %+v, want a mute of an hour", r)
	}
	got := into[[]who](w.as(a).get("/api/v1/mutes"))
	if len(got) != 1 || got[0].Until == nil || *got[0].Until != "2026-05-01T11:00:00.000Z" {
		t.Fatalf("got %+v, want b until eleven", got)
	}
	r = into[rel](w.as(a).json(at(b, "/mute"), `{"notifications":true,"duration":0}`))
	if !r.MutingNotifications || r.MutingExpiresAt != nil {
		t.Fatalf("got %+v, want a mute without an end", r)
	}
	note := `he said "<hi>" & ☃`
	r = into[rel](w.as(a).send(multipartPost(t, at(b, "/note"), "comment", note)))
	if r.Note != note || !r.Muting {
		t.Fatalf("got %+v, want the note", r)
	}
	if r = into[rel](w.as(a).post(at(b, "/unmute"))); r.Muting || r.Note != note {
		t.Fatalf("got %+v, want the note only", r)
	}
	if r = into[rel](w.as(a).form(at(b, "/note"), "comment=")); r.Note != "" {
		t.Fatalf("got %+v, want no note", r)
	}
}

func TestFlow_FamiliarFollowers(t *testing.T) {
	w := newLiveWorld(t)
	me, friend, target := w.add(false), w.add(false), w.add(false)
	into[rel](w.as(me).post(at(friend, "/follow")))
	into[rel](w.as(friend).post(at(target, "/follow")))
	type entry struct {
		ID       string `json:"id"`
		Accounts []who  `json:"accounts"`
	}
	got := into[[]entry](w.as(me).get("/api/v1/accounts/familiar_followers?id[]=" + text(target) + "&id[]=" + text(me) + "&id[]=9"))
	if len(got) != 2 || len(got[0].Accounts) != 1 || got[0].Accounts[0].ID != text(friend) || got[1].Accounts == nil {
		t.Fatalf("got %+v, want the friend for the target and none for me", got)
	}
}

// Many at once: every follow is answered, and every count is right afterwards.
func TestFlow_Crowd(t *testing.T) {
	w := newLiveWorld(t, func(c *api.Config) { c.RateLimit = 1000 })
	star := w.add(false)
	fans := w.people(24)
	var crowd sync.WaitGroup
	for i, f := range fans {
		crowd.Go(func() {
			c := w.as(f)
			for range 3 {
				c.post(at(star, "/follow"))
				c.get("/api/v1/accounts/relationships?id[]=" + text(star))
			}
			if i%2 == 0 {
				c.post(at(star, "/unfollow"))
			}
		})
	}
	crowd.Wait()
	if got := into[who](w.anonymous().get(at(star, ""))); got.Followers != 12 {
		t.Fatalf("got %d followers, want 12", got.Followers)
	}
	if got := into[[]who](w.anonymous().get(at(star, "/followers"))); len(got) != 12 || got[0].Following != 1 {
		t.Fatalf("got %+v, want 12 followers", got)
	}
}

// multipartPost returns the arguments of send for a form of name and value pairs.
func multipartPost(t *testing.T, path string, pairs ...string) (method, to, kind, body string) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		if err := m.WriteField(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return http.MethodPost, path, m.FormDataContentType(), b.String()
}

func text(id uint64) string { return strconv.FormatUint(id, 10) }

// What is an object or an array in JSON where one value is asked for is refused, and
// changes nothing.
func TestFlow_OddJSON(t *testing.T) {
	w := newLiveWorld(t)
	a, b := w.add(false), w.add(false)
	into[rel](w.as(a).json(at(b, "/note"), `{"comment":"kept"}`))
	into[rel](w.as(a).json(at(b, "/mute"), `{"duration":3600}`))
	for path, bodies := range map[string][]string{
		"/note":   {`{"comment":{"a":1}}`, `{"comment":["x","y"]}`, `{"comment":[]}`, `{"comment":[["x"]]}`},
		"/mute":   {`{"duration":{"a":1}}`, `{"duration":[]}`, `{"duration":[60]}`, `{"notifications":{}}`, `{"notifications":[true]}`},
		"/follow": {`{"languages":{"a":"de"}}`, `{"languages":[["de"]]}`, `{"languages":["de",{}]}`, `{"reblogs":[false]}`, `{"notify":{"x":true}}`},
	} {
		for _, body := range bodies {
			w.as(a).json(at(b, path), body).want(http.StatusUnprocessableEntity)
		}
	}
	r := into[[]rel](w.as(a).get("/api/v1/accounts/relationships?id[]=" + text(b)))[0]
	if r.Note != "kept" || r.MutingExpiresAt == nil || r.Following {
		t.Errorf("got %+v, want the note and the mute as they were", r)
	}
	if r := into[rel](w.as(a).json(at(b, "/follow"), `{"languages":["de"],"unknown":{"a":[]}}`)); !r.Following {
		t.Errorf("got %+v, want a follow: what is unknown is not looked at", r)
	}
}
