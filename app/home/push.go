package home

import (
	"context"
	"fmt"
	"time"

	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/relation"
	"kith/repo/task"
	"kith/repo/timeline"
)

// Followers reads who follows an account.
type Followers interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	EachFollowers(ctx context.Context, row relation.Row, fn func(ids []uint64) error) error
}

// Authors reads and edits author feeds.
type Authors interface {
	Row(ctx context.Context, id uint64) (feed.Row, error)
	Fresh(ctx context.Context, ids []uint64) (map[uint64]feed.Row, error)
	Put(ctx context.Context, rows []feed.Row)
}

// FeedCommitter carries out edits of author feeds.
type FeedCommitter interface {
	Do(ctx context.Context, ids []uint64, apply func(feeds map[uint64]*feed.Draft) error) error
}

// PushConfig is what a Pusher works with.
type PushConfig struct {
	Followers Followers
	Authors   Authors
	Edits     FeedCommitter
	Posts     Posts
	Lines     timeline.Lines
	// Renew keeps others from taking over a task that takes long; nil: nobody would.
	Renew func(ctx context.Context, t task.Task) error
	// Limit is up to how many followers an author may have to be pushed.
	Limit   int
	Recheck time.Duration // as of Config
	Now     func() time.Time
}

// Pusher pushes new events to the lines of those followers who are around.
type Pusher struct{ cfg PushConfig }

// NewPusher makes a Pusher.
func NewPusher(cfg PushConfig) *Pusher {
	if cfg.Recheck == 0 {
		cfg.Recheck = DefaultRecheck
	}
	return &Pusher{cfg}
}

// Push carries out a task. It may run twice for an event: a line has each event once. One
// whose post is deleted by now has happened, and comes into lines as into feeds.
func (p *Pusher) Push(ctx context.Context, t task.Task) error {
	posts, err := p.cfg.Posts.Rows(ctx, []uint64{t.Post})
	if err != nil || posts[0].Ver == 0 {
		return err
	}
	row, err := p.author(ctx, t)
	if err != nil {
		return err
	}
	people, err := p.cfg.Followers.Row(ctx, t.Account)
	if err != nil {
		return err
	}
	pushed, err := p.pushed(ctx, &row, int(people.Followers))
	if err != nil || !pushed {
		return err
	}
	events := []event.Event{posts[0].Event()}
	renew := p.renewal(t)
	err = p.cfg.Followers.EachFollowers(ctx, people, func(ids []uint64) error {
		if err := renew(ctx); err != nil {
			return err
		}
		return p.cfg.Lines.Push(ctx, events, ids)
	})
	if err != nil {
		return fmt.Errorf("push %d: %w", t.Post, err)
	}
	return nil
}

// renewal returns what is to be called before each part of the followers. The first part is
// all for nearly everybody. It may have waited long for its turn, so that the claim is old.
func (p *Pusher) renewal(t task.Task) func(ctx context.Context) error {
	begun, claimed := false, time.Time{}
	return func(ctx context.Context) error {
		now := p.cfg.Now()
		if !begun || p.cfg.Renew == nil || now.Sub(claimed) < task.Term/2 {
			begun = true
			return nil
		}
		claimed = now
		return p.cfg.Renew(ctx, t)
	}
}

// author returns the feed of a task's account, with the event of the task. The process that
// committed it may have ended before it could tell the cache: readers would build lines
// without the event, after it was pushed.
func (p *Pusher) author(ctx context.Context, t task.Task) (feed.Row, error) {
	row, err := p.cfg.Authors.Row(ctx, t.Account)
	if err != nil || row.LastID >= t.Post {
		return row, err
	}
	rows, err := p.cfg.Authors.Fresh(ctx, []uint64{t.Account})
	if err != nil {
		return row, err
	}
	p.cfg.Authors.Put(ctx, []feed.Row{rows[t.Account]})
	return rows[t.Account], nil
}

// pushed decides whether the author's events are pushed, and notes in its feed if that
// changes. Lines name the authors that are not pushed as of when they were built. So an
// author who has become too big is pushed until all lines of before were built anew; one
// who is small again is pushed at once, and read too, until then.
func (p *Pusher) pushed(ctx context.Context, row *feed.Row, followers int) (bool, error) {
	now, since := uint32(p.cfg.Now().Unix()), row.PulledSince
	switch {
	case followers > p.cfg.Limit && since == 0:
		since = now
	case followers <= p.cfg.Limit/5*4 && since != 0:
		since = 0
	}
	if since != row.PulledSince {
		err := p.cfg.Edits.Do(ctx, []uint64{row.ID}, func(feeds map[uint64]*feed.Draft) error {
			feeds[row.ID].SetPulledSince(since)
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return since == 0 || now < since+uint32((p.cfg.Recheck+2*slack)/time.Second), nil
}
