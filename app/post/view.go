package post

import (
	"context"
	"maps"
	"slices"

	"kith/app"
	"kith/repo"
	"kith/repo/list"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/relation"
)

// Post is a post as it is stored, Range a part of an order by ids: names for those who ask
// the service.
type (
	Post    = post.Post
	Content = post.Content
	Range   = repo.IDRange
)

// MaxPins is how many posts an account can pin.
const MaxPins = mark.MaxPins

// View is a post that its viewer may see.
type View struct {
	Post   post.Post
	Origin *post.Post // what Post reposts, nil where it is no repost
}

// Shown returns the post whose text is shown.
func (v *View) Shown() *post.Post {
	if v.Origin != nil {
		return v.Origin
	}
	return &v.Post
}

// Get returns a post that viewer may see, or a refusal. A viewer of 0 is anybody.
func (s *Service) Get(ctx context.Context, viewer, id uint64) (View, error) {
	views, err := s.Views(ctx, viewer, []uint64{id})
	if err != nil {
		return View{}, err
	}
	if len(views) == 0 {
		return View{}, errUnknown
	}
	return views[0], nil
}

// Views returns those of posts that viewer may see, in their order.
func (s *Service) Views(ctx context.Context, viewer uint64, ids []uint64) ([]View, error) {
	posts, origins, err := s.Load(ctx, ids)
	if err != nil {
		return nil, app.From(err)
	}
	rels, err := s.rels(ctx, viewer, posts, origins)
	if err != nil {
		return nil, app.From(err)
	}
	views := make([]View, 0, len(posts))
	for i := range posts {
		p := &posts[i]
		if !Visible(viewer, rels[p.Author], p) {
			continue
		}
		v := View{Post: *p}
		if p.Origin != 0 {
			v.Origin = origins[p.Origin]
			if v.Origin == nil || !Visible(viewer, rels[v.Origin.Author], v.Origin) {
				continue
			}
		}
		views = append(views, v)
	}
	return views, nil
}

// Load returns posts in the order of ids, with Ver 0 where there is none, and the posts
// that they repost. Who may see them is not asked.
func (s *Service) Load(ctx context.Context, ids []uint64) (posts []post.Post, origins map[uint64]*post.Post, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	if posts, err = s.cfg.Posts.Rows(ctx, ids); err != nil {
		return nil, nil, err
	}
	var of []uint64
	for i := range posts {
		if posts[i].Origin != 0 {
			of = append(of, posts[i].Origin)
		}
	}
	if len(of) == 0 {
		return posts, nil, nil
	}
	found, err := s.cfg.Posts.Rows(ctx, of)
	origins = make(map[uint64]*post.Post, len(found))
	for i := range found {
		origins[found[i].ID] = &found[i]
	}
	return posts, origins, err
}

// rels returns what the authors of posts are to a viewer.
func (s *Service) rels(ctx context.Context, viewer uint64, posts []post.Post, origins map[uint64]*post.Post) (map[uint64]list.Rel, error) {
	authors := make([]uint64, 0, len(posts)+len(origins))
	for i := range posts {
		authors = append(authors, posts[i].Author)
	}
	for _, o := range origins {
		authors = append(authors, o.Author)
	}
	rels, _, err := s.relate(ctx, viewer, authors, seenBits)
	return rels, err
}

// relate returns what accounts are to a viewer, as far as the bits of, and what the viewer
// chose about them. Some may be 0, the viewer, or named twice. To 0 they are nothing.
func (s *Service) relate(ctx context.Context, viewer uint64, accounts []uint64, of list.Rel) (map[uint64]list.Rel, relation.Options, error) {
	if viewer == 0 {
		return nil, relation.Options{}, nil
	}
	out := make(map[uint64]list.Rel, len(accounts))
	ids := make([]uint64, 0, len(accounts))
	for _, id := range accounts {
		if _, known := out[id]; !known && id != 0 && id != viewer {
			out[id] = 0
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return out, relation.Options{}, nil
	}
	row, err := s.cfg.Relations.Row(ctx, viewer)
	if err != nil {
		return nil, relation.Options{}, err
	}
	found, options, err := s.cfg.Relations.Rels(ctx, row, ids, of)
	for i, id := range ids {
		out[id] = found[i]
	}
	return out, options, err
}

// Marked is what an account noted about a post.
type Marked struct{ Favourite, Repost, Bookmark, Pin bool }

// Marks returns what a viewer noted about posts.
func (s *Service) Marks(ctx context.Context, viewer uint64, ids []uint64) (map[uint64]Marked, error) {
	if viewer == 0 || len(ids) == 0 {
		return nil, nil
	}
	found, err := s.cfg.Marks.On(ctx, viewer, ids)
	if err != nil {
		return nil, app.From(err)
	}
	out, err := s.reposted(ctx, viewer, ids)
	if err != nil {
		return nil, app.From(err)
	}
	for _, m := range found {
		of := out[m.Post]
		switch m.Kind {
		case mark.Favourite:
			of.Favourite = true
		case mark.Bookmark:
			of.Bookmark = true
		case mark.Pin:
			of.Pin = true
		}
		out[m.Post] = of
	}
	return out, nil
}

// reposted returns which of posts an account reposted: its feed says it, where that reaches
// as far as the posts, since a repost is younger than its post.
func (s *Service) reposted(ctx context.Context, account uint64, ids []uint64) (map[uint64]Marked, error) {
	out := make(map[uint64]Marked, len(ids))
	row, err := s.cfg.Feeds.Row(ctx, account)
	if err != nil {
		return nil, err
	}
	events, floor, err := row.Events(nil)
	if err != nil {
		return nil, err
	}
	last := make(map[uint64]uint64, len(ids)) // the newest repost of each post, which may be deleted
	var older []uint64
	for _, id := range ids {
		if id < floor {
			older = append(older, id)
		} else {
			last[id] = 0
		}
	}
	for i := len(events) - 1; i >= 0; i-- {
		if _, asked := last[events[i].Origin]; asked {
			last[events[i].Origin] = events[i].ID
		}
	}
	if len(older) > 0 {
		more, err := s.cfg.Marks.Reposts(ctx, account, older)
		if err != nil {
			return nil, err
		}
		maps.Copy(last, more)
	}
	reposts := slices.DeleteFunc(slices.Collect(maps.Values(last)), func(id uint64) bool { return id == 0 })
	if len(reposts) == 0 {
		return out, nil
	}
	found, err := s.cfg.Posts.Rows(ctx, reposts)
	for _, p := range found {
		if p.State != post.Deleted {
			out[p.Origin] = Marked{Repost: true}
		}
	}
	return out, err
}
