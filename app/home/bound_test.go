package home_test

import (
	"slices"
	"sort"
	"testing"

	"kith/app/home"
	"kith/app/home/hometest"
	"kith/repo/event"
	"kith/repo/post"
)

// However many follow and repost, a page takes few rounds, reads few posts, and looks at
// few events around it.
func TestRules_Page_Bounds(t *testing.T) {
	const n, limit = 3000, 20
	rules := home.NewRules(4)
	for _, test := range []struct {
		name string
		do   func(w *story)
	}{
		{"thousands repost the same posts", func(w *story) {
			w.posts(5, a)
			for i := range n {
				w.follow(uint64(1000 + i))
				w.repost(uint64(1000+i), w.order[i%5])
			}
		}},
		{"a post is reposted again and again", func(w *story) {
			w.post(a, nil)
			for i := range n / 4 {
				w.posts(3, b)
				w.follow(uint64(1000 + i))
				w.repost(uint64(1000+i), w.order[0])
			}
		}},
		{"nothing is shown", func(w *story) {
			w.post(a, nil)
			for range n {
				w.reply(a, w.post(stranger, nil))
			}
		}},
		{"one in nine is shown", func(w *story) {
			for i := range n {
				if id := w.post(a, nil); i%9 > 0 {
					w.undo(id)
				}
			}
		}},
		{"reposted and undone again and again", func(w *story) {
			w.post(stranger, nil)
			w.repost(a, w.order[0])
			for range n {
				w.undo(w.repost(b, w.order[0]))
			}
			w.repost(c, w.order[0])
		}},
		{"reposts of what is deleted", func(w *story) {
			w.post(a, nil)
			for i := range n {
				w.follow(uint64(1000 + i))
				w.repost(uint64(1000+i), w.order[0])
			}
			w.undo(w.order[0])
			w.posts(30, b)
		}},
		{"posts, and reposts of what is older than all", func(w *story) {
			w.posts(n, stranger)
			for i := range n {
				w.repost(a, w.order[i])
				w.post(b, nil)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := tableStory()
			w.rules = rules
			w.Window, w.Reach = rules.Window, rules.Reach
			test.do(w)
			for _, oldest := range []bool{false, true} {
				var got []hometest.Entry
				tier := w.tier(func(uint64) bool { return false })
				want, pages := home.Range{Limit: limit, Oldest: oldest}, 0
				for {
					at := len(tier.all)
					if before := max(want.Before, want.After); !oldest || before > 0 {
						at = sort.Search(len(tier.all), func(i int) bool { return before == 0 || tier.all[i].ID <= before })
					}
					tier.open(at, at)
					page := tier.page(t, want, func() int { return rules.Reach / 4 })
					checkBounds(t, tier, limit)
					pages++
					if got = append(got, plain(page.Entries)...); page.Next == 0 {
						break
					}
					if oldest {
						want.After = page.Next
					} else {
						want.Before = page.Next
					}
				}
				if oldest {
					slices.SortFunc(got, func(x, y hometest.Entry) int { return int(y.ID>>10) - int(x.ID>>10) })
				}
				if model := w.Home(reader); !same(got, model) {
					t.Errorf("oldest first %t: %d entries in %d pages, want %d", oldest, len(got), pages, len(model))
				}
				if most := len(tier.all)/rules.Passed + len(got)/limit + 2; pages > most {
					t.Errorf("%d pages, want %d at most", pages, most)
				}
			}
		})
	}
}

func checkBounds(t *testing.T, tier *tier, limit int) {
	t.Helper()
	w, r := tier.w, tier.w.rules
	if most := limit*5/4 + 2*r.Passed + 3*r.Reach; w.judged > most {
		t.Fatalf("%d posts were read, want %d at most", w.judged, most)
	}
	if most := limit + r.Passed + 3*r.Reach + r.Reach/2; len(tier.span.Events) > most {
		t.Fatalf("a span of %d events was needed, want %d at most", len(tier.span.Events), most)
	}
	if most := 20 + len(tier.span.Events)/(r.Reach/4); w.rounds > most {
		t.Fatalf("%d rounds, want %d at most", w.rounds, most)
	}
}

// A page where all is shown and near rests on its own events only. One more round is taken
// where one in four is not shown, and few where nearly nothing is.
func TestRules_Page_Rounds(t *testing.T) {
	for _, test := range []struct {
		name           string
		hide           func(i int) bool
		rounds, judged int // at most
	}{
		{"all shown", func(int) bool { return false }, 1, 25},
		{"one in six is not", func(i int) bool { return i%6 == 2 }, 1, 25},
		{"every second is not", func(i int) bool { return i%2 == 0 }, 2, 50},
		{"a thousand in the way", func(i int) bool { return i > 9000 }, 10, 2000},
		{"nothing is", func(int) bool { return true }, 14, 13_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := tableStory()
			w.rules = home.NewRules(80)
			w.Window, w.Reach = w.rules.Window, w.rules.Reach
			w.posts(2000, stranger)
			for i := range 10_000 {
				var id uint64
				if i%5 == 0 {
					id = w.repost(b, w.order[i/5]) // nothing else brings it
				} else {
					id = w.post(a, nil)
				}
				if test.hide(i) {
					w.undo(id)
				}
			}
			tier := w.tier(func(uint64) bool { return false })
			tier.open(0, len(tier.all)-1) // and what is below does not matter
			tier.page(t, home.Range{Limit: 20}, nil)
			if w.rounds > test.rounds || w.judged > test.judged {
				t.Errorf("%d rounds and %d posts, want %d and %d at most", w.rounds, w.judged, test.rounds, test.judged)
			}
		})
	}
}

// A post was reposted and undone hundreds of times below the page: the last occurrence that
// is shown is found in few rounds.
func TestRules_Page_RoundsUndone(t *testing.T) {
	w := tableStory()
	w.rules = home.NewRules(80)
	w.repost(a, w.post(stranger, nil))
	for range 700 {
		w.undo(w.repost(b, w.order[0]))
	}
	w.posts(20, a)
	w.repost(c, w.order[0])
	tier := w.tier(func(uint64) bool { return false })
	tier.open(0, len(tier.all))
	page := tier.page(t, home.Range{Limit: 3}, nil)
	if got := names(w, plain(page.Entries)); got != " 721:721 720:720 719:719" || w.rounds > 12 || w.judged < 700 {
		t.Errorf("got%s in %d rounds with %d posts", got, w.rounds, w.judged)
	}
}

// A page does not change its span, and events that are none of the home may have any
// verdict.
func TestRules_Page_Edges(t *testing.T) {
	r := home.NewRules(4)
	for _, s := range []home.Span{
		{Top: true, Bottom: true},
		{Top: true, Bottom: true, Events: []event.Event{{ID: 5 << 22, Author: a}}, Verdicts: []home.Verdict{home.Gone}},
		{Top: true, Bottom: true, Events: []event.Event{{ID: 5 << 22, Author: a}}, Verdicts: []home.Verdict{home.Hidden}},
	} {
		for _, oldest := range []bool{false, true} {
			page, need := r.Page(&s, home.Range{Limit: 5, Oldest: oldest})
			if need.Any() || len(page.Entries) > 0 || page.Next != 0 {
				t.Errorf("%+v of %+v, needs %+v", page, s, need)
			}
		}
		s.Top, s.Bottom = false, false
		if _, need := r.Page(&s, home.Range{Limit: 5}); !need.Up || !need.Down {
			t.Errorf("needs %+v of an open span", need)
		}
	}
	w := tableStory()
	w.set(w.post(a, nil), post.Hidden)
	if got := w.all(t); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}
