package api_test

import (
	"fmt"
	"net/http"
	"strings"

	"kith/repo/list"
)

// deed is a change between two, and what must be so before for it to change
// anything.
type deed struct {
	name   string
	idle   int // what it answers to strangers, where it then changes nothing
	before func(w *costWorld, a, b uint64)
}

var deeds = []deed{
	{"follow", 0, func(w *costWorld, a, b uint64) { w.do(posting(a, b, "unfollow")) }},
	{"unfollow", http.StatusOK, func(w *costWorld, a, b uint64) { w.do(posting(a, b, "follow")) }},
	{"remove_from_followers", http.StatusOK, func(w *costWorld, a, b uint64) { w.do(posting(b, a, "follow")) }},
	{"block", 0, func(w *costWorld, a, b uint64) {
		w.do(posting(a, b, "unblock"))
		w.do(posting(a, b, "follow"))
		w.do(posting(b, a, "follow"))
	}},
	{"unblock", http.StatusOK, func(w *costWorld, a, b uint64) { w.do(posting(a, b, "block")) }},
	{"mute", 0, func(w *costWorld, a, b uint64) { w.do(posting(a, b, "unmute")) }},
	{"unmute", http.StatusOK, func(w *costWorld, a, b uint64) { w.do(posting(a, b, "mute")) }},
	{"note", 0, func(w *costWorld, a, b uint64) { w.do(noting(a, b, "")) }},
	{"authorize", http.StatusNotFound, func(w *costWorld, a, b uint64) { w.ask(a, b) }},
	{"reject", http.StatusNotFound, func(w *costWorld, a, b uint64) { w.ask(a, b) }},
}

func noting(a, b uint64, note string) request {
	q := posting(a, b, "note")
	q.body = "comment=" + note
	return q
}

// ask has b ask to follow a.
func (w *costWorld) ask(a, b uint64) {
	w.do(posting(b, a, "unfollow"))
	w.lock(a, true)
	w.do(posting(b, a, "follow"))
}

func (w *costWorld) lock(id uint64, locked bool) {
	if _, err := w.accounts.SetLocked(w.t.Context(), id, locked); err != nil {
		w.t.Fatal(err)
	}
}

// strangers makes two what they were.
func (w *costWorld) strangers(a, b uint64) {
	for _, p := range [][2]uint64{{a, b}, {b, a}} {
		w.lock(p[0], false)
		for _, what := range []string{"unblock", "unmute", "unfollow", "reject"} {
			w.do(posting(p[0], p[1], what))
		}
		w.do(noting(p[0], p[1], ""))
	}
}

// changes are all requests that change what two are to each other.
func (w *costWorld) changes() map[string][]compared {
	all := map[string][]compared{}
	add := func(what string, c compared) {
		route := "POST " + strings.Replace(posting(0, 7, what).path, "/7/", "/:id/", 1)
		all[route] = append(all[route], c)
	}
	pairs := [][2]uint64{{viewer, star}, {viewer, tied}, {hoarder, star}, {hoarder, tied}, {star, viewer}, {tied, viewer}, {star, hoarder}, {tied, hoarder},
		{star, tied}, {viewer, hoarder}, {small, star}, {star, small}, {hoarder, small}, {small, hoarder}}
	for _, d := range deeds {
		for _, p := range pairs {
			name := fmt.Sprintf("%s to %s", nameOf(p[0]), nameOf(p[1]))
			after := func() {
				w.strangers(p[0], p[1])
				w.strangers(small, other)
			}
			if d.idle != 0 {
				add(d.name, compared{name: name + ", nothing there", status: d.idle, large: always(d.request(p[0], p[1])), small: always(d.request(small, other)), after: after})
			}
			add(d.name, compared{name: name, large: always(w.changing(d, p[0], p[1])), small: always(w.changing(d, small, other)), after: after})
		}
	}
	for _, o := range w.old() {
		add(o.what, compared{name: o.name, large: o.large, small: o.small})
	}
	return all
}

func (d deed) request(a, b uint64) request {
	if d.name == "note" {
		return noting(a, b, "some+words")
	}
	return posting(a, b, d.name)
}

func (w *costWorld) changing(d deed, a, b uint64) request {
	q := d.request(a, b)
	q.before = func() { d.before(w, a, b) }
	return q
}

// oldCase is a change of something that lies in an archive.
type oldCase struct {
	what, name   string
	large, small func(n int) request
}

// old are changes of what is oldest: of the lists of hoarder, by hoarder and by
// those who stand there, and of followers of the stars.
func (w *costWorld) old() (all []oldCase) {
	used := map[list.Section]int{}
	both := func(what string, s list.Section, byOther bool) {
		n0 := used[s] * slot
		used[s]++
		of := func(owner uint64) func(int) request {
			return func(n int) request {
				d, mate := deed{name: what}, crowd(first(owner, s)+n0+n)
				if byOther {
					return d.request(mate, owner)
				}
				return d.request(owner, mate)
			}
		}
		name := fmt.Sprintf("hoarder to old %s", s)
		if byOther {
			name = fmt.Sprintf("old %s to hoarder", s)
		}
		all = append(all, oldCase{what, name, of(hoarder), of(small)})
	}
	for _, o := range []struct {
		s           list.Section
		mine, other []string
	}{
		{list.Friends, []string{"unfollow", "remove_from_followers", "block", "mute", "note"}, []string{"unfollow", "block"}},
		{list.Followers, []string{"follow", "remove_from_followers", "block"}, []string{"unfollow", "block"}},
		{list.Following, []string{"unfollow", "block"}, []string{"follow", "remove_from_followers", "block"}},
		{list.Blocking, []string{"unblock"}, []string{"block"}}, {list.BlockedBy, []string{"block"}, []string{"unblock"}},
		{list.Muting, []string{"unmute", "block"}, nil}, {list.Requests, []string{"authorize", "reject", "block"}, []string{"unfollow", "block"}},
		{list.Requested, []string{"unfollow", "block"}, []string{"authorize", "reject", "block"}},
	} {
		for _, what := range o.mine {
			both(what, o.s, false)
		}
		for _, what := range o.other {
			both(what, o.s, true)
		}
	}
	return append(all, w.oldOfStars()...)
}

// oldOfStars are those with the oldest followers of the stars, and with bigs,
// held against the oldest of the followers of other.
func (w *costWorld) oldOfStars() (all []oldCase) {
	used := 0
	follower := func(what string, of uint64, byOther bool) {
		n0 := used * slot
		used++
		large := func(n int) request {
			if byOther {
				return deed{name: what}.request(crowd(n0+n), of)
			}
			return deed{name: what}.request(of, crowd(n0+n))
		}
		little := func(n int) request {
			mate := crowd(first(other, list.Followers) + n0 + n)
			if byOther {
				return deed{name: what}.request(mate, other)
			}
			return deed{name: what}.request(other, mate)
		}
		name := fmt.Sprintf("%s to old follower", nameOf(of))
		if byOther {
			name = fmt.Sprintf("old follower to %s", nameOf(of))
		}
		all = append(all, oldCase{what, name, large, little})
	}
	for _, of := range []uint64{star, tied} {
		for _, what := range []string{"follow", "remove_from_followers", "block"} {
			follower(what, of, false)
		}
		follower("unfollow", of, true)
		follower("block", of, true)
	}
	between := func(what, name string, large, small [2]func(n int) uint64) {
		all = append(all, oldCase{what, name, func(n int) request { return deed{name: what}.request(large[0](n), large[1](n)) },
			func(n int) request { return deed{name: what}.request(small[0](n), small[1](n)) }})
	}
	is := func(id uint64) func(int) uint64 { return func(int) uint64 { return id } }
	nth := func(from uint64) func(int) uint64 { return func(n int) uint64 { return from + uint64(n) } }
	between("unfollow", "viewer to old big", [2]func(int) uint64{is(viewer), nth(big0)}, [2]func(int) uint64{is(small), nth(little0)})
	between("remove_from_followers", "big to old hoarder", [2]func(int) uint64{nth(big0 + 50), is(hoarder)}, [2]func(int) uint64{nth(little0 + 50), is(small)})
	between("block", "viewer to old big", [2]func(int) uint64{is(viewer), nth(big0 + 70)}, [2]func(int) uint64{is(small), nth(little0 + 70)})
	return all
}
