package post_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"kith/app/post"
	"kith/repo"
	"kith/repo/committer"
	"kith/repo/feed"
	posts "kith/repo/post"
	"kith/repo/waittest"
)

// partly is a store of feeds on an engine that shards, when one shard fails: of a commit of
// two rows it stores one, and answers err, or that the swap was lost. It has one committer.
type partly struct {
	*feed.Store
	only uint64 // the row that is stored
	err  error
	done bool          // it has failed
	held chan struct{} // tells that a commit is held up
	gate chan struct{} // until this is closed, so that edits wait and become one commit
}

func (p *partly) Load(ctx context.Context, ids []uint64, fresh bool) (map[uint64]*feed.Draft, error) {
	select {
	case p.held <- struct{}{}:
	default:
	}
	<-p.gate
	return p.Store.Load(ctx, ids, fresh)
}

// part returns what is stored of rows, and whether that is not all.
func (p *partly) part(rows []feed.Row) ([]feed.Row, bool) {
	if len(rows) != 2 || p.done {
		return rows, false
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r feed.Row) bool { return r.ID != p.only }), true
}

func (p *partly) answer(won, fails bool, err error) (bool, error) {
	if p.done = p.done || fails; fails && err == nil {
		return false, p.err
	}
	return won, err
}

func (p *partly) Swap(ctx context.Context, rows []feed.Row) (bool, error) {
	rows, fails := p.part(rows)
	won, err := p.Store.Swap(ctx, rows)
	return p.answer(won, fails, err)
}

func (p *partly) Locked(ctx context.Context, ids []uint64, loaded map[uint64]*feed.Draft, edit func(map[uint64]*feed.Draft) ([]feed.Row, error)) (bool, error) {
	var fails bool
	won, err := p.Store.Locked(ctx, ids, loaded, func(drafts map[uint64]*feed.Draft) (rows []feed.Row, err error) {
		rows, err = edit(drafts)
		rows, fails = p.part(rows)
		return rows, err
	})
	return p.answer(won, fails, err)
}

// TestService_Partly has commits of two authors, of two buckets, fail when they are stored
// for one of them. Nothing is done twice, refused though it was done, or left undone.
func TestService_Partly(t *testing.T) {
	for name, err := range map[string]error{"Lost": nil, "Other": &mysql.MySQLError{Number: 1105, Message: "a shard said no"}} {
		for only := range 2 {
			t.Run(fmt.Sprintf("%s%d", name, only), func(t *testing.T) { newPartlyWorld(t, err, only).test() })
		}
	}
}

type partlyWorld struct {
	*world
	store   *partly
	posts   *post.Service
	authors []uint64
	third   uint64
	waiting *prometheus.Registry
}

func newPartlyWorld(t *testing.T, err error, only int) *partlyWorld {
	w := &partlyWorld{world: newWorld(t), waiting: prometheus.NewRegistry()}
	people := w.People(3)
	w.authors, w.third = people[:2], people[2]
	if repo.Bucket(w.authors[0]) == repo.Bucket(w.authors[1]) {
		t.Fatal("the authors are of one bucket")
	}
	w.store = &partly{Store: w.Feeds, only: w.authors[only], err: err}
	edits := committer.New(w.store, committer.Config{Workers: 1, Metrics: committer.NewMetrics(w.waiting)})
	reactions := committer.New(w.Stored, committer.Config{})
	t.Cleanup(func() {
		edits.Close(context.Background())
		reactions.Close(context.Background())
	})
	w.posts = post.New(post.Config{Posts: w.Stored, Feeds: w.Feeds, Marks: w.Marks, Edits: edits, Reactions: reactions, Tasks: w.Runner, Relations: w.Rows, Accounts: w.Accounts, Now: w.Now})
	return w
}

// together has both authors do something in one commit, which fails, and returns the posts
// that they are answered.
func (w *partlyWorld) together(do func(ctx context.Context, author int) (post.View, error)) (ids [2]uint64) {
	w.t.Helper()
	w.store.held, w.store.gate, w.store.done = make(chan struct{}, 1), make(chan struct{}), false
	answers := make(chan error, 3)
	ctx := context.Background() // a test that fails may leave it behind
	go func() {
		_, err := w.posts.Create(ctx, w.third, post.Draft{Content: posts.Content{Text: "takes the worker"}})
		answers <- err
	}()
	<-w.store.held
	for i := range w.authors {
		go func() {
			v, err := do(ctx, i)
			ids[i] = v.Post.ID
			answers <- err
		}()
	}
	waittest.Until(w.t, patience, "both wait", func() bool { return w.gauge(2) })
	close(w.store.gate)
	for range 3 {
		if err := <-answers; err != nil {
			w.t.Errorf("got %v, want that it is done", err)
		}
	}
	if !w.store.done {
		w.t.Fatal("no commit was of both authors")
	}
	return ids
}

// gauge reports whether so many edits wait.
func (w *partlyWorld) gauge(n int) bool {
	want := fmt.Sprintf("# HELP kith_edits_waiting Edits that wait for a commit.\n# TYPE kith_edits_waiting gauge\nkith_edits_waiting %d\n", n)
	return testutil.GatherAndCompare(w.waiting, strings.NewReader(want), "kith_edits_waiting") == nil
}

func (w *partlyWorld) test() {
	t, root := w.t, w.Post(w.t, w.third, "root").ID
	for _, key := range []string{"", "a key"} {
		made := w.together(func(ctx context.Context, i int) (post.View, error) {
			return w.posts.Create(ctx, w.authors[i], post.Draft{Content: posts.Content{Text: "once"}, ReplyTo: root, Key: key})
		})
		for i, by := range w.authors {
			w.wantPage(by, by, post.Filter{}, made[i])
		}
		w.wantCounts(root, posts.Counts{Replies: 2})
		if key != "" {
			again := must[post.View](t)(w.posts.Create(t.Context(), w.authors[0], post.Draft{Content: posts.Content{Text: "once"}, ReplyTo: root, Key: key}))
			if again.Post.ID != made[0] {
				t.Errorf("the key has post %d, want %d", again.Post.ID, made[0])
			}
		}
		w.together(func(ctx context.Context, i int) (post.View, error) { return w.posts.Delete(ctx, w.authors[i], made[i]) })
		w.wantCounts(root, posts.Counts{})
	}
	w.together(func(ctx context.Context, i int) (post.View, error) { return w.posts.Repost(ctx, w.authors[i], root, 0) })
	w.wantCounts(root, posts.Counts{Reposts: 2})
	w.together(func(ctx context.Context, i int) (post.View, error) { return w.posts.Undo(ctx, w.authors[i], root) })
	w.wantCounts(root, posts.Counts{})
	for _, by := range w.authors {
		w.wantStatuses(by, 0)
		if wrong, err := w.Feeds.Examine(t.Context(), by, false); err != nil || len(wrong) > 0 {
			t.Errorf("the feed of %d: %v, %v", by, wrong, err)
		}
	}
	w.settled(0)
}
