package post_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/post"
	"kith/repo"
	"kith/repo/db"
	"kith/repo/dbtest"
	"kith/repo/event"
	posts "kith/repo/post"
)

// plant writes n posts of an author, a millisecond each, without what posting brings, and has its feed made anew.
func (w *world) plant(author uint64, n int, like posts.Post) (ids []uint64) {
	w.t.Helper()
	all := make([]*posts.Post, n)
	last, err := w.Feeds.Row(w.t.Context(), author)
	if err != nil {
		w.t.Fatal(err)
	}
	above := last.LastID
	for i := range all {
		p := like
		above = event.Next(author, above, w.Now().Add(time.Duration(i)*time.Millisecond), uint64(i))
		p.ID, p.Ver, p.Author = above, repo.Step(), author
		all[i] = &p
		ids = append(ids, p.ID)
	}
	pool := dbtest.Open(w.t, db.Config{DSN: dbtest.DSN(w.t)})
	err = db.WithTx(w.t.Context(), pool, func(tx *sqlx.Tx) error { return w.Stored.Insert(w.t.Context(), tx, all) })
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Feeds.Examine(w.t.Context(), author, true); err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// walk goes through a list as a client follows links, and returns what it shows and how many
// pages it took.
func walk(t *testing.T, r repo.IDRange, page func(repo.IDRange) (post.Page, error)) (got []uint64, pages int) {
	t.Helper()
	for {
		p, err := page(r)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		if r.Oldest {
			got, r.After = append(ids(p.Views), got...), p.First
		} else {
			got, r.Before = append(got, ids(p.Views)...), p.Last
		}
		if !p.Full {
			return got, pages
		}
		if pages > 20 {
			t.Fatalf("the walk does not end: %v", p.Place)
		}
	}
}

// A page of an account goes on past very many posts that are not wanted or not seen, and a
// walk finds all that are, in both directions.
func TestService_Of_Deep(t *testing.T) {
	w := newWorld(t)
	p := w.People(3)
	author, fan := p[0], p[1]
	w.Follows(fan, author)
	old := w.Post(t, author, "old #gem")
	reply := posts.Post{ReplyTo: old.ID, ReplyWho: p[2], Content: posts.Content{Text: "re"}}
	w.plant(author, 6000, reply)
	w.Clock.Add(10)
	private := w.plant(author, 100, posts.Post{Visibility: posts.Followers, Content: posts.Content{Text: "for some"}})
	w.Clock.Add(10)
	deleted := posts.Post{State: posts.Deleted}
	w.plant(author, 2000, deleted)
	w.Clock.Add(10)
	direct := posts.Post{Visibility: posts.Direct, Content: posts.Content{Text: "for none"}}
	w.plant(author, 3000, direct)
	slices.Reverse(private)
	for name, c := range map[string]struct {
		viewer uint64
		f      post.Filter
		want   []uint64
	}{
		"anybody": {0, post.Filter{NoReplies: true}, []uint64{old.ID}},
		"tagged":  {0, post.Filter{NoReplies: true, Tag: "GEM"}, []uint64{old.ID}},
		"media":   {fan, post.Filter{OnlyMedia: true}, nil},
		"fan":     {fan, post.Filter{NoReplies: true}, append(slices.Clone(private), old.ID)},
	} {
		for _, oldest := range []bool{false, true} {
			got, pages := walk(t, repo.IDRange{Limit: 40, Oldest: oldest}, func(r repo.IDRange) (post.Page, error) { return w.Posts.Of(t.Context(), c.viewer, author, c.f, r) })
			if most := 1 + len(c.want)/40; !slices.Equal(got, c.want) || pages > most {
				t.Errorf("%s, oldest %t: %d posts in %d pages, want %d in %d at most", name, oldest, len(got), pages, len(c.want), most)
			}
		}
	}
}

// A page that ends early goes on where it ended, and names no post that is not seen.
func TestService_Of_Early(t *testing.T) {
	w := newWorld(t)
	author := w.People(1)[0]
	low := w.Post(t, author, "low")
	w.Clock.Add(5)
	hidden := w.plant(author, 25_000, posts.Post{Visibility: posts.Direct, Content: posts.Content{Text: "x"}})
	w.Clock.Add(60)
	high := w.Post(t, author, "high")
	for _, oldest := range []bool{false, true} {
		r := repo.IDRange{Limit: 20, Oldest: oldest}
		first, err := w.Posts.Of(t.Context(), 0, author, post.Filter{}, r)
		want := high.ID
		cursor := first.Last
		if oldest {
			want, cursor = low.ID, first.First
		}
		if err != nil || !slices.Equal(ids(first.Views), []uint64{want}) || !first.Full || slices.Contains(hidden, cursor) {
			t.Errorf("oldest %t: %v, %+v, %v; want %d and a cursor of none of the posts", oldest, ids(first.Views), first.Place, err, want)
		}
		got, pages := walk(t, r, func(r repo.IDRange) (post.Page, error) { return w.Posts.Of(t.Context(), 0, author, post.Filter{}, r) })
		if !slices.Equal(got, []uint64{high.ID, low.ID}) || pages != 2 {
			t.Errorf("oldest %t: %v in %d pages", oldest, got, pages)
		}
	}
}
