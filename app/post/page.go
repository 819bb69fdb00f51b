package post

import (
	"context"
	"slices"

	"kith/app"
	"kith/repo/list"
	"kith/repo/mark"
	"kith/repo/post"
)

// Page is a part of a list of posts.
type Page struct {
	Views []View
	Place
}

// Place says where the pages before and after a page go on: First and Last are cursors, 0
// for none, and Full says that more may follow. They are the ids of the first and the last
// entry, or where a page ended early, an id near that of the last one looked at: the reader
// learns no id of what it may not see.
type Place struct {
	First, Last uint64
	Full        bool
}

// maxUnseen is how many entries a page loads that it does not show, before it ends early. It
// then may be empty, and links to the next.
const maxUnseen = 400

// part is a part of a list of entries, the newest first.
type part[E any] struct {
	entries []E
	reached uint64 // the id that the next part goes on from, 0: there is none
	spent   bool   // looking further would cost too much
}

// shown is what is shown of an entry, and its place in the list.
type shown[T any] struct {
	at uint64
	of T
}

// fill makes a page of what is shown of the entries of a list, reading parts until it is
// full.
func fill[E, T any](r Range, parts func(Range) (part[E], error), show func([]E) ([]shown[T], error)) ([]T, Place, error) {
	var taken []shown[T] // in the order of the walk
	var place Place
	next, unseen := r, 0
	for len(taken) < r.Limit {
		next.Limit = min(r.Limit-len(taken)+unseen, maxPart)
		p, err := parts(next)
		if err != nil {
			return nil, Place{}, err
		}
		found, err := show(p.entries)
		if err != nil {
			return nil, Place{}, err
		}
		if r.Oldest {
			slices.Reverse(found)
		}
		unseen += len(p.entries) - len(found)
		taken = append(taken, found[:min(len(found), r.Limit-len(taken))]...)
		if p.reached == 0 || len(taken) == r.Limit {
			break
		}
		if p.spent || unseen >= maxUnseen {
			place = early(r, p.reached, taken)
			break
		}
		if r.Oldest {
			next.After = p.reached
		} else {
			next.Before = p.reached
		}
	}
	if r.Oldest {
		slices.Reverse(taken)
	}
	out := make([]T, len(taken))
	for i := range taken {
		out[i] = taken[i].of
	}
	if n := len(taken); n > 0 {
		if place.First == 0 {
			place.First = taken[0].at
		}
		if place.Last == 0 {
			place.Last = taken[n-1].at
		}
		place.Full = place.Full || n == r.Limit
	}
	return out, place, nil
}

// maxPart bounds the entries that are loaded at once.
const maxPart = 200

// span is how exactly a page that ends early says where: to a second.
const span = 1 << 32

// early is the place of a page that ends before it is full: whoever goes on from it finds
// what follows the id reached, and nothing that was taken. taken is in the order of the walk.
func early[T any](r Range, reached uint64, taken []shown[T]) Place {
	at := reached
	if r.Oldest {
		at = reached - reached%span - 1
		if len(taken) > 0 {
			at = max(at, taken[len(taken)-1].at)
		}
		if at <= r.After || at > reached {
			at = reached // else the walk would not get on
		}
		return Place{First: at, Full: true}
	}
	at = reached - reached%span + span
	if len(taken) > 0 {
		at = min(at, taken[len(taken)-1].at)
	}
	if at >= r.Below() {
		at = reached
	}
	return Place{Last: at, Full: true}
}

// partOf makes a part of rows that were asked for with a range.
func partOf[E any](rows []E, r Range, id func(E) uint64) part[E] {
	p := part[E]{entries: rows}
	if n := len(rows); n > 0 && n == r.Limit {
		p.reached = id(rows[n-1])
		if r.Oldest {
			p.reached = id(rows[0])
		}
	}
	return p
}

// views shows the posts of entries, where the viewer may see them.
func views[E any](ctx context.Context, s *Service, viewer uint64, ids func(E) (at, post uint64), takes func(*View) bool) func([]E) ([]shown[View], error) {
	return func(entries []E) ([]shown[View], error) {
		posts, at := make([]uint64, len(entries)), make(map[uint64]uint64, len(entries))
		for i, e := range entries {
			place, id := ids(e)
			posts[i], at[id] = id, place
		}
		seen, err := s.Views(ctx, viewer, posts)
		if err != nil {
			return nil, err
		}
		out := make([]shown[View], 0, len(seen))
		for i := range seen {
			if takes == nil || takes(&seen[i]) {
				out = append(out, shown[View]{at[seen[i].Post.ID], seen[i]})
			}
		}
		return out, nil
	}
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
	found, place, err := fill(r, func(r Range) (part[mark.Mark], error) {
		marks, err := s.cfg.Marks.Page(ctx, actor, k, r)
		return partOf(marks, r, func(m mark.Mark) uint64 { return m.ID }), app.From(err)
	}, views(ctx, s, actor, func(m mark.Mark) (at, post uint64) { return m.ID, m.Post }, nil))
	return Page{found, place}, err
}

// Received returns a part of all replies to the posts of an account, newest first.
func (s *Service) Received(ctx context.Context, actor uint64, r Range) (Page, error) {
	found, place, err := fill(r, func(r Range) (part[uint64], error) {
		ids, err := s.cfg.Posts.Received(ctx, actor, r)
		return partOf(ids, r, func(id uint64) uint64 { return id }), app.From(err)
	}, views(ctx, s, actor, func(id uint64) (at, post uint64) { return id, id }, nil))
	return Page{found, place}, err
}

// People are a part of the accounts that reposted or favour a post, the last first.
type People struct {
	Accounts []uint64
	Place
}

// Reposters returns a part of the accounts that reposted a post which viewer may see: those
// whose reposts it may see, too, and whom it does not mute. Favourers are those that favour
// it.
func (s *Service) Reposters(ctx context.Context, viewer, id uint64, r Range) (People, error) {
	return s.reactors(ctx, viewer, id, post.Repost, r)
}

// Favourers is Reposters for those who favour the post.
func (s *Service) Favourers(ctx context.Context, viewer, id uint64, r Range) (People, error) {
	return s.reactors(ctx, viewer, id, post.Favourite, r)
}

func (s *Service) reactors(ctx context.Context, viewer, id uint64, k post.Kind, r Range) (People, error) {
	v, err := s.Get(ctx, viewer, id)
	if err != nil {
		return People{}, err
	}
	found, place, err := fill(r, func(r Range) (part[post.Reactor], error) {
		rows, err := s.cfg.Posts.Reactors(ctx, v.Shown().ID, k, r)
		return partOf(rows, r, func(one post.Reactor) uint64 { return one.ID }), app.From(err)
	}, func(rows []post.Reactor) ([]shown[uint64], error) { return s.named(ctx, viewer, k, rows) })
	return People{found, place}, err
}

// named are those of reactors that are named to a viewer.
func (s *Service) named(ctx context.Context, viewer uint64, k post.Kind, rows []post.Reactor) ([]shown[uint64], error) {
	reposts := map[uint64]*post.Post{}
	if k == post.Repost {
		ids := make([]uint64, len(rows))
		for i := range rows {
			ids[i] = rows[i].ID
		}
		posts, err := s.cfg.Posts.Rows(ctx, ids)
		if err != nil {
			return nil, app.From(err)
		}
		for i := range posts {
			reposts[posts[i].ID] = &posts[i]
		}
	}
	people := make([]uint64, len(rows))
	for i := range rows {
		people[i] = rows[i].Account
	}
	rels, options, err := s.relate(ctx, viewer, people, seenBits|list.IsMuting|list.HasOption)
	if err != nil {
		return nil, app.From(err)
	}
	out := make([]shown[uint64], 0, len(rows))
	for _, one := range rows {
		rel := rels[one.Account]
		var o list.Option
		if rel&list.IsMuting != 0 {
			if o, err = options.Of(one.Account); err != nil {
				return nil, app.From(err)
			}
		}
		if Named(rel, o, s.cfg.Now()) && (k != post.Repost || Visible(viewer, rel, reposts[one.ID])) {
			out = append(out, shown[uint64]{one.ID, one.Account})
		}
	}
	return out, nil
}
