package relation

import (
	"context"

	"kith/app"
	"kith/repo/list"
)

// Range says which part of a list a page shall show. The zero Range is the
// first page with no entry.
type Range = list.Range

// Page is a part of a list, newest first.
type Page struct {
	People []Person
	// First and Last are the places of the newest and oldest entry that the page
	// covers, entries left out for the viewer included; zero when it is empty.
	First, Last list.Cursor
	// Full says that the page covers as many entries as were asked for.
	Full bool
}

// Person is one entry of a page.
type Person struct {
	ID         uint64
	MutedUntil uint32 // for mutes, unix seconds, 0: no end
}

// Followers, Following and Friends show the list of owner to viewer (0 for
// somebody who is not signed in). Who blocks or is blocked by the viewer is
// left out, and an owner who blocks the viewer shows nothing.

// Followers returns a page of those who follow owner, newest follow first.
func (s *Service) Followers(ctx context.Context, viewer, owner uint64, r Range) (Page, error) {
	return s.shown(ctx, viewer, owner, list.ByFollower, r)
}

// Following returns a page of those whom owner follows, newest follow first.
func (s *Service) Following(ctx context.Context, viewer, owner uint64, r Range) (Page, error) {
	return s.shown(ctx, viewer, owner, list.ByFollowing, r)
}

// Friends returns a page of those who follow owner and are followed by owner,
// newest friendship first.
func (s *Service) Friends(ctx context.Context, viewer, owner uint64, r Range) (Page, error) {
	return s.shown(ctx, viewer, owner, list.ByFriend, r)
}

// Blocks returns a page of those whom owner blocks, newest first.
func (s *Service) Blocks(ctx context.Context, owner uint64, r Range) (Page, error) {
	return s.page(ctx, owner, list.ByBlocking, r)
}

// Requests returns a page of those who ask to follow owner, newest first.
func (s *Service) Requests(ctx context.Context, owner uint64, r Range) (Page, error) {
	return s.page(ctx, owner, list.ByRequest, r)
}

// RequestCount tells how many ask to follow owner.
func (s *Service) RequestCount(ctx context.Context, owner uint64) (int, error) {
	v, err := s.view(ctx, owner)
	return v.Len(list.Requests), err
}

// Mutes returns a page of those whom owner mutes, newest first; mutes that
// have ended are left out.
func (s *Service) Mutes(ctx context.Context, owner uint64, r Range) (Page, error) {
	p, err := s.page(ctx, owner, list.ByMuting, r)
	if err != nil || len(p.People) == 0 {
		return p, err
	}
	v, err := s.view(ctx, owner)
	if err != nil {
		return p, err
	}
	now := s.now()
	kept := p.People[:0]
	for _, person := range p.People {
		o, _, err := v.Option(person.ID)
		if err != nil {
			return p, app.From(err)
		}
		if o.MuteUntil == 0 || o.MuteUntil > now {
			kept = append(kept, Person{ID: person.ID, MutedUntil: o.MuteUntil})
		}
	}
	p.People = kept
	return p, nil
}

func (s *Service) shown(ctx context.Context, viewer, owner uint64, o list.Order, r Range) (Page, error) {
	found, err := s.cfg.Accounts.Show(ctx, []uint64{owner})
	if err != nil {
		return Page{}, app.From(err)
	}
	if found[0].Ver == 0 {
		return Page{}, errNobody
	}
	if viewer == 0 || viewer == owner {
		return s.page(ctx, owner, o, r)
	}
	return s.shownTo(ctx, viewer, owner, o, r)
}

func (s *Service) shownTo(ctx context.Context, viewer, owner uint64, o list.Order, r Range) (Page, error) {
	r = bound(r)
	v, entries, err := s.cfg.Rows.PageFor(ctx, viewer, owner, o, r)
	if err != nil {
		return Page{}, app.From(err)
	}
	if v.Rel(owner)&list.IsBlockedBy != 0 {
		return Page{}, nil
	}
	p := pageOf(entries, r)
	if v.Len(list.Blocking)+v.Len(list.BlockedBy) == 0 {
		return p, nil
	}
	p = p.without(v)
	if len(p.People) == 0 && p.Full { // clients take an empty page for the last
		return s.shownTo(ctx, viewer, owner, o, beyond(r, p))
	}
	return p, nil
}

// beyond is the range after a page.
func beyond(r Range, p Page) Range {
	if r.Oldest {
		r.After = p.First
	} else {
		r.Before = p.Last
	}
	return r
}

// without leaves out who blocks or is blocked by the owner of v.
func (p Page) without(v list.View) Page {
	kept := p.People[:0]
	for _, person := range p.People {
		if v.Rel(person.ID)&(list.IsBlocking|list.IsBlockedBy) == 0 {
			kept = append(kept, person)
		}
	}
	p.People = kept
	return p
}

func (s *Service) page(ctx context.Context, owner uint64, o list.Order, r Range) (Page, error) {
	r = bound(r)
	entries, err := s.cfg.Rows.Page(ctx, owner, o, r)
	if err != nil {
		return Page{}, app.From(err)
	}
	return pageOf(entries, r), nil
}

func bound(r Range) Range {
	r.Limit = min(max(r.Limit, 0), MaxPage)
	return r
}

func pageOf(entries []list.Entry, r Range) Page {
	p := Page{Full: r.Limit > 0 && len(entries) == r.Limit, People: make([]Person, len(entries))}
	for i, e := range entries {
		p.People[i].ID = e.ID
	}
	if n := len(entries); n > 0 {
		p.First, p.Last = cursorOf(entries[0]), cursorOf(entries[n-1])
	}
	return p
}

func cursorOf(e list.Entry) list.Cursor { return list.Cursor{Time: e.Time, ID: e.ID} }
