package home_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/app/home"
	"kith/app/home/hometest"
	"kith/repo/post"
)

const accounts = 20

// draw makes any world.
func draw(t *rapid.T) *story {
	window := rapid.IntRange(1, 5).Draw(t, "window")
	w := newStory(home.Rules{
		Window: window,
		Reach:  rapid.IntRange(window, 5*window).Draw(t, "reach"),
		Passed: rapid.SampledFrom([]int{3, 10, 1000, 1000}).Draw(t, "passed"),
	})
	for id := uint64(2); id <= accounts; id++ {
		pair := hometest.Pair{From: reader, To: id}
		switch kind := rapid.IntRange(0, 20).Draw(t, "relation"); {
		case kind == 0:
			w.Blocks[pair] = true
		case kind == 1:
			w.Blocks[hometest.Pair{From: id, To: reader}] = true
		case kind < 15:
			var f hometest.Follow
			f.HideReposts = kind == 2
			if kind == 3 {
				f.Languages = []string{"en"}
			}
			w.Follows[pair] = f
		}
		switch rapid.IntRange(0, 20).Draw(t, "mute") {
		case 0:
			w.Mutes[pair] = time.Time{}
		case 1:
			w.Mutes[pair] = w.Now.Add(time.Second)
		case 2:
			w.Mutes[pair] = w.Now
		}
	}
	for range rapid.IntRange(0, 80).Draw(t, "events") {
		change(t, w)
	}
	return w
}

var anyAccount = rapid.Uint64Range(1, accounts)

// anyPost draws one of the newest posts, mostly, or none.
func anyPost(t *rapid.T, w *story, label string) *post.Post {
	n := len(w.order)
	if n == 0 {
		return nil
	}
	most := min(n, rapid.SampledFrom([]int{5, 15, 100}).Draw(t, "how far back"))
	return w.Posts[w.order[n-1-rapid.IntRange(0, most-1).Draw(t, label)]]
}

// change adds a post or a repost, or undoes or deletes one. It never brings back what was
// not shown.
func change(t *rapid.T, w *story) {
	author, p := anyAccount.Draw(t, "author"), anyPost(t, w, "of")
	kind := rapid.IntRange(0, 19).Draw(t, "kind")
	switch {
	case p == nil || kind < 6:
		w.post(author, func(n *post.Post) {
			n.Visibility = rapid.SampledFrom([]post.Visibility{0, 0, 0, 1, 2, 3}).Draw(t, "visibility")
			n.Language = rapid.SampledFrom([]string{"", "en", "de"}).Draw(t, "language")
			if rapid.IntRange(0, 3).Draw(t, "mentioning") == 0 {
				n.Mentions = rapid.SliceOfN(anyAccount, 1, 2).Draw(t, "mentions")
			}
			if p != nil && rapid.IntRange(0, 3).Draw(t, "replying") == 0 {
				n.ReplyTo, n.ReplyWho = p.ID, p.Author
			}
		})
	case kind < 17:
		if p.Origin != 0 {
			p = w.Posts[p.Origin]
		}
		if p.State == post.Live {
			w.repost(author, p.ID)
		}
	case kind == 17:
		w.set(p.ID, post.Hidden)
	default:
		w.set(p.ID, post.Deleted)
	}
}

// anyTier draws what a tier holds beside the events of the home, and a part of it as span.
func anyTier(t *rapid.T, w *story) *tier {
	noise := rapid.Bool().Draw(t, "noise")
	tier := w.tier(func(uint64) bool { return noise && rapid.Bool().Draw(t, "keep") })
	from := rapid.IntRange(0, len(tier.all)).Draw(t, "from")
	tier.open(from, rapid.IntRange(from, len(tier.all)).Draw(t, "to"))
	return tier
}

func more(t *rapid.T) func() int {
	return func() int { return rapid.SampledFrom([]int{1, 7, 40}).Draw(t, "more") }
}

// A page of any part of any tier is that of the plain program, but for one that ends early
// because it passed too much; then it says where to go on.
func TestRules_Page_Plain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		model := w.Home(reader)
		anyID := func(label string) uint64 {
			i := rapid.IntRange(-1, len(w.order)-1).Draw(t, label)
			if i < 0 {
				return 0
			}
			return w.order[i] + rapid.Uint64Range(0, 1).Draw(t, label+" plus")
		}
		for range 3 {
			tier := anyTier(t, w)
			want := home.Range{
				Before: anyID("before"), After: anyID("after"), Oldest: rapid.Bool().Draw(t, "oldest"),
				Limit: rapid.IntRange(0, 12).Draw(t, "limit"),
			}
			page := tier.page(t, want, more(t))
			exp, got := within(model, want), plain(page.Entries)
			if len(got) < len(exp) && page.Next != 0 && w.rules.Passed <= len(w.order) { // it ended early
				if want.Oldest {
					exp = exp[len(exp)-len(got):]
				} else {
					exp = exp[:len(got)]
				}
			}
			if !same(got, exp) {
				t.Fatalf("%+v\ngot %s\nwant%s\nhome%s", want, names(w, got), names(w, exp), names(w, model))
			}
		}
	})
}

// A walk down, and one up, shows the home of the plain program.
func TestRules_Page_Walk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		model := w.Home(reader)
		for _, oldest := range []bool{false, true} {
			var got []hometest.Entry
			want := home.Range{Oldest: oldest}
			for {
				want.Limit = rapid.IntRange(1, 12).Draw(t, "limit")
				page := anyTier(t, w).page(t, want, more(t))
				if oldest {
					got = append(plain(page.Entries), got...)
					want.After = page.Next
				} else {
					got = append(got, plain(page.Entries)...)
					want.Before = page.Next
				}
				if page.Next == 0 {
					break
				}
			}
			if !same(got, model) {
				t.Fatalf("oldest first: %t\ngot %s\nwant%s", oldest, names(w, got), names(w, model))
			}
		}
	})
}

// What a walk down promises while others post, repost, undo, delete, see the package doc.
func TestRules_Page_WalkWhileChanging(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		throughout := entryIDs(w.Home(reader))
		shown := map[uint64]bool{}        // entries
		twice := map[uint64]bool{}        // posts that stood twice when the walk showed one
		shownPosts := map[uint64]uint64{} // post: the entry that showed it
		want := home.Range{}
		for {
			want.Limit = rapid.IntRange(1, 6).Draw(t, "limit")
			page := anyTier(t, w).page(t, want, more(t))
			model := w.Home(reader)
			for _, e := range plain(page.Entries) {
				if shown[e.ID] {
					t.Fatalf("entry %d is shown again", slices.Index(w.order, e.ID))
				}
				if before, ok := shownPosts[e.Post]; ok && !twice[e.Post] {
					t.Fatalf("post %d is shown by %d and %d", e.Post, before, e.ID)
				}
				shown[e.ID], shownPosts[e.Post] = true, e.ID
				if standsBelow(model, e) {
					twice[e.Post] = true
				}
			}
			if want.Before = page.Next; page.Next == 0 {
				break
			}
			for range rapid.IntRange(0, 5).Draw(t, "changes") {
				change(t, w)
				now := entryIDs(w.Home(reader))
				throughout = slices.DeleteFunc(throughout, func(id uint64) bool { return !slices.Contains(now, id) })
			}
		}
		for _, id := range throughout {
			if !shown[id] {
				t.Fatalf("entry %d was there throughout and is not shown", slices.Index(w.order, id))
			}
		}
	})
}

// standsBelow reports whether a post stands once more in a home, below an entry.
func standsBelow(all []hometest.Entry, e hometest.Entry) bool {
	return slices.ContainsFunc(all, func(o hometest.Entry) bool { return o.Post == e.Post && o.ID < e.ID })
}

func entryIDs(entries []hometest.Entry) []uint64 {
	var out []uint64
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return out
}
