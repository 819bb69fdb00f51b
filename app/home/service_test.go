package home_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"kith/app/home"
	"kith/app/post"
	"kith/app/post/posttest"
	"kith/app/relation"
	apptask "kith/app/task"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/db"
	"kith/repo/dbtest"
	posts "kith/repo/post"
	"kith/repo/task"
	"kith/repo/timeline"
	"kith/repo/waittest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is homes over the real database.
type world struct {
	*posttest.World
	*home.Service
	t       testing.TB
	pool    *sqlx.DB
	lines   timeline.Lines
	warm    *timeline.Store // nil: none
	metrics *prometheus.Registry
	ahead   func(ctx context.Context, reader uint64) context.Context
}

type config struct {
	cache       cache.Cache
	lines       timeline.Lines
	cap, window int
	noPush      bool
	warm        bool // homes are read from warm rows
	limit       int
	recheck     time.Duration
	tasks       func(*apptask.Runner) post.Runner
	every       time.Duration // see posttest.Config
	maxSpan     int
	atOnce      int
	metrics     *prometheus.Registry // that has those of the cache
}

const patience = 30 * time.Second

func newWorld(t testing.TB, c config) *world {
	t.Helper()
	if c.cache == nil {
		c.cache = cache.NewNone()
	}
	if c.lines == nil {
		c.lines = timeline.NewNone()
	}
	if c.metrics == nil {
		c.metrics = prometheus.NewRegistry()
	}
	pool := dbtest.Open(t, db.Config{DSN: dbtest.DSN(t), MaxOpen: 32, Metrics: db.NewMetrics(c.metrics)})
	w := &world{t: t, World: posttest.New(t, posttest.Config{DB: pool, Cache: c.cache, Push: !c.noPush, Tasks: c.tasks, Every: c.every}), pool: pool, lines: c.lines, metrics: c.metrics}
	var warm home.Warm
	if c.warm {
		w.warm = timeline.NewStore(pool, w.Now, slog.New(slog.DiscardHandler))
		warm = w.warm
	}
	w.Service = home.New(home.Config{AtOnce: c.atOnce, Warm: warm, WarmFrom: 1, Stale: time.Second, Metrics: home.NewMetrics(w.metrics), Relations: w.Rows, Posts: w.Stored, Feeds: w.Feeds, Lines: c.lines, Now: w.Now,
		Cap: c.cap, Window: c.window, Push: !c.noPush, Recheck: c.recheck, MaxSpan: c.maxSpan, Ahead: func(ctx context.Context, reader uint64) context.Context {
			if w.ahead == nil {
				return ctx
			}
			return w.ahead(ctx, reader)
		}})
	t.Cleanup(w.Service.Close)
	edits := committer.New(w.Feeds, committer.Config{})
	t.Cleanup(func() {
		if err := edits.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	limit := c.limit
	if limit == 0 {
		limit = 10_000
	}
	pusher := home.NewPusher(home.PushConfig{Followers: w.Rows, Authors: w.Feeds, Edits: edits, Posts: w.Stored, Lines: c.lines, Limit: limit, Recheck: c.recheck, Now: w.Now})
	if !c.noPush {
		w.Runner.Handle(task.Push, pusher.Push)
		w.Runner.Start()
	}
	return w
}

// cool leaves of what a world with warm rows keeps of a home only the row.
func (w *world) cool(reader uint64) {
	w.t.Helper()
	if w.warm == nil {
		return
	}
	if _, err := w.Checkpoint(w.t.Context(), reader, false); err != nil {
		w.t.Fatal(err)
	}
	w.lines.Drop(w.t.Context(), reader)
}

// from returns how many lines came from a tier.
func (w *world) from(tier string) (n int) {
	w.t.Helper()
	all, err := w.metrics.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.Metric {
			if f.GetName() == "kith_home_lines_total" && m.Label[0].GetValue() == tier {
				n = int(m.Counter.GetValue())
			}
		}
	}
	return n
}

// read returns a home as posts and sources, walked down in pages.
func (w *world) read(reader uint64, limit int) (entries []home.Item) {
	w.t.Helper()
	w.cool(reader)
	r := home.Range{Limit: limit}
	for {
		page, err := w.Home(w.t.Context(), reader, r)
		if err != nil {
			w.t.Fatal(err)
		}
		entries = append(entries, page.Items...)
		if page.Next == 0 {
			return entries
		}
		r.Before = page.Next
	}
}

func ids(items []home.Item) (out []uint64) {
	for _, i := range items {
		out = append(out, i.Event.ID)
	}
	return out
}

func (w *world) want(reader uint64, want ...uint64) {
	w.t.Helper()
	for _, limit := range []int{1, 2, 20} {
		if got := ids(w.read(reader, limit)); !slices.Equal(got, want) {
			w.t.Errorf("home of %d in pages of %d: %v, want %v", reader, limit, got, want)
		}
	}
}

// pushed waits until all posts are pushed.
func (w *world) pushed() { w.pushedWithin(patience) }

func (w *world) pushedWithin(limit time.Duration) {
	w.t.Helper()
	waittest.Until(w.t, limit, "all is pushed", func() bool {
		n, _, err := w.Tasks.Backlog(w.t.Context(), 1000)
		return err == nil && n == 0
	})
}

func (w *world) repost(by, of uint64) uint64 {
	w.t.Helper()
	w.Clock.Add(1)
	v, err := w.Posts.Repost(w.t.Context(), by, of, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return v.Post.ID
}

func local(t *testing.T) timeline.Lines {
	t.Helper()
	l, err := timeline.NewLocal(timeline.Config{MaxBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// What those followed post comes into the home, however it comes there.
func TestService_Home(t *testing.T) {
	for name, c := range map[string]config{
		"cold": {}, "hot": {lines: local(t)}, "no push": {lines: local(t), noPush: true}, "big": {lines: local(t), limit: 1},
		"short": {lines: local(t), cap: 3},
		"warm":  {lines: local(t), warm: true}, "warm, no push": {lines: local(t), warm: true, noPush: true}, "warm and short": {lines: local(t), warm: true, cap: 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c)
			p := w.People(5)
			reader, a, b, stranger, late := p[0], p[1], p[2], p[3], p[4]
			w.Follows(reader, a, b)
			w.Follows(late, a)
			w.want(reader)
			one := w.Post(t, a, "one").ID
			own := w.Post(t, reader, "own").ID
			two := w.Post(t, b, "two").ID
			far := w.Post(t, stranger, "far").ID
			w.pushed()
			w.want(reader, two, own, one)
			again := w.repost(a, two)
			brought := w.repost(b, far)
			more := w.repost(a, far)
			w.pushed()
			w.want(reader, brought, two, own, one)
			top := w.read(reader, 20)[0]
			if len(top.Sources) != 2 || top.Sources[0].ID != more || top.Origin == nil || top.Origin.ID != far {
				t.Errorf("got %+v, want sources %d and %d", top, more, brought)
			}
			if s := w.read(reader, 20)[1].Sources; len(s) != 1 || s[0].ID != again {
				t.Errorf("sources %v, want %d", s, again)
			}
			if _, err := w.Posts.Undo(t.Context(), b, far); err != nil {
				t.Fatal(err)
			}
			w.want(reader, more, two, own, one)
			if _, err := w.Posts.Delete(t.Context(), b, two); err != nil {
				t.Fatal(err)
			}
			w.want(reader, more, own, one)
			w.Follows(reader, late)
			reply := w.Write(t, late, post.Draft{Content: posts.Content{Text: "to a stranger"}, ReplyTo: far}).ID
			plain := w.Post(t, late, "hi").ID
			w.pushed()
			w.want(reader, plain, more, own, one)
			w.Follows(reader, stranger)
			w.want(reader, plain, reply, far, own, one)
			if _, err := w.Unfollow(t.Context(), reader, late); err != nil {
				t.Fatal(err)
			}
			w.want(reader, far, own, one)
			if _, err := w.Block(t.Context(), reader, a); err != nil {
				t.Fatal(err)
			}
			w.want(reader, far, own)
			if n := w.from("warm"); c.warm != (n > 0) {
				t.Errorf("%d lines came from warm rows", n)
			}
		})
	}
}

// Who unfollows and follows again gets what was posted between.
func TestService_Home_FollowedAgain(t *testing.T) {
	w := newWorld(t, config{lines: local(t)})
	who := w.People(2)
	reader, author := who[0], who[1]
	w.Follows(reader, author)
	one := w.Post(t, author, "one").ID
	w.pushed()
	w.want(reader, one)
	if _, err := w.Unfollow(t.Context(), reader, author); err != nil {
		t.Fatal(err)
	}
	two := w.Post(t, author, "two").ID
	w.pushed()
	w.Follows(reader, author)
	w.want(reader, two, one)
}

// However much of what is hidden by option lies between, a walk comes to the end.
func TestService_Home_HiddenReposts(t *testing.T) {
	w := newWorld(t, config{cap: 10, maxSpan: 40})
	p := w.People(5)
	reader, a, quiet, muted, stranger := p[0], p[1], p[2], p[3], p[4]
	w.Follows(reader, a, quiet, muted)
	var of []uint64
	for range 150 {
		of = append(of, w.Post(t, stranger, "reposted").ID)
	}
	one, two := w.Post(t, a, "one").ID, w.Post(t, a, "two").ID
	for _, id := range of {
		w.repost(quiet, id)
		w.repost(muted, id)
	}
	three, four := w.Post(t, a, "three").ID, w.Post(t, a, "four").ID
	no := false
	if _, err := w.Follow(t.Context(), reader, quiet, relation.FollowOptions{Reposts: &no}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Mute(t.Context(), reader, muted, true, 0); err != nil {
		t.Fatal(err)
	}
	w.want(reader, four, three, two, one)
	var up []uint64
	for r := (home.Range{Limit: 3, Oldest: true}); ; {
		page, err := w.Home(t.Context(), reader, r)
		if err != nil {
			t.Fatal(err)
		}
		up = append(ids(page.Items), up...)
		if r.After = page.Next; page.Next == 0 {
			break
		}
	}
	if want := []uint64{four, three, two, one}; !slices.Equal(up, want) {
		t.Errorf("walked up: %v, want %v", up, want)
	}
}

// Somebody who posts and deletes very much does not empty the homes of followers.
func TestService_Home_ManyDeleted(t *testing.T) {
	for name, c := range map[string]config{"line": {lines: local(t)}, "no line": {}, "window of 1": {window: 1}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c)
			p := w.People(3)
			reader, a, loud := p[0], p[1], p[2]
			w.Follows(reader, a, loud)
			one, two := w.Post(t, a, "one").ID, w.Post(t, a, "two").ID
			many(t, w, loud, 2000, w.Now(), time.Millisecond)
			w.Clock.Add(3600)
			if _, err := dbtest.DB(t).Exec(`UPDATE post SET state = ? WHERE bucket = ? AND author_id = ?`, posts.Deleted, repo.Bucket(loud), loud); err != nil {
				t.Fatal(err)
			}
			page, err := w.Home(t.Context(), reader, home.Range{Limit: 20})
			if got := ids(page.Items); err != nil || page.Next != 0 || !slices.Equal(got, []uint64{two, one}) {
				t.Errorf("got %v, next %d, %v, want %d and %d", got, page.Next, err, two, one)
			}
		})
	}
}
