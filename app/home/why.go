package home

import (
	"context"
	"fmt"
	"time"

	"kith/app"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/post"
)

// Reposts finds the reposts of a post.
type Reposts interface {
	Reactors(ctx context.Context, post uint64, k post.Kind, r repo.IDRange) ([]post.Reactor, error)
}

const (
	// maxReposts is how many reposts of a post are looked through, the newest first.
	maxReposts = 20_000
	// repostsAtOnce is how many are judged at once.
	repostsAtOnce = 400
	// entriesAtOnce and maxEntries are how many entries are read to find one.
	entriesAtOnce, maxEntries = 40, 2000
)

// Why says in one sentence why a post or repost stands in a reader's home, or why not: for
// support people. name returns what to call an account. It looks, and leaves no trace.
func (s *Service) Why(ctx context.Context, reader, id uint64, reposts Reposts, name func(account uint64) string) (string, error) {
	r, err := s.Watch().open(ctx, reader)
	if err != nil {
		return "", app.From(err)
	}
	w := why{read: r, reposts: reposts, name: name}
	out, err := w.sentence(ctx, id)
	return out, app.From(err)
}

// why is one question.
type why struct {
	*read
	reposts Reposts
	name    func(uint64) string
}

func (w *why) sentence(ctx context.Context, id uint64) (string, error) {
	posts, origins, err := w.load(ctx, []uint64{id})
	if err != nil {
		return "", err
	}
	p, home := &posts[0], "in the home of "+w.name(w.viewer.ID)
	if p.Ver == 0 {
		return fmt.Sprintf("post %d does not stand %s: %v", id, home, Missing), nil
	}
	what, e := w.what(p, origins[p.Origin]), p.Event()
	if w.viewer.Judge(e, p, origins[p.Origin]) == Stands {
		how, err := w.how(ctx, e)
		return what + " stands " + home + how, err
	}
	not := w.viewer.Why(e, p, origins[p.Origin], w.name)
	if e.Origin == 0 {
		by, others, err := w.repost(ctx, p)
		if err != nil {
			return "", err
		}
		if by.ID != 0 {
			how, err := w.how(ctx, by)
			return fmt.Sprintf("%s stands %s since %s reposted it%s%s; its own posting does not bring it: %s", what, home, w.name(by.Author), more(others), how, not), err
		}
	}
	return what + " does not stand " + home + ": " + not, nil
}

func more(others int) string {
	switch others {
	case 0:
		return ""
	case 1:
		return " and another"
	}
	return fmt.Sprintf(" and %d others", others)
}

// what names a post.
func (w *why) what(p, origin *post.Post) string {
	if p.Origin == 0 {
		return fmt.Sprintf("post %d by %s", p.ID, w.name(p.Author))
	}
	by := "an unknown account"
	if origin != nil && origin.Ver != 0 {
		by = w.name(origin.Author)
	}
	return fmt.Sprintf("repost %d by %s of post %d by %s", p.ID, w.name(p.Author), p.Origin, by)
}

// load loads posts, and what all accounts that count for them are to the reader.
func (w *why) load(ctx context.Context, ids []uint64) (posts []post.Post, origins map[uint64]*post.Post, err error) {
	if posts, err = w.cfg.Posts.Rows(ctx, ids); err != nil {
		return nil, nil, err
	}
	var of, concerned []uint64
	for i := range posts {
		if concerned = Concerned(concerned, &posts[i]); posts[i].Origin != 0 {
			of = append(of, posts[i].Origin)
		}
	}
	found, err := w.cfg.Posts.Rows(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	origins = make(map[uint64]*post.Post, len(found))
	for i := range found {
		concerned, origins[of[i]] = Concerned(concerned, &found[i]), &found[i]
	}
	return posts, origins, w.relate(ctx, concerned)
}

// how says in which entry an event that is shown stands, and how far down.
func (w *why) how(ctx context.Context, e event.Event) (string, error) {
	entry, err := w.entry(ctx, e)
	if err != nil || entry.Event.ID == 0 {
		return "", err
	}
	out := ", as an entry of its own"
	switch n := len(entry.Sources); {
	case entry.Event.ID != e.ID && entry.Event.Origin == 0:
		out = ", inside the entry of the post itself"
	case entry.Event.ID != e.ID:
		out = fmt.Sprintf(", inside the older entry %d, a repost by %s", entry.Event.ID, w.name(entry.Event.Author))
	case n > 0 && e.Origin == 0:
		out += fmt.Sprintf(", reposted by %s%s", w.name(entry.Sources[0].Author), more(n-1))
	case n == 2:
		out += ", reposted by another, too"
	case n > 2:
		out += fmt.Sprintf(", reposted by %d others, too", n-1)
	}
	if l, ok := w.cfg.Lines.Peek(ctx, w.viewer.ID); ok && e.ID < l.Floor {
		out += fmt.Sprintf(", older than what is kept ready, which goes back to %s: the reader pages down to it", event.Time(l.Floor).Format(time.RFC3339))
	}
	return out, nil
}

// entry returns the entry that an event which is shown stands in; the zero Entry where it
// is not found, as the home changed meanwhile.
func (w *why) entry(ctx context.Context, e event.Event) (Entry, error) {
	want := Range{Before: e.ID + 1, Limit: 1}
	for range maxEntries / entriesAtOnce {
		page, err := w.Home(ctx, w.viewer.ID, want)
		if err != nil {
			return Entry{}, err
		}
		for _, item := range page.Items {
			if item.Event.Post() == e.Post() {
				return item.Entry, nil
			}
		}
		if page.Next == 0 {
			break
		}
		want = Range{Before: page.Next, Limit: entriesAtOnce}
	}
	return Entry{}, nil
}

// repost returns the newest repost of a post that is shown, and how many others there are.
func (w *why) repost(ctx context.Context, p *post.Post) (newest event.Event, others int, err error) {
	part := repo.IDRange{Limit: repostsAtOnce}
	for range maxReposts / repostsAtOnce {
		found, err := w.reposts.Reactors(ctx, p.ID, post.Repost, part)
		if err != nil || len(found) == 0 {
			return newest, others, err
		}
		part.Before = found[len(found)-1].ID
		events := make([]event.Event, len(found))
		accounts := make([]uint64, len(found))
		for i, f := range found {
			events[i], accounts[i] = event.Event{ID: f.ID, Author: f.Account, Origin: p.ID}, f.Account
		}
		if err := w.relate(ctx, accounts); err != nil {
			return newest, others, err
		}
		var ids []uint64
		for i, v := range w.viewer.Sift(events) {
			if v != Gone {
				ids = append(ids, events[i].ID)
			}
		}
		posts, origins, err := w.load(ctx, ids)
		if err != nil {
			return newest, others, err
		}
		for i := range posts {
			switch e := posts[i].Event(); {
			case w.viewer.Judge(e, &posts[i], origins[p.ID]) != Stands:
			case newest.ID == 0:
				newest = e
			default:
				others++
			}
		}
	}
	return newest, others, nil
}
