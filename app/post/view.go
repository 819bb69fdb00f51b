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
	if viewer == 0 {
		return nil, nil
	}
	out := map[uint64]list.Rel{}
	for i := range posts {
		out[posts[i].Author] = 0
	}
	for _, o := range origins {
		out[o.Author] = 0
	}
	return out, s.relsTo(ctx, viewer, out)
}

// relsTo notes what accounts are to a viewer.
func (s *Service) relsTo(ctx context.Context, viewer uint64, of map[uint64]list.Rel) error {
	if viewer == 0 {
		return nil
	}
	ids := make([]uint64, 0, len(of))
	for id := range of {
		if id != 0 && id != viewer {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	row, err := s.cfg.Relations.Row(ctx, viewer)
	if err != nil {
		return err
	}
	found, _, err := s.cfg.Relations.Rels(ctx, row, ids, list.IsFollowing|list.IsBlocking|list.IsBlockedBy)
	if err != nil {
		return err
	}
	for i, id := range ids {
		of[id] = found[i]
	}
	return nil
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

// Page is a part of a list of posts. First and Last are the ids that the pages before and
// after it go on from, 0 where the page covers nothing. It may have fewer posts than it
// covers: some may not be seen.
type Page struct {
	Views       []View
	First, Last uint64
	Full        bool
}

// People is a part of the accounts that did something about a post. Like a Page it may have
// fewer than it covers.
type People struct {
	Accounts    []uint64
	First, Last uint64
	Full        bool
}

// Reposters returns a part of the accounts that reposted a post which viewer may see: of those
// whose reposts it may see, too.
func (s *Service) Reposters(ctx context.Context, viewer, id uint64, r Range) (People, error) {
	found, people, err := s.reactors(ctx, viewer, id, post.Repost, r)
	if err != nil || len(found) == 0 {
		return people, err
	}
	ids := make([]uint64, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	views, err := s.Views(ctx, viewer, ids)
	for i := range views {
		people.Accounts = append(people.Accounts, views[i].Post.Author)
	}
	return people, err
}

// Favourers returns a part of the accounts that favour a post which viewer may see, but for
// those that it blocks, and that block it.
func (s *Service) Favourers(ctx context.Context, viewer, id uint64, r Range) (People, error) {
	found, people, err := s.reactors(ctx, viewer, id, post.Favourite, r)
	if err != nil || len(found) == 0 {
		return people, err
	}
	rels := make(map[uint64]list.Rel, len(found))
	for _, f := range found {
		rels[f.Account] = 0
	}
	if err := s.relsTo(ctx, viewer, rels); err != nil {
		return people, app.From(err)
	}
	for _, f := range found {
		if rels[f.Account]&(list.IsBlocking|list.IsBlockedBy) == 0 {
			people.Accounts = append(people.Accounts, f.Account)
		}
	}
	return people, nil
}

func (s *Service) reactors(ctx context.Context, viewer, id uint64, k post.Kind, r Range) (found []post.Reactor, p People, err error) {
	v, err := s.Get(ctx, viewer, id)
	if err != nil {
		return nil, p, err
	}
	found, err = s.cfg.Posts.Reactors(ctx, v.Shown().ID, k, r)
	if n := len(found); n > 0 {
		p = People{First: found[0].ID, Last: found[n-1].ID, Full: n == r.Limit}
	}
	return found, p, app.From(err)
}

// Favourites returns a part of the posts that the actor favours, the last favoured first.
func (s *Service) Favourites(ctx context.Context, actor uint64, r Range) (Page, error) {
	return s.marked(ctx, actor, mark.Favourite, r)
}

// Bookmarks is Favourites for bookmarks.
func (s *Service) Bookmarks(ctx context.Context, actor uint64, r Range) (Page, error) {
	return s.marked(ctx, actor, mark.Bookmark, r)
}

func (s *Service) marked(ctx context.Context, actor uint64, k mark.Kind, r Range) (Page, error) {
	marks, err := s.cfg.Marks.Page(ctx, actor, k, r)
	if err != nil || len(marks) == 0 {
		return Page{}, app.From(err)
	}
	ids := make([]uint64, len(marks))
	for i, m := range marks {
		ids[i] = m.Post
	}
	views, err := s.Views(ctx, actor, ids)
	return Page{Views: views, First: marks[0].ID, Last: marks[len(marks)-1].ID, Full: len(marks) == r.Limit}, err
}

// Received returns a part of all replies to the posts of an account, newest first.
func (s *Service) Received(ctx context.Context, actor uint64, r Range) (Page, error) {
	ids, err := s.cfg.Posts.Received(ctx, actor, r)
	if err != nil || len(ids) == 0 {
		return Page{}, app.From(err)
	}
	views, err := s.Views(ctx, actor, ids)
	return Page{Views: views, First: ids[0], Last: ids[len(ids)-1], Full: len(ids) == r.Limit}, err
}
