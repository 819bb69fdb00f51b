package sql_test

import (
	"log/slog"
	"testing"
	"time"

	"kith/app/audit"
	"kith/app/home"
	"kith/app/post"
	"kith/app/post/posttest"
	"kith/cron"
	"kith/repo/cache"
	"kith/repo/feed"
	"kith/repo/job"
	"kith/repo/lease"
	"kith/repo/marker"
	posts "kith/repo/post"
	"kith/repo/postcheck"
	"kith/repo/seen"
	"kith/repo/task"
	"kith/repo/timeline"
)

// posts is what people do with posts.
func (s *service) posts(t *testing.T) {
	ctx, w := t.Context(), posttest.New(t, posttest.Config{DB: s.pool, Cache: cache.NewNone()})
	people := w.People(2)
	a, b := people[0], people[1]
	keyed := post.Draft{Content: posts.Content{Text: "one"}, Key: "a key"}
	first := w.Write(t, a, keyed)
	if again := w.Write(t, a, keyed); again.ID != first.ID {
		t.Errorf("a key made two posts, %d and %d", first.ID, again.ID)
	}
	reply := w.Write(t, b, post.Draft{Content: posts.Content{Text: "two"}, ReplyTo: first.ID})
	for range 2 {
		_, err := w.Posts.Repost(ctx, b, first.ID, posts.Public)
		must(t, "repost", err)
		_, err = w.Posts.Undo(ctx, b, first.ID)
		must(t, "undo a repost", err)
	}
	for _, yes := range []bool{true, false, true} {
		_, err := w.Posts.Favour(ctx, b, first.ID, yes)
		must(t, "favour", err)
		_, err = w.Posts.Bookmark(ctx, b, first.ID, yes)
		must(t, "bookmark", err)
		_, err = w.Posts.Pin(ctx, a, first.ID, yes)
		must(t, "pin", err)
	}
	must(t, "hide", w.Posts.SetState(ctx, a, first.ID, posts.Hidden))
	_, err := w.Posts.Delete(ctx, b, reply.ID)
	must(t, "delete", err)
	_, err = w.Tasks.Claim(ctx, 10)
	must(t, "claim tasks", err)
	_, _, err = w.Tasks.Backlog(ctx, 10)
	must(t, "count tasks", err)
	homes := timeline.NewStore(s.pool, now, slog.New(slog.DiscardHandler))
	for i := range 2 {
		saved, err := homes.Save(ctx, a, timeline.Line{BuiltAt: now().Add(time.Duration(i) * time.Second)})
		if err != nil || !saved {
			t.Fatalf("save a warm timeline: %v, %v", saved, err)
		}
	}
	_, err = homes.Row(ctx, a)
	must(t, "read a warm timeline", err)
	must(t, "drop a warm timeline", homes.Drop(ctx, b))
	positions, read := marker.New(s.pool), []marker.Marker{{Timeline: marker.Home, LastRead: 1, UpdatedAt: start}}
	for range 2 {
		read, err = positions.Swap(ctx, a, read)
		must(t, "keep a read position", err)
	}
}

// mendsPosts is what an audit repairs of posts: of a new one, an answer and a repost of it
// all that stands elsewhere is lost, and a mark and a favourite are too much.
func (g *guarded) mendsPosts(t *testing.T, s *service) {
	ctx := t.Context()
	w := posttest.New(t, posttest.Config{DB: g.root, Cache: cache.NewNone()})
	people := w.People(2)
	a, b := people[0], people[1]
	first := w.Post(t, a, "one")
	w.Write(t, b, post.Draft{Content: posts.Content{Text: "two"}, ReplyTo: first.ID})
	_, err := w.Posts.Repost(ctx, b, first.ID, posts.Public)
	must(t, "repost", err)
	_, err = w.Posts.Favour(ctx, b, first.ID, true)
	must(t, "favour", err)
	j := posttest.New(t, posttest.Config{DB: s.pool, Cache: cache.NewNone()})
	w.Runner.Close(ctx)
	j.Runner.Close(ctx)
	for _, statement := range []string{`DELETE FROM reply`, `DELETE FROM reaction`, `DELETE FROM mark WHERE kind = 2`, `DELETE FROM author_feed`, `DELETE FROM mark_head`,
		`INSERT INTO reply (bucket, post_id, reply_id, owner_id, author_id) VALUES (1, 1, 1, 1, 1)`,
		`INSERT INTO reaction (bucket, post_id, kind, account_id, id) VALUES (1, 1, 1, 1, 1)`,
		`INSERT INTO mark (bucket, account_id, kind, post_id, id) VALUES (1, 1, 2, 1, 1)`,
		`INSERT INTO task (bucket, id, kind, account_id, post_id, made_at, claimed_until, holder) VALUES (1, 1, 1, 1, 1, 1, 1, '')`,
		`INSERT INTO timeline (bucket, account_id, ver, list, pulled, floor_id, follows, covered_until, updated_at) VALUES (1, 1, 1, 'bad', '', 0, 0, 1, 1)`} {
		_, err := g.root.ExecContext(ctx, statement)
		must(t, statement, err)
	}
	cfg := audit.Config{Rows: j.Rows, Relations: j.Service, Now: now, Repair: true, Report: func(f audit.Fault) {
		if f.Err != nil {
			t.Error(f)
		}
	}, Posts: &audit.Posts{Rows: postcheck.New(s.pool), Posts: j.Stored, Feeds: j.Feeds, Marks: j.Marks, Tasks: j.Tasks, Service: j.Posts,
		Timelines: timeline.NewStore(s.pool, now, slog.New(slog.DiscardHandler))}}
	for _, want := range []map[audit.Kind]int64{{audit.Feed: 1, audit.Reaction: 5, audit.Mark: 3, audit.Task: 1, audit.Timeline: 1, audit.Post: 1}, {}} {
		sum, err := audit.Run(ctx, cfg)
		must(t, "audit", err)
		for k, n := range want {
			if sum.Faults[k] < n || sum.Remain() != 0 {
				t.Errorf("the audit found %v, repaired %d; want %d of %s or more, and all repaired", sum.Faults, sum.Repaired, n, k)
			}
		}
		if len(want) == 0 && sum.Found != 0 {
			t.Errorf("a second audit found %v", sum.Faults)
		}
	}
}

// expires drops what the posts left.
func (s *service) expires(t *testing.T) {
	ctx := t.Context()
	expire := cron.Expire(cron.ExpireConfig{Rows: s.rows, Relations: s.Service, Keys: feed.NewKeys(s.pool), Tasks: task.New(s.pool), Markers: marker.New(s.pool), Seen: seen.New(s.pool), Now: time.Now,
		Timelines: timeline.NewStore(s.pool, now, slog.New(slog.DiscardHandler)), Requests: time.Hour, Gone: time.Hour})
	runner := cron.NewRunner(cron.RunnerConfig{Leases: lease.New(lease.Config{DB: s.pool, Process: "here:2"}), Runs: job.New(s.pool)})
	run, err := runner.Run(ctx, expire, cron.Options{})
	must(t, "expire", err)
	if run.Done != 3 {
		t.Errorf("the job expire did %+v, want a key, a home and a read position dropped", run)
	}
	s.checkpoints(t, runner)
}

// checkpoints saves a home.
func (s *service) checkpoints(t *testing.T, runner *cron.Runner) {
	ctx := t.Context()
	lines, err := timeline.NewLocal(timeline.Config{MaxBytes: 1 << 20})
	must(t, "make hot lines", err)
	defer lines.Close()
	_, err = lines.Store(ctx, lines.Begin(ctx, 101), timeline.Line{BuiltAt: now()})
	must(t, "store a line", err)
	homes := home.New(home.Config{Lines: lines, Warm: timeline.NewStore(s.pool, now, slog.New(slog.DiscardHandler)), Now: now})
	run, err := runner.Run(ctx, cron.Checkpoint(cron.CheckpointConfig{Homes: homes, Seen: seen.New(s.pool), Now: now}), cron.Options{Account: 101})
	must(t, "checkpoint", err)
	if run.Done != 1 {
		t.Errorf("the job checkpoint did %+v, want a home saved", run)
	}
}
