package post_test

import (
	"slices"
	"testing"

	"kith/app/post"
	posts "kith/repo/post"
)

// answer plants n replies to a post, with what settling them brings.
func (w *world) answer(to posts.Post, by uint64, n int, v posts.Visibility) []uint64 {
	w.t.Helper()
	made := w.plant(by, n, posts.Post{ReplyTo: to.ID, ReplyWho: to.Author, Visibility: v, Content: posts.Content{Text: "re"}})
	for part := range slices.Chunk(made, 300) {
		if err := w.Posts.SettleAll(w.t.Context(), part); err != nil {
			w.t.Fatal(err)
		}
	}
	return made
}

// thread returns the ids of a conversation.
func (w *world) thread(viewer, id uint64) (up, down []uint64) {
	w.t.Helper()
	above, below, err := w.Posts.Thread(w.t.Context(), viewer, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return ids(above), ids(below)
}

// Replies that somebody does not see take no room from those that it sees.
func TestService_Thread_Crowded(t *testing.T) {
	w := newWorld(t)
	p := w.People(6)
	owner, attacker, honest, friend, viewer, loud := p[0], p[1], p[2], p[3], p[4], p[5]
	w.Follows(viewer, friend)
	if _, err := w.Block(t.Context(), viewer, loud); err != nil {
		t.Fatal(err)
	}
	root := w.Post(t, owner, "root")
	w.Clock.Add(1)
	w.answer(root, attacker, 900, posts.Direct)
	loudly := w.answer(root, loud, 450, posts.Public)
	w.Clock.Add(10)
	private := w.Write(t, friend, post.Draft{Content: posts.Content{Text: "for friends"}, ReplyTo: root.ID, Visibility: posts.Followers})
	public := w.Write(t, honest, post.Draft{Content: posts.Content{Text: "honest"}, ReplyTo: root.ID})
	w.wantCounts(root.ID, posts.Counts{Replies: 451})
	for name, c := range map[string]struct {
		viewer uint64
		want   []uint64
	}{
		"anybody":  {0, loudly[:60]},
		"owner":    {owner, append(slices.Clone(loudly), public.ID)},
		"viewer":   {viewer, []uint64{private.ID, public.ID}},
		"friend":   {friend, append(slices.Clone(loudly), private.ID, public.ID)},
		"stranger": {honest, append(slices.Clone(loudly), public.ID)},
	} {
		if _, got := w.thread(c.viewer, root.ID); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d replies, want %d", name, len(got), len(c.want))
		}
	}
	if _, err := w.Posts.Moderate(t.Context(), loudly[0], posts.Hidden); err != nil {
		t.Fatal(err)
	}
	if _, got := w.thread(0, root.ID); !slices.Equal(got, loudly[1:61]) {
		t.Errorf("after one is hidden anybody sees %d, want the next 60", len(got))
	}
	for range 2 { // counted once, and no more after it is deleted
		if _, err := w.Posts.Delete(t.Context(), friend, private.ID); err == nil {
			w.wantCounts(root.ID, posts.Counts{Replies: 451})
		}
	}
	if _, err := w.Posts.Delete(t.Context(), honest, public.ID); err != nil {
		t.Fatal(err)
	}
	w.wantCounts(root.ID, posts.Counts{Replies: 450})
	if said, is, err := w.Stored.Recount(t.Context(), root.ID, false); err != nil || said != is {
		t.Errorf("counts %+v, recounted %+v, %v", said, is, err)
	}
}

// A conversation is shown whole to who is signed in, and to anybody as far as the nearest.
func TestService_Thread_Deep(t *testing.T) {
	w := newWorld(t)
	p := w.People(2)
	chain := []posts.Post{w.Post(t, p[0], "0")}
	var open []uint64
	for i := range 120 {
		v := posts.Public
		if i >= 30 && i < 90 {
			v = posts.Direct
		}
		chain = append(chain, w.Write(t, p[0], post.Draft{Content: posts.Content{Text: "next"}, ReplyTo: chain[i].ID, Visibility: v}))
	}
	var all []uint64
	for _, c := range chain {
		all = append(all, c.ID)
		if c.Visibility == posts.Public {
			open = append(open, c.ID)
		}
	}
	last, n := all[len(all)-1], len(all)-1
	if up, _ := w.thread(p[0], last); !slices.Equal(up, all[:n]) {
		t.Errorf("%d above, want %d", len(up), n)
	}
	if _, down := w.thread(p[0], all[0]); !slices.Equal(down, all[1:]) {
		t.Errorf("%d below, want %d", len(down), n)
	}
	if up, _ := w.thread(0, last); !slices.Equal(up, open[len(open)-41:len(open)-1]) {
		t.Errorf("anybody sees %d above, want the nearest 40", len(up))
	}
	if _, down := w.thread(0, all[0]); !slices.Equal(down, all[1:21]) {
		t.Errorf("anybody sees %d below, want 20", len(down))
	}
}

// What is for those mentioned is not counted where others see the number.
func TestService_Counts_Direct(t *testing.T) {
	w := newWorld(t)
	a := w.People(1)[0]
	first := w.Post(t, a, "first")
	w.wantStatuses(a, 1)
	direct := w.Write(t, a, post.Draft{Content: posts.Content{Text: "hidden"}, Visibility: posts.Direct})
	second := w.Write(t, a, post.Draft{Content: posts.Content{Text: "for followers"}, Visibility: posts.Followers})
	w.Write(t, a, post.Draft{Content: posts.Content{Text: "hidden"}, Visibility: posts.Direct})
	want := func(statuses uint32, last posts.Post) {
		t.Helper()
		c, err := w.Posts.Counts(t.Context(), []uint64{a})
		if err != nil || c[0] != (post.Counts{Statuses: statuses, Last: last.Time().UnixMilli()}) {
			t.Errorf("%+v, %v; want %d and %v", c, err, statuses, last.Time())
		}
		if wrong, err := w.Feeds.Examine(t.Context(), a, false); err != nil || len(wrong) > 0 {
			t.Errorf("%v, %v", wrong, err)
		}
	}
	want(2, second)
	must[post.View](t)(w.Posts.Delete(t.Context(), a, direct.ID))
	want(2, second)
	must[post.View](t)(w.Posts.Delete(t.Context(), a, second.ID))
	want(1, first)
}
