package main

import (
	"net/url"
	"strings"
	"testing"
)

func TestPromotion(t *testing.T) {
	s := openSite(t, "2 1\n")
	first := s.post("1", url.Values{"status": {"buy"}})
	secret := s.post("1", url.Values{"status": {"psst"}, "visibility": {"private"}})
	repost := s.repost("2", first.ID)

	if out := s.kith("promotion", "add", "--post", first.ID, "--to", "2090-01-31", "--every", "5", "--weight", "3").wants(t); out != "1\n" {
		t.Errorf("add prints %q, want the id", out)
	}
	s.kith("promotion", "add", "--account", "1", "--from", "2089-01-01T12:00:00Z", "--to", "2090-01-31").wants(t)
	shown := s.kith("promotion", "list").wants(t)
	for _, want := range []string{"ID  OF ", "1   post " + first.ID, "  2090-01-31T00:00:00Z  5      3       shown\n", "2   account 1 ", "2089-01-01T12:00:00Z  2090-01-31T00:00:00Z  20     1       to come\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it lists\n%s\nwant %q", shown, want)
		}
	}
	of := objects(t, s.kith("promotion", "list", "--json").wants(t))
	has(t, of[0], "id", "post_id", "account_id", "from", "to", "every", "weight", "state")

	if out := s.kith("promotion", "end", "1").wants(t); out != "ended 1\n" {
		t.Errorf("end prints %q", out)
	}
	if out := s.kith("promotion", "list").wants(t); strings.Contains(out, "post") || !strings.Contains(out, "account 1") {
		t.Errorf("it lists\n%s", out)
	}
	if out := s.kith("promotion", "list", "--all").wants(t); !strings.Contains(out, "ended\n") || strings.Index(out, "account 1") > strings.Index(out, first.ID) {
		t.Errorf("it lists\n%s", out)
	}
	if of := objects(t, s.kith("promotion", "list", "--all", "--before", "2", "--limit", "1", "--json").wants(t)); len(of) != 1 || of[0]["id"] != "1" {
		t.Errorf("it lists %v", of)
	}

	s.kith("promotion", "end", "1").wantsRefusal(t, "promotion 1 has ended already")
	s.kith("promotion", "end", "9").wantsRefusal(t, "there is no promotion 9")
	s.kith("promotion", "add", "--post", secret.ID, "--to", "2090-01-31").wantsRefusal(t, "there is no post "+secret.ID+" that everybody may see")
	s.kith("promotion", "add", "--post", repost.ID, "--to", "2090-01-31").wantsRefusal(t, "is a repost: promote post "+first.ID)
	s.kith("promotion", "add", "--account", "77", "--to", "2090-01-31").wantsRefusal(t, "there is no account 77")
	s.kith("promotion", "add", "--account", "1", "--to", "2020-01-31").wantsRefusal(t, "must end after it begins")
	s.kith("promotion", "add", "--account", "1", "--to", "2090-01-31", "--every", "1").wantsRefusal(t, "every 2 to 10000 entries")
	for _, args := range [][]string{
		{"add", "--to", "2090-01-31"}, {"add", "--post", first.ID}, {"add", "--post", first.ID, "--account", "1", "--to", "2090-01-31"},
		{"add", "--post", first.ID, "--to", "tomorrow"}, {"add", "--post", first.ID, "--to", "2190-01-31"}, {"list", "--before", "2"}, {"list", "--all", "--limit", "0"}, {"end"},
	} {
		if r := s.kith(append([]string{"promotion"}, args...)...); r.code == 0 {
			t.Errorf("%v is taken: %s", args, r.out)
		}
	}
}
