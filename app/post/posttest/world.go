// Package posttest gives tests accounts that follow each other and post: the post service
// on a real database, with a clock that only tests move.
package posttest

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"kith/app/post"
	"kith/app/relation/relationtest"
	apptask "kith/app/task"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/feed"
	"kith/repo/mark"
	posts "kith/repo/post"
	"kith/repo/task"
)

// Config says what a World stands on.
type Config struct {
	// DB is a migrated database.
	DB    *sqlx.DB
	Cache cache.Cache
	// Push has new posts leave tasks of that kind. Who sets it handles them, and starts the
	// Runner.
	Push bool
	// Every is how often the Runner looks for tasks of processes that ended, 50 ms.
	Every time.Duration
	// Tasks changes how tasks are carried out; nil: as usual.
	Tasks func(*apptask.Runner) post.Runner
}

// World is the services and all that they stand on.
type World struct {
	*relationtest.World
	Posts  *post.Service
	Stored *posts.Store
	Feeds  *feed.Store
	Marks  *mark.Store
	Tasks  *task.Store
	Runner *apptask.Runner
}

// New makes a World, which is closed when the test ends.
func New(tb testing.TB, c Config) *World {
	tb.Helper()
	w := &World{World: relationtest.New(tb, relationtest.Config{DB: c.DB, Cache: c.Cache})}
	w.Stored = posts.New(c.DB, c.Cache, w.Now)
	w.Tasks = task.New(c.DB)
	w.Feeds = feed.New(c.DB, c.Cache, w.Stored, w.Tasks, w.Now)
	w.Marks = mark.New(c.DB, c.Cache, w.Tasks, w.Now)
	edits := committer.New(w.Feeds, committer.Config{})
	reactions := committer.New(w.Stored, committer.Config{})
	w.Runner = apptask.New(apptask.Config{Store: w.Tasks, Every: cmp.Or(c.Every, 50*time.Millisecond)})
	var tasks post.Runner = w.Runner
	if c.Tasks != nil {
		tasks = c.Tasks(w.Runner)
	}
	w.Posts = post.New(post.Config{Posts: w.Stored, Feeds: w.Feeds, Marks: w.Marks, Edits: edits, Reactions: reactions, Tasks: tasks,
		Relations: w.Rows, Accounts: w.Accounts, Now: w.Now, Push: c.Push})
	w.Runner.Handle(task.Settle, w.Posts.SettlePost)
	w.Runner.Handle(task.Favourite, w.Posts.SettleFavourite)
	tb.Cleanup(func() {
		w.Runner.Close(context.Background())
		for _, close := range []func(context.Context) error{edits.Close, reactions.Close} {
			if err := close(context.Background()); err != nil {
				tb.Error(err)
			}
		}
	})
	if !c.Push {
		w.Runner.Start()
	}
	return w
}

// Post makes a public post.
func (w *World) Post(tb testing.TB, by uint64, text string) posts.Post {
	tb.Helper()
	return w.Write(tb, by, post.Draft{Content: posts.Content{Text: text}})
}

// Write makes a post, a second after the last change.
func (w *World) Write(tb testing.TB, by uint64, d post.Draft) posts.Post {
	tb.Helper()
	w.Clock.Add(1)
	v, err := w.Posts.Create(tb.Context(), by, d)
	if err != nil {
		tb.Fatal(err)
	}
	return v.Post
}
