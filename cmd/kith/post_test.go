package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kith/repo/dbtest"
	"kith/repo/memcachetest"
)

// status is what tests read of an answered post.
type status struct {
	ID      string
	Content string
	Account struct{ ID string }
	Reblog  *status
	Replies int `json:"replies_count"`
	Reposts int `json:"reblogs_count"`
}

// site is a kith that serves accounts u1 and up.
type site struct {
	t    *testing.T
	dir  string
	env  []string
	base string
}

// openSite starts a server where follows stand, one a line.
func openSite(t *testing.T, follows string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), env: on(dbtest.FreshDSN(t))}
	s.env = append(s.env, "KITH_MEMCACHED="+memcachetest.Addr(t)) // it tells servers what commands change
	s.kith("migrate", "up").wants(t)
	runKith(t, s.dir, s.env, strings.NewReader(follows), "import", "-").wants(t)
	p := startKith(t, s.dir, s.env, "serve")
	address, _, _ := strings.Cut(p.waitFor(t, "msg=serving address="), " ")
	s.base = "http://" + address + "/api/v1"
	return s
}

func (s *site) kith(args ...string) result { return runKith(s.t, s.dir, s.env, nil, args...) }

func (s *site) token(account string) string {
	s.t.Helper()
	return strings.TrimSpace(s.kith("token", "--account", account).wants(s.t))
}

// post posts, and repost reposts, as an account.
func (s *site) post(account string, form url.Values) (made status) {
	s.t.Helper()
	send(s.t, s.base+"/statuses", s.token(account), form, &made)
	return made
}

func (s *site) repost(account, id string) (made status) {
	s.t.Helper()
	send(s.t, s.base+"/statuses/"+id+"/reblog", s.token(account), nil, &made)
	return made
}

// answers fails unless anybody gets an answer with this code.
func (s *site) answers(path string, code int) {
	s.t.Helper()
	answer, err := http.Get(s.base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != code {
		s.t.Errorf("GET %s: %s, want %d", path, answer.Status, code)
	}
}

// send posts a form.
func send(t *testing.T, address, token string, form url.Values, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s: %s, %v", address, answer.Status, body, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("POST %s: %v: %s", address, err, body)
	}
}

// late changes things by command, with memcached and without: then, and only then, it says
// that servers may show what was before.
func (s *site) late(id string) {
	s.t.Helper()
	alone := append(slices.Clone(s.env), "KITH_MEMCACHED=", "KITH_LOCAL_CACHE_EXPIRY=7s")
	for _, command := range []string{"post hide " + id, "post unhide " + id, "account lock 1", "account unlock 1", "import follows.txt", "post import none.jsonl"} {
		for _, file := range []struct{ name, text string }{{"follows.txt", "2 1\n"}, {"none.jsonl", ""}} {
			if err := os.WriteFile(filepath.Join(s.dir, file.name), []byte(file.text), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
		const want = "kith: without memcached, servers may show what was before for up to 7s (KITH_LOCAL_CACHE_EXPIRY)\n"
		if r := runKith(s.t, s.dir, alone, nil, strings.Fields(command)...); r.wants(s.t) == "" || !strings.HasSuffix(r.err, want) {
			s.t.Errorf("without memcached, %s prints %q and says %q, want %q", command, r.out, r.err, want)
		}
		if r := s.kith(strings.Fields(command)...); r.wants(s.t) == "" || strings.Contains(r.err, "memcached") {
			s.t.Errorf("with memcached, %s prints %q and says %q", command, r.out, r.err)
		}
	}
}

func TestPost(t *testing.T) {
	s := openSite(t, "2 1\n3 1\n")
	first := s.post("1", url.Values{"status": {"hello @u2 \"there\""}, "language": {"en"}, "spoiler_text": {"loud"}})
	reply := s.post("2", url.Values{"status": {"hi"}, "in_reply_to_id": {first.ID}, "visibility": {"unlisted"}})
	repost := s.repost("3", first.ID)
	s.late(first.ID)

	shown := s.kith("post", "show", first.ID).wants(t)
	for _, want := range []string{"author           1 @u1\n", "visibility       public\n", "state            live\n", `text             "hello @u2 \"there\""` + "\n",
		"content warning  \"loud\"\n", "language         en\n", "mentions         2\n", "replies          1\n", "reposts          1\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it shows\n%s\nwant %q", shown, want)
		}
	}
	if out := s.kith("post", "show", reply.ID).wants(t); !strings.Contains(out, "reply to    "+first.ID+", by account 1\n") || !strings.Contains(out, "unlisted") {
		t.Errorf("the reply is\n%s", out)
	}
	of := objects(t, s.kith("post", "show", repost.ID, "--json").wants(t))[0]
	has(t, of, "id", "author_id", "author", "created_at", "visibility", "state", "repost_of", "reply_to", "reply_to_account", "language", "spoiler_text",
		"sensitive", "text", "media", "mentions", "replies_count", "reposts_count", "favourites_count")
	if of["repost_of"] != first.ID || of["author"] != "@u3" {
		t.Errorf("the repost is %v", of)
	}

	if out := s.kith("post", "hide", first.ID).wants(t); !strings.HasPrefix(out, "hidden: post "+first.ID+" by account 1 of 20") || !strings.Contains(out, "hello") {
		t.Errorf("hide prints %q", out)
	}
	s.kith("post", "hide", first.ID).wants(t) // again
	if out := s.kith("post", "show", first.ID).wants(t); !strings.Contains(out, "hidden by an administrator") {
		t.Errorf("it shows\n%s", out)
	}
	s.answers("/statuses/"+first.ID, 404)
	s.kith("post", "unhide", first.ID).wants(t)
	s.answers("/statuses/"+first.ID, 200)
	s.kith("post", "delete", first.ID).wantsExit(t, exitUsage, "this would delete post "+first.ID, "hello", "--yes")
	s.answers("/statuses/"+first.ID, 200)
	s.kith("post", "delete", "--yes", first.ID).wants(t)
	s.answers("/statuses/"+first.ID, 404)
	s.answers("/statuses/"+repost.ID, 404)
	for _, id := range []string{first.ID, repost.ID} { // its reposts went with it
		if out := s.kith("post", "show", id).wants(t); !strings.Contains(out, "deleted") || strings.Contains(out, "hello") {
			t.Errorf("a deleted post is\n%s", out)
		}
	}
	s.kith("post", "delete", "--yes", reply.ID).wants(t)

	for _, verb := range []string{"hide", "unhide", "delete", "delete --yes"} {
		words := append([]string{"post"}, strings.Fields(verb)...)
		s.kith(append(words, first.ID)...).wantsRefusal(t, "post "+first.ID+" is deleted already")
		s.kith(append(words, "12345")...).wantsRefusal(t, "there is no post 12345")
	}
	again := s.repost("3", s.post("1", url.Values{"status": {"more"}}).ID)
	s.kith("post", "hide", again.ID).wantsRefusal(t, again.ID+" is a repost by account 3", "the post is "+again.Reblog.ID)
	s.kith("post", "show", "12345").wantsRefusal(t, "there is no post 12345")
	s.kith("post", "show", "0").wantsExit(t, exitUsage, "0 is not a post id")
}
