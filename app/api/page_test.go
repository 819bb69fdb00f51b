package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// walk follows the links of a relation until there is none and returns who was
// on the pages, in order.
func walk(t *testing.T, c client, path, relation string) []string {
	t.Helper()
	var seen []string
	for pages := 0; path != ""; pages++ {
		if pages > 100 {
			t.Fatalf("no end after %d pages", pages)
		}
		a := c.get(path)
		seen = append(seen, names(into[[]who](a))...)
		path = strings.TrimPrefix(linkOf(t, a, relation), "https://kith.example")
	}
	return seen
}

// linkOf takes a Link header apart as clients do: at commas.
func linkOf(t *testing.T, a answer, relation string) string {
	t.Helper()
	for link := range strings.SplitSeq(a.header.Get("Link"), ",") {
		address, after, ok := strings.Cut(strings.TrimSpace(link), "; ")
		if !ok || after != `rel="`+relation+`"` {
			continue
		}
		u, err := url.Parse(strings.Trim(address, "<>"))
		if err != nil || !u.IsAbs() {
			t.Fatalf("link %q is not absolute: %v", link, err)
		}
		return u.String()
	}
	return ""
}

func TestLinks_WalkEveryPageOnce(t *testing.T) {
	w := newLiveWorld(t)
	star, viewer := w.add(false), w.add(false)
	fans := w.people(23)
	for i, f := range fans {
		into[rel](w.as(f).post(at(star, "/follow")))
		if i%3 == 0 { // several fans in one second
			w.clock.pass(time.Second)
		}
		if i%4 == 0 {
			into[rel](w.as(star).post(at(f, "/follow")))
		}
	}
	for _, limit := range []int{1, 2, 5, 22, 23, 24, 80} {
		path := fmt.Sprintf("%s?limit=%d", at(star, "/followers"), limit)
		got := walk(t, w.anonymous(), path, "next")
		slices.Sort(got)
		want := textsOf(fans)
		if !slices.Equal(got, want) {
			t.Fatalf("limit %d: got %v, want %v", limit, got, want)
		}
	}
	t.Run("people left out", func(t *testing.T) {
		for _, f := range fans[6:16] { // some pages have no account left, some have a few
			into[rel](w.as(viewer).post(at(f, "/block")))
		}
		got := walk(t, w.as(viewer), at(star, "/followers?limit=4"), "next")
		slices.Sort(got)
		if want := textsOf(slices.Concat(fans[:6], fans[16:])); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	t.Run("blocks", func(t *testing.T) {
		got := walk(t, w.as(viewer), "/api/v1/blocks?limit=3", "next")
		slices.Sort(got)
		if want := textsOf(fans[6:16]); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestLinks_PrevFindsNewcomers(t *testing.T) {
	w := newWorld(t)
	star := w.add(false)
	fans := w.people(6)
	follow := func(fans []uint64) {
		for _, f := range fans {
			w.clock.pass(time.Second)
			into[rel](w.as(f).post(at(star, "/follow")))
		}
	}
	follow(fans[:3])
	first := w.anonymous().get(at(star, "/followers"))
	if linkOf(t, first, "next") != "" {
		t.Fatalf("a page that is not full links to the next: %s", first.header.Get("Link"))
	}
	follow(fans[3:])
	prev := strings.TrimPrefix(linkOf(t, first, "prev"), "https://kith.example")
	got := names(into[[]who](w.anonymous().get(prev)))
	want := textsOf(fans[3:])
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	oldest := strings.Replace(prev, "since_id", "min_id", 1)
	oldest = strings.Replace(oldest, "limit=40", "limit=1", 1)
	if got := names(into[[]who](w.anonymous().get(oldest))); !slices.Equal(got, textsOf(fans[3:4])) {
		t.Fatalf("min_id: got %v, want the oldest newcomer", got)
	}
}

func TestLinks_EmptyPageHasNone(t *testing.T) {
	w := newWorld(t)
	star, viewer := w.add(false), w.add(false)
	if a := w.anonymous().get(at(star, "/followers")); a.body != "[]" || a.header.Get("Link") != "" {
		t.Fatalf("got %s with links %q", a.body, a.header.Get("Link"))
	}
	into[rel](w.as(w.add(false)).post(at(star, "/follow")))
	into[rel](w.as(star).post(at(viewer, "/block")))
	if a := w.as(viewer).get(at(star, "/followers")); a.body != "[]" || a.header.Get("Link") != "" {
		t.Fatalf("blocked: got %s with links %q", a.body, a.header.Get("Link"))
	}
}

func TestLimit(t *testing.T) {
	w := newWorld(t)
	star := w.add(false)
	for _, f := range w.people(90) {
		into[rel](w.as(f).post(at(star, "/follow")))
	}
	for query, want := range map[string]int{
		"": 40, "?limit=": 40, "?limit=7": 7, "?limit=-7": 7, "?limit=80": 80, "?limit=81": 80,
		"?limit=99999999999999999999": 80, "?limit=0": 0,
	} {
		if got := into[[]who](w.anonymous().get(at(star, "/followers"+query))); len(got) != want {
			t.Errorf("%q: got %d, want %d", query, len(got), want)
		}
	}
	for _, query := range []string{"limit=x", "limit=1.5", "limit=--1", "limit=+1"} {
		w.anonymous().get(at(star, "/followers?"+query)).refused(http.StatusBadRequest, "limit must be a number")
	}
	for _, name := range []string{"max_id", "since_id", "min_id"} {
		for _, junk := range []string{"1", "x", "1-", "-1", "1-0", "01-1", "1-99999999999999999999", "1-1-1"} {
			w.anonymous().get(at(star, "/followers?"+name+"="+junk)).refused(http.StatusBadRequest, name+" must come from the Link header")
		}
	}
}

func textsOf(ids []uint64) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = text(id)
	}
	slices.Sort(out)
	return out
}
