package entity

import (
	"context"

	"kith/app/api/core"
	"kith/app/home"
	"kith/app/post"
	"kith/app/post/content"
)

// MaxSources is how many of the accounts that reposted a post an entry of a home names.
const MaxSources = 40

// Statuses loads what is shown of posts.
type Statuses struct {
	Accounts
}

// Load returns statuses in the order of views. Those of authors who no longer exist are left
// out.
func (s Statuses) Load(ctx context.Context, c *core.Call, views []post.View) ([]Status, error) {
	l := loader{viewer: c.Account}
	for i := range views {
		l.want(&views[i].Post, views[i].Origin)
	}
	if err := l.load(ctx, c, s.Accounts); err != nil {
		return nil, err
	}
	out := make([]Status, 0, len(views))
	for i := range views {
		if one, ok := l.status(&views[i].Post, views[i].Origin); ok {
			out = append(out, one)
		}
	}
	return out, nil
}

// One returns a single status or a refusal.
func (s Statuses) One(ctx context.Context, c *core.Call, v post.View) (Status, error) {
	found, err := s.Load(ctx, c, []post.View{v})
	if err == nil && len(found) == 0 {
		err = core.ErrNotFound
	}
	if err != nil {
		return Status{}, err
	}
	return found[0], nil
}

// Home returns the statuses of a home, with the accounts that reposted them.
func (s Statuses) Home(ctx context.Context, c *core.Call, items []home.Item) ([]Status, error) {
	l := loader{viewer: c.Account}
	for i := range items {
		l.want(items[i].Post, items[i].Origin)
		for _, e := range items[i].Sources[:min(MaxSources, len(items[i].Sources))] {
			l.accounts = append(l.accounts, e.Author)
		}
	}
	if err := l.load(ctx, c, s.Accounts); err != nil {
		return nil, err
	}
	out := make([]Status, 0, len(items))
	for i := range items {
		one, ok := l.status(items[i].Post, items[i].Origin)
		if !ok {
			continue
		}
		one.Promoted = items[i].Promoted
		one.RepostedByCount = len(items[i].Sources)
		for _, e := range items[i].Sources[:min(MaxSources, len(items[i].Sources))] {
			if a, ok := l.found[e.Author]; ok {
				one.RepostedBy = append(one.RepostedBy, a)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// loader loads what a page of statuses shows, each kind of it at once.
type loader struct {
	viewer   uint64
	accounts []uint64
	posts    []uint64 // whose text is shown

	found map[uint64]Account
	marks map[uint64]post.Marked
}

func (l *loader) want(p, origin *post.Post) {
	shown := p
	if origin != nil {
		l.accounts = append(l.accounts, p.Author)
		shown = origin
	}
	l.accounts = append(append(l.accounts, shown.Author), shown.Mentions...)
	l.posts = append(l.posts, shown.ID)
}

func (l *loader) load(ctx context.Context, c *core.Call, from Accounts) error {
	people, err := from.Load(ctx, c, core.Distinct(l.accounts))
	if err != nil {
		return err
	}
	l.found = make(map[uint64]Account, len(people))
	for _, a := range people {
		l.found[a.ID] = a
	}
	l.marks, err = from.Posts.Marks(ctx, l.viewer, core.Distinct(l.posts))
	return err
}

// status puts a status together; false where its author, or that of what it reposts, no
// longer exists.
func (l *loader) status(p, origin *post.Post) (Status, bool) {
	author, ok := l.found[p.Author]
	if !ok {
		return Status{}, false
	}
	s := Status{Post: p, Account: author}
	shown := p
	if origin != nil {
		of, ok := l.status(origin, nil)
		if !ok {
			return Status{}, false
		}
		s.Reblog, shown = &of, origin
	}
	for _, id := range p.Mentions {
		if a, ok := l.found[id]; ok {
			s.Mentions = append(s.Mentions, content.Account{ID: id, Username: a.Username})
		}
	}
	if l.viewer != 0 {
		m := l.marks[shown.ID]
		s.Viewer = &Viewer{ID: l.viewer, Favourited: m.Favourite, Reposted: m.Repost, Bookmarked: m.Bookmark, Pinned: m.Pin}
	}
	return s, true
}

// AppendStatuses appends an array of statuses.
func AppendStatuses(b []byte, all []Status) []byte {
	b = append(b, '[')
	for i := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendStatus(b, &all[i])
	}
	return append(b, ']')
}
