package post

import (
	"context"

	"kith/app"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/feed"
	"kith/repo/mark"
	"kith/repo/post"
)

// Filter says which of an account's posts are wanted.
type Filter struct {
	NoReplies bool // replies to others are left out, those to the account's own posts stay
	NoReposts bool
	OnlyMedia bool
	Tag       string // only posts with it
	Pinned    bool   // only pinned ones, all of them
}

// noReposts reports whether no repost is wanted.
func (f *Filter) noReposts() bool { return f.NoReposts || f.OnlyMedia || f.Tag != "" }

func (f *Filter) takes(v *View) bool {
	p := v.Shown()
	switch {
	case f.NoReplies && v.Origin == nil && p.ReplyTo != 0 && p.ReplyWho != p.Author,
		f.noReposts() && v.Origin != nil,
		f.OnlyMedia && len(p.Media) == 0,
		f.Tag != "" && !hasTag(p.Text, f.Tag):
		return false
	}
	return true
}

// How far a page of an account looks for posts that are wanted and seen: the newest through
// their feed and the cache, further ones through columns of their rows. A page that ends
// there before it is full links to the next.
const (
	maxLoaded = 100
	minWindow = 1000 // rows at once, first; then three times what was passed
	maxPassed = 20_000
)

// Of returns a part of an account's posts and reposts that viewer may see, newest first.
func (s *Service) Of(ctx context.Context, viewer, author uint64, f Filter, r repo.IDRange) (Page, error) {
	if f.Pinned {
		return s.pinned(ctx, viewer, author)
	}
	row, err := s.cfg.Feeds.Row(ctx, author)
	if err != nil {
		return Page{}, app.From(err)
	}
	w := profile{Service: s, row: row, viewer: viewer, filter: f}
	found, place, err := fill(r, func(r Range) (part[uint64], error) {
		p, err := w.next(ctx, r)
		return p, app.From(err)
	}, views(ctx, s, viewer, func(id uint64) (at, post uint64) { return id, id }, f.takes))
	return Page{found, place}, err
}

// profile walks the events of an account for one page.
type profile struct {
	*Service
	row    feed.Row
	viewer uint64
	filter Filter

	loaded int
	wanted *post.Wanted // what sifting looks for, nil: it has not begun
	passed int          // events that it has looked at, or may in this window
	window bool         // it is in a window of events
	bound  uint64       // the last event of that, 0: it reaches all that there are
}

// next returns the ids of events that may be wanted.
func (w *profile) next(ctx context.Context, r Range) (part[uint64], error) {
	if w.loaded >= maxLoaded {
		return w.sift(ctx, r)
	}
	if w.filter != (Filter{}) {
		r.Limit = max(2*r.Limit, 20)
	}
	events, err := w.cfg.Feeds.Events(ctx, w.row, r)
	if err != nil {
		return part[uint64]{}, err
	}
	w.loaded += len(events)
	p := part[uint64]{reached: partOf(events, r, func(e event.Event) uint64 { return e.ID }).reached}
	for _, e := range events {
		if e.Origin == 0 || !w.filter.noReposts() {
			p.entries = append(p.entries, e.ID)
		}
	}
	return p, nil
}

// sift looks at rows only, at maxPassed of them for the page.
func (w *profile) sift(ctx context.Context, r Range) (part[uint64], error) {
	if w.wanted == nil {
		rels, _, err := w.relate(ctx, w.viewer, []uint64{w.row.ID}, seenBits)
		if err != nil || blocked(rels[w.row.ID]) {
			return part[uint64]{}, err
		}
		f := &w.filter
		w.wanted = &post.Wanted{NoReplies: f.NoReplies, NoReposts: f.noReposts(), Details: f.OnlyMedia, Tagged: f.Tag != "", Visibility: narrowest(w.viewer, w.row.ID, rels[w.row.ID])}
	}
	if !w.window {
		var err error
		n := min(max(minWindow, 3*w.passed), maxPassed-w.passed)
		if w.bound, err = w.cfg.Posts.Nth(ctx, w.row.ID, r, n); err != nil {
			return part[uint64]{}, err
		}
		w.window, w.passed = true, w.passed+n
	}
	if r.Oldest && w.bound != 0 {
		r.Before = min(r.Below(), w.bound+1)
	} else if w.bound != 0 {
		r.After = max(r.After, w.bound-1)
	}
	ids, err := w.cfg.Posts.Sift(ctx, w.row.ID, *w.wanted, r)
	p := partOf(ids, r, func(id uint64) uint64 { return id })
	if p.reached == 0 && w.bound != 0 {
		p.reached, p.spent, w.window = w.bound, w.passed >= maxPassed, false
	}
	return p, err
}

// pinned returns the posts that an account pinned, the last pinned first.
func (s *Service) pinned(ctx context.Context, viewer, author uint64) (Page, error) {
	marks, err := s.cfg.Marks.Page(ctx, author, mark.Pin, repo.IDRange{Limit: mark.MaxPins})
	if err != nil {
		return Page{}, app.From(err)
	}
	ids := make([]uint64, len(marks))
	for i, m := range marks {
		ids[i] = m.Post
	}
	views, err := s.Views(ctx, viewer, ids)
	return Page{Views: views}, err
}

// Counts is what is shown of an account's posts.
type Counts struct {
	Statuses uint32
	Last     int64 // unix milliseconds of the newest post, 0: none
}

// Counts returns the counts of accounts, in their order.
func (s *Service) Counts(ctx context.Context, ids []uint64) ([]Counts, error) {
	rows, err := s.cfg.Feeds.Heads(ctx, ids)
	if err != nil {
		return nil, app.From(err)
	}
	out := make([]Counts, len(rows))
	for i := range rows {
		out[i].Statuses = rows[i].Statuses
		if id := rows[i].Newest; id != 0 {
			out[i].Last = event.Time(id).UnixMilli()
		}
	}
	return out, nil
}
