package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"kith/app"
	"kith/app/post/content"
	"kith/repo"
	"kith/repo/account"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/list"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/relation"
	"kith/repo/task"
)

// FeedCommitter carries out edits of author feeds, ReactionCommitter those of the
// reactions to posts. These and Runner are interfaces because tests put faults in.
type FeedCommitter interface {
	Do(ctx context.Context, ids []uint64, apply func(feeds map[uint64]*feed.Draft) error) error
}

// ReactionCommitter carries out edits of posts.
type ReactionCommitter interface {
	Do(ctx context.Context, ids []uint64, apply func(posts map[uint64]*post.Draft) error) error
}

// Runner carries out tasks, at once or soon.
type Runner interface {
	Do(ctx context.Context, t task.Task) error
	Go(t task.Task)
	Renew(ctx context.Context, t task.Task) error
}

// Relations answers what accounts are to each other.
type Relations interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	Rels(ctx context.Context, row relation.Row, ids []uint64, of list.Rel) ([]list.Rel, relation.Options, error)
}

// Accounts knows accounts.
type Accounts interface {
	ByName(ctx context.Context, name string) (account.Account, error)
}

// Config is what a Service works with.
type Config struct {
	Posts     *post.Store
	Feeds     *feed.Store
	Marks     *mark.Store
	Edits     FeedCommitter
	Reactions ReactionCommitter
	Tasks     Runner
	Relations Relations
	Accounts  Accounts
	Now       func() time.Time
	// Push says that new posts are pushed to home timelines.
	Push bool
	Log  *slog.Logger
}

// Service decides about posts. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service. Its SettlePost and SettleFavourite carry out the tasks of these
// kinds.
func New(cfg Config) *Service {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{cfg}
}

// ErrNoParent refuses an answer to what is no post, or none that the actor may see.
var ErrNoParent = app.Refuse(app.NotFound, "The post you are trying to reply to does not appear to exist.")

// The refusals.
var (
	errUnknown      = app.Refuse(app.NotFound, "Record not found")
	errNotRepost    = app.Refuse(app.Unprocessable, "Validation failed: this post cannot be reposted")
	errNotPin       = app.Refuse(app.Unprocessable, "Validation failed: only your own posts can be pinned")
	errManyPins     = app.Refuse(app.Limit, "You have already pinned the maximum number of posts")
	errDirectRepost = app.Refuse(app.Unprocessable, "Validation failed: a repost mentions nobody, so it cannot be direct")
	errDirectPin    = app.Refuse(app.Unprocessable, "Validation failed: posts that only those mentioned may see cannot be pinned")
	errTooManyNames = app.Refuse(app.Unprocessable, "Validation failed: a post mentions at most 50 accounts")
)

// Draft is a post to be made.
type Draft struct {
	post.Content // its mentions are found in its text
	ReplyTo      uint64
	Visibility   post.Visibility
	Domain       string // ours: @name@domain mentions an account, too
	// Key is the Idempotency-Key, empty for none: within feed.KeyLife a second post with
	// the key is not made, and the first is the answer.
	Key string
}

// Create makes a post by an account.
func (s *Service) Create(ctx context.Context, actor uint64, d Draft) (View, error) {
	if err := content.Check(&d.Content); err != nil {
		return View{}, err
	}
	p := post.Post{Content: d.Content, Author: actor, Visibility: d.Visibility}
	if d.ReplyTo != 0 {
		parent, err := s.Get(ctx, actor, d.ReplyTo)
		if app.KindOf(err) == app.NotFound {
			err = ErrNoParent
		}
		if err != nil {
			return View{}, err
		}
		to := parent.Shown() // who answers a repost answers what it shows
		p.ReplyTo, p.ReplyWho = to.ID, to.Author
	}
	var err error
	if p.Mentions, err = s.mentions(ctx, d.Text, d.Domain); err != nil {
		return View{}, err
	}
	made, tasks, err := s.add(ctx, p, keyOf(d.Key))
	if err != nil {
		return View{}, err
	}
	s.run(ctx, tasks)
	return s.Get(ctx, actor, made)
}

// add commits a new post of its author and returns its id. Where the key was used before,
// or the author reposts the post already, that is the id of the first, and there are no
// tasks.
func (s *Service) add(ctx context.Context, p post.Post, key *feed.Key) (id uint64, tasks []task.Task, err error) {
	type result struct {
		id    uint64
		tasks []task.Task
	}
	var r result // not the named results: where ctx ends first, the edit may still write it
	// A try that was lost as a whole may have stored this author's part, on an engine that
	// shards: the next one looks whether its post is there, perhaps deleted again. Mostly the
	// feed says that it is not; to read the post each time would have edits of one commit wait
	// for each other.
	var tried uint64
	err = s.cfg.Edits.Do(ctx, []uint64{p.Author}, func(feeds map[uint64]*feed.Draft) error {
		r = result{}
		d := feeds[p.Author]
		var former uint64
		var err error
		if tried != 0 && d.Reached(tried) {
			was, err := d.Post(tried)
			if err != nil {
				return err
			}
			if was.Ver != 0 && (was.State == post.Deleted || was.SameAs(&p)) {
				r.id, r.tasks = tried, s.tasksOf(&was)
				return nil
			}
		}
		if key != nil {
			former, err = d.ByKey(*key)
		}
		if p.Origin != 0 && err == nil {
			former, err = d.RepostOf(p.Origin)
		}
		if err != nil || former != 0 {
			r.id = former
			return err
		}
		fresh := p
		fresh.ID = d.NextID(s.cfg.Now(), rand.Uint64(), max(p.Origin, p.ReplyTo), tried != 0)
		r.id, r.tasks = fresh.ID, s.tasksOf(&fresh)
		d.Add(&fresh, key, r.tasks...)
		tried = fresh.ID
		return nil
	})
	if err != nil {
		return 0, nil, app.From(err)
	}
	return r.id, r.tasks, nil
}

// tasksOf are what is to be done once a post is there.
func (s *Service) tasksOf(p *post.Post) (tasks []task.Task) {
	if p.ReplyTo != 0 || p.Origin != 0 {
		tasks = append(tasks, task.Task{ID: p.ID, Kind: task.Settle, Account: p.Author, Post: p.ID})
	}
	if s.cfg.Push {
		tasks = append(tasks, task.Task{ID: p.ID, Kind: task.Push, Account: p.Author, Post: p.ID})
	}
	return tasks
}

// run carries out tasks: what readers see at the other post now, the rest soon. An error is
// no error of the change: the task is tried again.
func (s *Service) run(ctx context.Context, tasks []task.Task) {
	for _, t := range tasks {
		if t.Kind == task.Push {
			s.cfg.Tasks.Go(t)
		} else if err := s.cfg.Tasks.Do(ctx, t); err != nil {
			s.cfg.Log.Warn("a task failed and will be tried again", "kind", t.Kind, "account", t.Account, "post", t.Post, "error", err)
		}
	}
}

// repostTries bounds how often a repost is made again that the actor's own undo took away.
const repostTries = 3

// Repost makes a repost of a post, or returns the one that there is. Public and unlisted
// posts can be reposted, and one's own for followers.
func (s *Service) Repost(ctx context.Context, actor, id uint64, v post.Visibility) (View, error) {
	seen, err := s.Get(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	of := seen.Shown()
	switch {
	case of.Visibility > post.Unlisted && (of.Visibility != post.Followers || of.Author != actor):
		return View{}, errNotRepost
	case v == post.Direct:
		return View{}, errDirectRepost
	}
	for range repostTries {
		made, tasks, err := s.add(ctx, post.Post{Author: actor, Origin: of.ID, Visibility: max(v, of.Visibility)}, nil)
		if err != nil {
			return View{}, err
		}
		s.run(ctx, tasks)
		if seen, err = s.Get(ctx, actor, made); app.KindOf(err) != app.NotFound {
			return seen, err
		}
		if _, err = s.Get(ctx, actor, of.ID); err != nil {
			return View{}, err
		}
	}
	return View{}, app.From(fmt.Errorf("repost %d by %d: it is undone at the same time: %w", of.ID, actor, repo.ErrConflict))
}

// Undo deletes the actor's repost of a post, if there is one, and returns the post. Who may
// no longer see the post can undo it too, and is then told that there is no such post.
func (s *Service) Undo(ctx context.Context, actor, id uint64) (View, error) {
	of, err := s.shown(ctx, id)
	if err != nil {
		return View{}, err
	}
	var tasks []task.Task // also of a lost try, which may have stored this (see add)
	err = s.cfg.Edits.Do(ctx, []uint64{actor}, func(feeds map[uint64]*feed.Draft) error {
		d := feeds[actor]
		repost, err := d.RepostOf(of)
		if err != nil || repost == 0 {
			return err
		}
		tasks, err = s.setState(d, actor, repost, post.Deleted)
		return err
	})
	if err != nil {
		return View{}, app.From(err)
	}
	s.run(ctx, tasks)
	return s.Get(ctx, actor, of)
}

// shown returns the id of the post whose text a post shows, whoever may see it.
func (s *Service) shown(ctx context.Context, id uint64) (uint64, error) {
	p, err := s.cfg.Posts.Row(ctx, id)
	switch {
	case err != nil:
		return 0, app.From(err)
	case p.Ver == 0:
		return 0, errUnknown
	}
	return cmp.Or(p.Origin, p.ID), nil
}

// setState is the edit that gives a post of an author another state. It answers errUnknown
// where the author has no such post, or has deleted it.
func (s *Service) setState(d *feed.Draft, author, id uint64, to post.State) ([]task.Task, error) {
	p, err := d.Post(id)
	switch {
	case err != nil:
		return nil, err
	case p.Ver == 0 || p.State == post.Deleted:
		return nil, errUnknown
	case p.State == to:
		return nil, nil
	}
	var tasks []task.Task
	if to == post.Deleted {
		tasks = append(tasks, task.Task{ID: id, Kind: task.Settle, Account: author, Post: id})
	}
	return tasks, d.SetState(p, to, tasks...)
}

// owned returns a post of the actor, which it may delete. A repost of what the actor may no
// longer see comes without that.
func (s *Service) owned(ctx context.Context, actor, id uint64) (View, error) {
	v, err := s.Get(ctx, actor, id)
	if app.KindOf(err) == app.NotFound {
		var p post.Post
		if p, err = s.cfg.Posts.Row(ctx, id); err != nil {
			return View{}, app.From(err)
		}
		if v = (View{Post: p}); p.Origin == 0 || !Visible(actor, 0, &p) {
			err = errUnknown
		}
	}
	if err == nil && v.Post.Author != actor {
		err = errUnknown
	}
	return v, err
}

// Delete deletes a post of the actor and returns what it was.
func (s *Service) Delete(ctx context.Context, actor, id uint64) (View, error) {
	was, err := s.owned(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	return was, s.SetState(ctx, actor, id, post.Deleted)
}

// SetState gives a post another state, for administrators; with that of Delete its author.
func (s *Service) SetState(ctx context.Context, author, id uint64, to post.State) error {
	var tasks []task.Task
	err := s.cfg.Edits.Do(ctx, []uint64{author}, func(feeds map[uint64]*feed.Draft) error {
		now, err := s.setState(feeds[author], author, id, to)
		switch {
		case err == nil:
			tasks = now
		case err == errUnknown && len(tasks) > 0: // a lost try has stored this (see add)
			err = nil
		}
		return err
	})
	if err != nil {
		return app.From(err)
	}
	s.run(ctx, tasks)
	return nil
}

// Favour notes that the actor favours a post, or no longer does.
func (s *Service) Favour(ctx context.Context, actor, id uint64, yes bool) (View, error) {
	return s.mark(ctx, actor, id, yes, func(of uint64) error {
		t := task.Task{ID: s.newID(actor, of), Kind: task.Favourite, Account: actor, Post: of}
		markID := t.ID
		if !yes {
			markID = 0
		}
		changed, err := s.cfg.Marks.Set(ctx, actor, mark.Favourite, of, markID, t)
		if changed && err == nil {
			s.run(ctx, []task.Task{t})
		}
		return err
	})
}

// Bookmark notes that the actor keeps a post, or no longer does. Nobody else learns that.
func (s *Service) Bookmark(ctx context.Context, actor, id uint64, yes bool) (View, error) {
	return s.mark(ctx, actor, id, yes, func(of uint64) error { return s.own(ctx, actor, of, mark.Bookmark, yes) })
}

// Pin shows one of the actor's own posts first, or no longer.
func (s *Service) Pin(ctx context.Context, actor, id uint64, yes bool) (View, error) {
	seen, err := s.Get(ctx, actor, id)
	switch {
	case err != nil && yes:
		return View{}, err
	case err != nil: // of what is not seen any more: the mark decides
	case seen.Post.Author != actor || seen.Origin != nil:
		return View{}, errNotPin
	case seen.Post.Visibility == post.Direct:
		return View{}, errDirectPin
	}
	return s.mark(ctx, actor, id, yes, func(of uint64) error {
		err := s.own(ctx, actor, of, mark.Pin, yes)
		if !errors.Is(err, mark.ErrFull) {
			return err
		}
		if err := s.unpinDeleted(ctx, actor); err != nil {
			return err
		}
		if err = s.own(ctx, actor, of, mark.Pin, yes); errors.Is(err, mark.ErrFull) {
			err = errManyPins
		}
		return err
	})
}

// unpinDeleted makes room among the pins of an account: posts that it deleted have some.
func (s *Service) unpinDeleted(ctx context.Context, actor uint64) error {
	pins, err := s.cfg.Marks.Page(ctx, actor, mark.Pin, repo.IDRange{Limit: mark.MaxPins})
	if err != nil {
		return err
	}
	for _, pin := range pins {
		p, err := s.truth(ctx, pin.Post)
		if err == nil && p.State == post.Deleted {
			err = s.own(ctx, actor, pin.Post, mark.Pin, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mark changes a mark of the actor about a post that it sees. To take one away the actor need
// not see the post any more, and is then told, as always, that there is no such post.
func (s *Service) mark(ctx context.Context, actor, id uint64, yes bool, change func(of uint64) error) (View, error) {
	var of uint64
	var err error
	if yes {
		var seen View
		seen, err = s.Get(ctx, actor, id)
		of = seen.Shown().ID
	} else {
		of, err = s.shown(ctx, id)
	}
	if err != nil {
		return View{}, err
	}
	if err := change(of); err != nil {
		return View{}, app.From(err)
	}
	return s.Get(ctx, actor, of)
}

// own writes a mark that concerns nobody else.
func (s *Service) own(ctx context.Context, actor, of uint64, k mark.Kind, yes bool) error {
	id := uint64(0)
	if yes {
		id = s.newID(actor, of)
	}
	_, err := s.cfg.Marks.Set(ctx, actor, k, of, id)
	return err
}

// newID returns an id for a mark of the actor about a post: it is higher than the post's. It is
// chosen among many, since tasks of two accounts that have the same id are one.
func (s *Service) newID(actor, of uint64) uint64 {
	return event.Anew(actor, of, s.cfg.Now(), rand.Uint64())
}
