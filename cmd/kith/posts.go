package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app/home"
	"kith/app/marker"
	"kith/app/post"
	"kith/app/promotion"
	apptask "kith/app/task"
	"kith/config"
	"kith/repo/cache"
	"kith/repo/committer"
	"kith/repo/feed"
	"kith/repo/mark"
	markers "kith/repo/marker"
	postrows "kith/repo/post"
	promoted "kith/repo/promotion"
	"kith/repo/task"
	"kith/repo/timeline"
)

// posts is what makes posts and homes.
type posts struct {
	rows       *postrows.Store
	feeds      *feed.Store
	marks      *mark.Store
	edits      *committer.Committer[*feed.Draft, feed.Row]
	reactions  *committer.Committer[*postrows.Draft, postrows.Post]
	lines      timeline.Lines
	tasks      *apptask.Runner
	config     post.Config // of service
	service    *post.Service
	homes      *home.Service
	markers    *marker.Service
	promotions *promotion.Service
}

// openPosts makes what posts and homes need. A tool carries out its own tasks only: those of
// others may need settings of a server.
func (s *stack) openPosts(c config.Settings, tool bool, log *slog.Logger) (err error) {
	p := &s.posts
	stored := task.New(s.pool)
	p.rows = postrows.New(s.pool, s.cache, time.Now)
	p.feeds = feed.New(s.pool, s.cache, p.rows, stored, time.Now)
	p.marks = mark.New(s.pool, s.cache, stored, time.Now)
	metrics := func(rows string) committer.Config {
		return committer.Config{Metrics: committer.NewMetrics(prometheus.WrapRegistererWith(prometheus.Labels{"rows": rows}, s.registry))}
	}
	p.edits = committer.New(p.feeds, metrics("author_feed"))
	p.reactions = committer.New(p.rows, metrics("post"))
	if p.lines, err = s.openLines(c.Cache); err != nil {
		return err
	}
	p.tasks = apptask.New(apptask.Config{Store: stored, Workers: c.Home.Workers, OwnOnly: tool, Log: log, Registerer: s.registry})
	push := c.Home.PushLimit > 0
	p.config = post.Config{Posts: p.rows, Feeds: p.feeds, Marks: p.marks, Edits: p.edits, Reactions: p.reactions, Tasks: p.tasks,
		Relations: s.rows, Accounts: s.people, Now: time.Now, Push: push, Log: log}
	p.service = post.New(p.config)
	p.homes = home.New(home.Config{Relations: s.rows, Posts: p.rows, Feeds: p.feeds, Lines: p.lines, Warm: timeline.NewStore(s.pool, time.Now, log),
		Now: time.Now, Log: log, Metrics: home.NewMetrics(s.registry), Cap: c.Home.Cap, Window: c.Home.RepostWindow, Push: push, Stale: c.Cache.Expiry, Ahead: s.ahead()})
	p.markers = marker.New(marker.Config{Store: markers.New(s.pool), Homes: p.homes, Now: time.Now})
	p.promotions = promotion.New(promotion.Config{Store: promoted.New(s.pool), Homes: p.homes, Posts: p.service, Accounts: s.accounts, Now: time.Now, Log: log})
	pusher := home.NewPusher(home.PushConfig{Followers: s.rows, Authors: p.feeds, Edits: p.edits, Posts: p.rows, Lines: p.lines, Renew: p.tasks.Renew, Limit: c.Home.PushLimit, Now: time.Now})
	p.tasks.Handle(task.Settle, p.service.SettlePost)
	p.tasks.Handle(task.Favourite, p.service.SettleFavourite)
	p.tasks.Handle(task.Push, pusher.Push)
	p.tasks.Start()
	return nil
}

// at makes the service that decides about posts, with a clock. It pushes nothing.
func (p *posts) at(now func() time.Time) *post.Service {
	c := p.config
	c.Now, c.Push = now, false
	return post.New(c)
}

// openLines opens the hot home timelines, which lie where rows are cached.
func (s *stack) openLines(c config.Cache) (timeline.Lines, error) {
	metrics := timeline.NewMetrics(s.registry)
	var lines timeline.Lines
	var err error
	switch held := s.cache.(type) {
	case *cache.Memcached:
		lines, err = timeline.NewMemcached(timeline.Config{Client: s.servers, Prefix: held.Prefix, Metrics: metrics})
	case *cache.Local:
		lines, err = timeline.NewLocal(timeline.Config{MaxBytes: int64(c.LocalSize), Metrics: metrics})
	default:
		lines = timeline.NewNone()
	}
	if err != nil {
		return nil, fmt.Errorf("make hot timelines: %w", err)
	}
	return lines, nil
}

// ahead asks memcached in one trip for what a home needs of its reader: the relation row, the
// line, the marks, and the feed, once for its entries and once for what the reader reposted.
// It is nil where there is no memcached.
func (s *stack) ahead() func(ctx context.Context, reader uint64) context.Context {
	held, ok := s.cache.(*cache.Memcached)
	lines, also := s.posts.lines.(*timeline.Memcached)
	if !ok || !also {
		return nil
	}
	return func(ctx context.Context, reader uint64) context.Context {
		feed := s.posts.feeds.Key(reader)
		return s.servers.Ahead(ctx, append(held.Names(s.rows.Key(reader), feed, feed, s.posts.marks.Key(reader)), lines.Names(reader)...))
	}
}

// close ends the work on posts, tasks first, since they make edits.
func (p *posts) close(ctx context.Context) error {
	if p.tasks == nil {
		return nil
	}
	p.tasks.Close(ctx)
	p.homes.Close()
	return errors.Join(p.edits.Close(ctx), p.reactions.Close(ctx), p.lines.Close())
}
