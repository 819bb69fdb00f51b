package api_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/app/api/core"
)

func pathOf(r core.Route) string { return strings.Replace(r.Path, ":id", "1", 1) }

func TestAccess_EveryRoute(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	for _, r := range w.server.Routes() {
		t.Run(r.Method+" "+r.Path, func(t *testing.T) {
			path := pathOf(r)
			got := w.anonymous().send(r.Method, path, "", "")
			if !r.SignedIn {
				if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden {
					t.Fatalf("got %d %s for a public route", got.status, got.body)
				}
				return
			}
			got.refused(http.StatusUnauthorized, "The access token is invalid")
			if len(r.Scopes) == 0 {
				return
			}
			w.as(me, otherScopes(r.Scopes)...).send(r.Method, path, "", "").
				refused(http.StatusForbidden, "This action is outside the authorized scopes")
			for _, scope := range r.Scopes {
				scopes := []string{scope}
				if r.Also != "" {
					w.as(me, scope).send(r.Method, path, "", "").refused(http.StatusForbidden, "This action is outside the authorized scopes")
					w.as(me, r.Also).send(r.Method, path, "", "").refused(http.StatusForbidden, "This action is outside the authorized scopes")
					scopes = append(scopes, r.Also)
				}
				if got := w.as(me, scopes...).send(r.Method, path, "", ""); got.status == http.StatusForbidden || got.status == http.StatusUnauthorized {
					t.Fatalf("got %d %s with scope %s", got.status, got.body, scope)
				}
			}
		})
	}
}

// otherScopes are as many scopes as there are that do not cover the wanted.
func otherScopes(wanted []string) []string {
	all := []string{"read:search", "write:media"}
	if !slices.Contains(wanted, "push") {
		all = append(all, "push")
	}
	for _, parent := range []string{"read", "write"} {
		for _, child := range []string{"accounts", "blocks", "follows", "mutes", "lists", "filters"} {
			if scope := parent + ":" + child; !slices.Contains(wanted, scope) {
				all = append(all, scope)
			}
		}
	}
	if !slices.Contains(wanted, "profile") {
		all = append(all, "profile")
	}
	return all
}

// What is listed as public is written down here once more, so that no
// route is opened by accident.
func TestAccess_PublicRoutes(t *testing.T) {
	want := []string{
		"/.well-known/nodeinfo", "/api/v1/accounts", "/api/v1/accounts/:id", "/api/v1/accounts/:id/followers",
		"/api/v1/accounts/:id/following", "/api/v1/accounts/:id/friends", "/api/v1/accounts/:id/statuses", "/api/v1/accounts/lookup",
		"/api/v1/custom_emojis", "/api/v1/instance", "/api/v1/statuses", "/api/v1/statuses/:id", "/api/v1/statuses/:id/context",
		"/api/v1/statuses/:id/favourited_by", "/api/v1/statuses/:id/reblogged_by", "/api/v2/instance", core.AvatarPath, "/headers/original/missing.png",
		"/health", "/livez", "/metrics", "/nodeinfo/2.0", "/readyz",
	}
	var got []string
	for _, r := range newWorld(t).server.Routes() {
		if !r.SignedIn {
			got = append(got, r.Path)
			if r.Method != http.MethodGet {
				t.Errorf("%s %s changes something and is public", r.Method, r.Path)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// The table in the package doc is that of the code.
func TestAccess_DocTable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^//\t(GET|POST|PUT|DELETE) +(\S+) +(public|signed in|push|(?:[a-z]+ or )?[a-z]+:[a-z]+(?: and [a-z]+:[a-z]+)?)(?: |$)`)
	listed := map[string]string{}
	for _, m := range line.FindAllStringSubmatch(string(doc), -1) {
		path := m[2]
		if path[0] != '/' {
			path = "/api/v1/" + path
		}
		listed[m[1]+" "+path] = m[3]
	}
	routes := newWorld(t).server.Routes()
	for _, r := range routes {
		want := "public"
		if r.SignedIn {
			want = strings.Join(r.Scopes, " or ")
			if r.Also != "" {
				want += " and " + r.Also
			}
		}
		if r.SignedIn && want == "" {
			want = "signed in"
		}
		if got := listed[r.Method+" "+r.Path]; got != want {
			t.Errorf("%s %s: the doc says %q, want %q", r.Method, r.Path, got, want)
		}
	}
	if len(listed) != len(routes) {
		t.Errorf("the doc lists %d routes, want %d", len(listed), len(routes))
	}
}

func TestAccess_BadTokens(t *testing.T) {
	w := newWorld(t)
	me := w.add(false)
	stranger := w.as(99)
	old := w.as(me)
	good := w.as(me)
	for name, c := range map[string]client{
		"garbage": {w: w, token: "x"}, "half": {w: w, token: good.token[:len(good.token)-2]},
		"long": {w: w, token: strings.Repeat("x", 9000)}, "of no account": stranger,
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/api/v1/blocks", "/api/v1/instance", at(me, ""), "/api/v1/unknown"} {
				a := c.get(path)
				a.refused(http.StatusUnauthorized, "The access token is invalid")
				if a.header.Get("WWW-Authenticate") == "" {
					t.Error("got no WWW-Authenticate")
				}
			}
		})
	}
	t.Run("expired", func(t *testing.T) {
		into[[]who](old.get("/api/v1/blocks"))
		w.clock.pass(time.Hour + time.Minute)
		old.get("/api/v1/blocks").refused(http.StatusUnauthorized, "The access token is invalid")
	})
	t.Run("expires while remembered", func(t *testing.T) {
		text, err := w.tokens.Sign(me, []string{"read"}, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		short := client{w: w, token: text}
		into[[]who](short.get("/api/v1/blocks"))
		w.clock.pass(50 * time.Second)
		short.get("/api/v1/blocks").refused(http.StatusUnauthorized, "The access token is invalid")
	})
	t.Run("empty is none", func(t *testing.T) {
		for _, header := range []string{"Bearer ", "Bearer", "Basic eDp5", ""} {
			r, _ := http.NewRequest(http.MethodGet, w.http.URL+"/api/v1/instance", nil)
			r.Header.Set("Authorization", header)
			w.anonymous().do(r).want(http.StatusOK)
			r.URL.Path = "/api/v1/blocks"
			w.anonymous().do(r).refused(http.StatusUnauthorized, "The access token is invalid")
		}
	})
}

func TestAccess_ActorIsTheToken(t *testing.T) {
	w := newWorld(t)
	me, other, target := w.add(false), w.add(false), w.add(false)
	into[rel](w.as(me).json(at(target, "/follow?account_id="+text(other)), `{"account_id":"`+text(other)+`","id":"`+text(other)+`"}`))
	if got := into[[]who](w.anonymous().get(at(target, "/followers"))); len(got) != 1 || got[0].ID != text(me) {
		t.Fatalf("got %v, want me", got)
	}
}

// A proxy that checks one of two tokens must not let the other act.
func TestSessions_TwoHeaders(t *testing.T) {
	w := newWorld(t)
	ann, ben := w.as(w.add(false)), w.as(w.add(false))
	for name, headers := range map[string][]string{
		"two": {"Bearer " + ann.token, "Bearer " + ben.token}, "twice": {"Bearer " + ann.token, "Bearer " + ann.token},
		"one bad": {"Bearer " + ann.token, "Bearer x"}, "one of another scheme": {"Basic eDp5", "Bearer " + ann.token}, "one empty": {"", "Bearer " + ann.token},
	} {
		for _, path := range []string{"/api/v1/blocks", "/api/v1/instance"} {
			r, err := http.NewRequest(http.MethodGet, w.http.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = headers
			t.Log(name)
			w.anonymous().do(r).refused(http.StatusBadRequest, "more than one Authorization header")
		}
	}
	r, err := http.NewRequest(http.MethodGet, w.http.URL+"/api/v1/blocks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+ann.token+", Bearer "+ben.token)
	w.anonymous().do(r).refused(http.StatusUnauthorized, "invalid")
}
