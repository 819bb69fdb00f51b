package post

import (
	"cmp"
	"context"
	"slices"

	"kith/app"
	"kith/repo"
	"kith/repo/event"
	"kith/repo/mark"
)

// Filter says which of an account's posts are wanted.
type Filter struct {
	NoReplies bool // replies to others are left out, those to the account's own posts stay
	NoReposts bool
	OnlyMedia bool
	Tag       string // only posts with it
	Pinned    bool   // only pinned ones, all of them
}

func (f *Filter) takes(v *View) bool {
	p := v.Shown()
	switch {
	case f.NoReplies && v.Origin == nil && p.ReplyTo != 0 && p.ReplyWho != p.Author,
		f.NoReposts && v.Origin != nil,
		f.OnlyMedia && (v.Origin != nil || len(p.Media) == 0),
		f.Tag != "" && (v.Origin != nil || !hasTag(p.Text, f.Tag)):
		return false
	}
	return true
}

// maxScanned is how many events of an account a page looks at. A page that finds too few among
// them ends there, perhaps empty, and the next goes on behind them.
const maxScanned = 2000

// Of returns a part of an account's posts and reposts that viewer may see, newest first.
func (s *Service) Of(ctx context.Context, viewer, author uint64, f Filter, r repo.IDRange) (Page, error) {
	if f.Pinned {
		return s.pinned(ctx, viewer, author)
	}
	row, err := s.cfg.Feeds.Row(ctx, author)
	if err != nil {
		return Page{}, app.From(err)
	}
	var page Page
	for scanned, end := 0, false; !end && len(page.Views) < r.Limit; {
		if scanned >= maxScanned {
			page.Full = true
			page.reach(r)
			return page, nil
		}
		part := r
		part.Limit = max(2*(r.Limit-len(page.Views)), 20)
		events, err := s.cfg.Feeds.Events(ctx, row, part)
		if err != nil {
			return Page{}, app.From(err)
		}
		if len(events) == 0 {
			break
		}
		scanned += len(events)
		if err := s.take(ctx, viewer, &f, r, events, &page); err != nil {
			return Page{}, err
		}
		end = len(events) < part.Limit
		if r.Oldest {
			r.After = events[0].ID
		} else {
			r.Before = events[len(events)-1].ID
		}
	}
	page.Full = len(page.Views) == r.Limit
	return page, nil
}

// reach has a page cover all that was looked at, of which r is what is left.
func (p *Page) reach(r repo.IDRange) {
	if r.Oldest {
		p.First, p.Last = r.After, cmp.Or(p.Last, r.After)
	} else {
		p.First, p.Last = cmp.Or(p.First, r.Before), r.Before
	}
}

// take adds those of events that are wanted to a page, until it is full.
func (s *Service) take(ctx context.Context, viewer uint64, f *Filter, r repo.IDRange, events []event.Event, page *Page) error {
	ids := make([]uint64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	views, err := s.Views(ctx, viewer, ids)
	if err != nil {
		return err
	}
	var taken []View
	for i := range views {
		at := i
		if r.Oldest {
			at = len(views) - 1 - i
		}
		if len(page.Views)+len(taken) < r.Limit && f.takes(&views[at]) {
			taken = append(taken, views[at])
		}
	}
	if r.Oldest {
		slices.Reverse(taken)
		page.Views = append(taken, page.Views...)
	} else {
		page.Views = append(page.Views, taken...)
	}
	if n := len(page.Views); n > 0 {
		page.First, page.Last = page.Views[0].Post.ID, page.Views[n-1].Post.ID
	}
	return nil
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
