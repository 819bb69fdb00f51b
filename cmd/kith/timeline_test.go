package main

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"kith/app/home"
)

func TestTimeline(t *testing.T) {
	s := openSite(t, "1 2\n1 3\n4 3\n")
	text := func(text string) url.Values { return url.Values{"status": {text}} }
	a := s.post("2", text("by somebody whom 1 follows"))
	b := s.post("4", text("by a stranger"))
	again := s.repost("3", a.ID)
	brought := s.repost("3", b.ID)
	left := s.post("4", text("a stranger's own"))
	reply := s.post("2", url.Values{"status": {"to a stranger"}, "in_reply_to_id": {left.ID}})

	cold := s.kith("timeline", "show", "--account", "1").wants(t)
	if !strings.Contains(cold, "hot line  none\nwarm row  none\n") {
		t.Errorf("nobody has read the home, and it shows\n%s", cold)
	}
	s.wantsEntries(cold, brought.ID+" "+b.ID+" @u4 1: @u3", a.ID+" "+a.ID+" @u2 1: @u3")

	get(t, s.base+"/timelines/home", s.token("1"), nil)
	hot := s.kith("timeline", "show", "--account", "1").wants(t)
	if !strings.Contains(hot, "events, all there are; built 20") || !strings.Contains(hot, "in use") {
		t.Errorf("the home was read, and it shows\n%s", hot)
	}
	s.wantsEntries(hot, brought.ID+" "+b.ID+" @u4 1: @u3", a.ID+" "+a.ID+" @u2 1: @u3")
	if out := s.kith("timeline", "show", "--account", "1", "--limit", "1").wants(t); strings.Contains(out, a.ID) {
		t.Errorf("one entry is\n%s", out)
	}
	lines := objects(t, s.kith("timeline", "show", "--account", "1", "--json").wants(t))
	if len(lines) != 3 {
		t.Fatalf("got %d objects, want 2 entries and what is kept: %v", len(lines), lines)
	}
	has(t, lines[0], "id", "created_at", "post", "author", "reposted_by", "reposted_by_count")
	kept := lines[2]["kept"].(map[string]any)
	has(t, kept, "hot", "hot_in_use", "hot_pushed", "warm")
	has(t, kept["hot"].(map[string]any), "built_at", "floor_id", "events", "pulled")

	why := func(id, want string) {
		t.Helper()
		if got := s.kith("timeline", "why", "--account", "1", "--post", id).wants(t); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	why(a.ID, "post "+a.ID+" by @u2 stands in the home of @u1, as an entry of its own, reposted by @u3")
	why(again.ID, "repost "+again.ID+" by @u3 of post "+a.ID+" by @u2 stands in the home of @u1, inside the entry of the post itself")
	why(b.ID, "post "+b.ID+" by @u4 stands in the home of @u1 since @u3 reposted it, as an entry of its own; its own posting does not bring it: by an account that the reader does not follow: @u4")
	why(left.ID, "post "+left.ID+" by @u4 does not stand in the home of @u1: by an account that the reader does not follow: @u4")
	why(reply.ID, "post "+reply.ID+" by @u2 does not stand in the home of @u1: a reply to somebody whom the reader does not follow: @u4")
	why("12345", "post 12345 does not stand in the home of @u1: there is no such post")

	if out := s.kith("timeline", "clear", "--account", "1").wants(t); out != "cleared the home timeline of 1 @u1\n" {
		t.Errorf("clear prints %q", out)
	}
	if out := s.kith("timeline", "show", "--account", "1").wants(t); !strings.Contains(out, "hot line  none\n") {
		t.Errorf("it was cleared, and shows\n%s", out)
	}
	if out := s.kith("timeline", "rebuild", "--account", "1").wants(t); !strings.HasPrefix(out, "built the home timeline of 1 @u1: ") {
		t.Errorf("rebuild prints %q", out)
	}
	if out := s.kith("timeline", "show", "--account", "1").wants(t); !strings.Contains(out, "in use") {
		t.Errorf("it was built, and shows\n%s", out)
	}
	// A follow since makes the line useless.
	send(t, s.base+"/accounts/4/follow", s.token("1"), nil, new(any))
	if out := s.kith("timeline", "show", "--account", "1").wants(t); !strings.Contains(out, "to be built anew") || !strings.Contains(out, left.ID) {
		t.Errorf("1 follows another, and it shows\n%s", out)
	}
	why(left.ID, "post "+left.ID+" by @u4 stands in the home of @u1, as an entry of its own")

	for _, verb := range []string{"show", "rebuild", "clear"} {
		s.kith("timeline", verb, "--account", "99").wantsRefusal(t, "there is no account 99")
		s.kith("timeline", verb).wantsExit(t, exitUsage, "--account")
	}
	s.kith("timeline", "why", "--account", "1").wantsExit(t, exitUsage, "--post")
	s.kith("timeline", "show", "--account", "1", "--limit", "0").wantsExit(t, exitUsage, "--limit")
}

// wantsEntries fails unless a home shows these entries: entry, post, author, reposts.
func (s *site) wantsEntries(shown string, want ...string) {
	s.t.Helper()
	_, table, _ := strings.Cut(shown, "\nENTRY")
	lines := strings.Split(strings.TrimSpace(table), "\n")[1:]
	for i, line := range lines {
		f := strings.Fields(line)
		lines[i] = strings.Join(append(f[:1], f[2:]...), " ")
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		s.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// Without memcached the line of a server is out of reach, and the command says so.
func TestTimeline_NoMemcached(t *testing.T) {
	env, dir := migrated(t), t.TempDir()
	runKith(t, dir, env, strings.NewReader("1 2\n"), "import", "-").wants(t)
	for _, verb := range []string{"show", "rebuild", "clear"} {
		r := runKith(t, dir, env, nil, "timeline", verb, "--account", "1")
		if r.wants(t); !strings.Contains(r.out+r.err, elsewhere) {
			t.Errorf("%s says %s%s", verb, r.out, r.err)
		}
	}
}

// The time that the sentence names is that of the recheck.
func TestTimeline_Elsewhere(t *testing.T) {
	if want := "after 5 minutes"; home.DefaultRecheck != 5*time.Minute || !strings.Contains(elsewhere, want) {
		t.Errorf("lines are built anew after %v, want it in %q", home.DefaultRecheck, elsewhere)
	}
}
