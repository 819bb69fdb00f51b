package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	apphome "kith/app/home"
	apppost "kith/app/post"
	apptask "kith/app/task"
	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/server"
	"kith/repo"
	"kith/repo/cache"
	"kith/repo/committer"
	kithfeed "kith/repo/feed"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/task"
	"kith/repo/timeline"
)

// kithHome is kith's posts and homes, put together as `kith serve` does, but for one thing:
// who posts waits until the post is pushed.
type kithHome struct {
	*Kith
	feeds     *kithfeed.Store
	edits     *committer.Committer[*kithfeed.Draft, kithfeed.Row]
	reactions *committer.Committer[*post.Draft, post.Post]
	lines     timeline.Lines
	tasks     *apptask.Runner
	posts     *apppost.Service
	homes     *apphome.Service
	readers   []uint64 // of the world
}

// HomeDatabase names the database of KithName's homes.
const HomeDatabase = "home-kith"

// pushLimit is the default of KITH_PUSH_LIMIT.
const pushLimit = 10_000

func openKithHome(ctx context.Context, s *server.Servers) (*kithHome, error) {
	dsn, err := s.CreateDatabase(ctx, HomeDatabase)
	if err != nil {
		return nil, err
	}
	k, err := OpenKith(ctx, KithName, dsn, s.Memcached.Socket, 0)
	if err != nil {
		return nil, err
	}
	k.memcached = s.Memcached
	h := &kithHome{Kith: k}
	stored := task.New(k.pool)
	rows := post.New(k.pool, k.cache, time.Now)
	h.feeds = kithfeed.New(k.pool, k.cache, rows, stored, time.Now)
	h.edits = committer.New(h.feeds, committer.Config{})
	h.reactions = committer.New(rows, committer.Config{})
	held := k.cache.(*cache.Memcached)
	lines, err := timeline.NewMemcached(timeline.Config{Client: k.client, Prefix: held.Prefix})
	if h.lines = lines; err != nil {
		return nil, errors.Join(err, k.Close())
	}
	h.tasks = apptask.New(apptask.Config{Store: stored})
	h.posts = apppost.New(apppost.Config{Posts: rows, Feeds: h.feeds, Marks: mark.New(k.pool, k.cache, stored, time.Now), Edits: h.edits, Reactions: h.reactions,
		Tasks: pushing{h.tasks}, Relations: k.rows, Accounts: k.people, Now: time.Now, Push: true})
	h.homes = apphome.New(apphome.Config{Relations: k.rows, Posts: rows, Feeds: h.feeds, Lines: h.lines, Now: time.Now, Cap: HomeCap, Push: true,
		Ahead: func(ctx context.Context, reader uint64) context.Context {
			return k.client.Ahead(ctx, append(held.Names(k.rows.Key(reader), h.feeds.Key(reader)), lines.Names(reader)...))
		}})
	pusher := apphome.NewPusher(apphome.PushConfig{Followers: k.rows, Authors: h.feeds, Edits: h.edits, Posts: rows, Lines: h.lines, Limit: pushLimit, Now: time.Now})
	h.tasks.Handle(task.Push, pusher.Push)
	h.tasks.Start()
	return h, nil
}

// pushing carries out a push before it returns.
type pushing struct{ *apptask.Runner }

// Go carries a task out. One that fails is found missing.
func (r pushing) Go(t task.Task) { _ = r.Do(context.Background(), t) }

// Load imports the follows as `kith import` does, and commits the posts of each author
// together.
func (h *kithHome) Load(ctx context.Context, w *feed.World) error {
	if err := h.Kith.Load(ctx, w.Graph); err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, e := range w.Graph.Edges {
		if !seen[e.From] {
			seen[e.From] = true
			h.readers = append(h.readers, e.From)
		}
	}
	by := map[uint64][]*post.Post{}
	for _, p := range w.Posts {
		made := &post.Post{Author: p.Author, Content: post.Content{Text: p.Text}}
		made.ID = p.ID
		by[p.Author] = append(by[p.Author], made)
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(64)
	for author, posts := range by {
		all.Go(func() error {
			if _, err := h.people.Ensure(ctx, []uint64{author}, uint64(time.Now().UnixMilli())); err != nil {
				return err
			}
			return h.edits.Do(ctx, []uint64{author}, func(feeds map[uint64]*kithfeed.Draft) error {
				for _, p := range posts {
					feeds[author].Add(p, nil)
				}
				return nil
			})
		})
	}
	return all.Wait()
}

// Post makes a post.
func (h *kithHome) Post(ctx context.Context, author uint64, text string) (uint64, error) {
	v, err := h.posts.Create(ctx, author, apppost.Draft{Content: post.Content{Text: text}})
	return v.Post.ID, err
}

// Page reads a home, and the authors of its posts.
func (h *kithHome) Page(ctx context.Context, reader, before uint64, limit int) ([]feed.Post, error) {
	found, err := h.homes.Home(h.homes.Ahead(ctx, reader), reader, apphome.Range{Before: before, Limit: limit})
	if err != nil {
		return nil, fmt.Errorf("home of %d: %w", reader, err)
	}
	authors := make([]uint64, len(found.Items))
	for i, item := range found.Items {
		authors[i] = item.Post.Author
	}
	people, err := h.people.Show(ctx, authors)
	if err != nil {
		return nil, fmt.Errorf("authors of the home of %d: %w", reader, err)
	}
	page := make([]feed.Post, len(found.Items))
	for i, item := range found.Items {
		page[i] = feed.Post{ID: item.Event.ID, Author: authors[i], Name: people[i].DisplayName, Text: item.Post.Text}
	}
	return page, nil
}

// Cool drops the lines of readers.
func (h *kithHome) Cool(ctx context.Context, t Tier, readers []uint64) error {
	if t == Hot {
		return nil
	}
	for _, id := range readers {
		h.lines.Drop(ctx, id)
	}
	return nil
}

// weighed is how many homes are weighed.
const weighed = 1_000

// HomeSpace is by how much memcached grows by the lines of some readers, and on disk what the
// table has when it gets their warm rows, in the order of its key.
func (h *kithHome) HomeSpace(ctx context.Context) (s Space, entries int64, err error) {
	readers := repo.InOrder(h.readers[:min(weighed, len(h.readers))])
	if _, err := h.heat(ctx, readers); err != nil { // so that all that lines are made of is there
		return s, 0, err
	}
	if err := h.Cool(ctx, Cold, readers); err != nil {
		return s, 0, err
	}
	before, err := memcachedBytes(h.memcached.Socket)
	if err != nil {
		return s, 0, err
	}
	lines, err := h.heat(ctx, readers)
	if err != nil {
		return s, 0, err
	}
	after, err := memcachedBytes(h.memcached.Socket)
	if err != nil {
		return s, 0, err
	}
	warm := timeline.NewStore(h.pool, time.Now, slog.New(slog.DiscardHandler))
	for i, id := range readers {
		entries += int64(len(lines[i].Events))
		if _, err := warm.Save(ctx, id, lines[i]); err != nil {
			return s, 0, err
		}
	}
	if s, err = tableSpace(ctx, h.pool, "timeline"); err != nil {
		return s, 0, err
	}
	s.Memory = after - before
	_, err = h.pool.ExecContext(ctx, `TRUNCATE TABLE timeline`)
	return s, entries, errors.Join(err, h.Cool(ctx, Cold, readers))
}

// heat reads homes, and returns their lines.
func (h *kithHome) heat(ctx context.Context, readers []uint64) (lines []timeline.Line, err error) {
	for _, id := range readers {
		if _, err := h.Page(ctx, id, 0, 1); err != nil {
			return nil, err
		}
		line, ok := h.lines.Peek(ctx, id)
		if !ok {
			return nil, fmt.Errorf("the home of %d, which was just read, is not in memcached", id)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Close ends the pushes, commits what waits, and closes all.
func (h *kithHome) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	h.tasks.Close(ctx)
	h.homes.Close()
	return errors.Join(h.edits.Close(ctx), h.reactions.Close(ctx), h.lines.Close(), h.Kith.Close())
}
