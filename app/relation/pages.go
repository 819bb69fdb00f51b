package relation

import (
	"context"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// Range says which part of a list a page has. The zero Range is the first page, with no
// entry.
type Range = list.Range

// Cursor is the position of an entry in a list, where a page begins or ends. Clients get
// its String.
type Cursor = list.Cursor

// ParseCursor reads what Cursor.String wrote.
func ParseCursor(text string) (Cursor, error) { return list.ParseCursor(text) }

// Page is a part of a list, newest first.
type Page struct {
	People []Person
	// First and Last are the positions of the newest and oldest entry that the page
	// covers, entries left out for the viewer included; zero when it is empty.
	First, Last list.Cursor
	// Full says that the page covers as many entries as were asked for.
	Full bool
}

// Person is one entry of a page.
type Person struct {
	ID         uint64
	MutedUntil uint32 // for mutes, unix seconds, 0: no end

	position list.Cursor
}

func (p Page) ids() []uint64 {
	ids := make([]uint64, len(p.People))
	for i, person := range p.People {
		ids[i] = person.ID
	}
	return ids
}

// Followers returns a page of those who follow owner, newest follow first, as viewer (0:
// not signed in) may see it: who blocks or is blocked by the viewer is left out, and an
// owner who blocks the viewer shows nothing. Following and Friends do the same.
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

// RequestCount returns how many ask to follow owner.
func (s *Service) RequestCount(ctx context.Context, owner uint64) (int, error) {
	row, err := s.cfg.Rows.Row(ctx, owner)
	if err != nil {
		return 0, app.From(err)
	}
	n, _, err := row.Totals(list.Requests)
	return n, app.From(err)
}

// Mutes returns a page of those whom owner mutes, newest first; mutes that
// have ended are left out.
func (s *Service) Mutes(ctx context.Context, owner uint64, r Range) (Page, error) {
	row, err := s.cfg.Rows.Row(ctx, owner)
	if err != nil {
		return Page{}, app.From(err)
	}
	p, err := s.pageOf(ctx, row, list.ByMuting, bound(r))
	if err != nil || len(p.People) == 0 {
		return p, err
	}
	_, options, err := s.cfg.Rows.Rels(ctx, row, p.ids(), list.HasOption)
	if err != nil {
		return p, app.From(err)
	}
	kept, now := p.People[:0], uint32(s.cfg.Now().Unix())
	for _, person := range p.People {
		o, err := options.Of(person.ID)
		if err != nil {
			return p, app.From(err)
		}
		if !over(o, now) {
			kept = append(kept, Person{ID: person.ID, MutedUntil: o.MuteUntil})
		}
	}
	p.People = kept
	return p, nil
}

// How many entries in a row a page skips because the viewer blocks them or is blocked;
// then the page is empty, and links to the next. Blocks in the viewer's row cost next to
// nothing, archived ones a look-up.
const (
	maxSkipped         = 20_000
	maxSkippedArchived = 100
)

// shown returns a page of owner's list as viewer may see it.
func (s *Service) shown(ctx context.Context, viewer, owner uint64, o list.Order, r Range) (Page, error) {
	found, err := s.cfg.Accounts.Show(ctx, []uint64{owner})
	if err != nil {
		return Page{}, app.From(err)
	}
	if found[0].Ver == 0 {
		return Page{}, errUnknown
	}
	if viewer == 0 || viewer == owner {
		return s.page(ctx, owner, o, r)
	}
	rows, err := s.cfg.Rows.Rows(ctx, []uint64{viewer, owner})
	if err != nil {
		return Page{}, app.From(err)
	}
	mine, theirs, r := rows[0], rows[1], bound(r)
	blocks, archived, err := mine.Totals(list.Blocking, list.BlockedBy)
	if err != nil {
		return Page{}, app.From(err)
	}
	if blocks == 0 {
		return s.pageOf(ctx, theirs, o, r)
	}
	most, skip := r.Limit, maxSkipped
	if archived > 0 {
		skip = maxSkippedArchived
	}
	r.Limit = max(most, MaxPage/2) // small reads would be many
	for skipped := 0; ; {
		p, err := s.pageOf(ctx, theirs, o, r)
		if err != nil || len(p.People) == 0 {
			return p, err
		}
		skipped += len(p.People)
		if p, err = s.without(ctx, p, mine, owner); err != nil {
			return Page{}, err
		}
		p = p.cut(most, r.Oldest)
		if len(p.People) > 0 || !p.Full || skipped >= skip { // clients take an empty page for the last
			return p, nil
		}
		if r.Oldest {
			r.After = p.First
		} else {
			r.Before = p.Last
		}
		r.Limit = min(max(MaxPage, 4*r.Limit), skip*4/5, 4_000)
	}
}

// cut keeps at most so many people on a page: the newest, or the oldest where the page
// begins at the old end of a range. The others are on the next page.
func (p Page) cut(most int, oldest bool) Page {
	n := len(p.People)
	if n <= most {
		return p
	}
	p.Full = true
	if oldest {
		p.People = p.People[n-most:]
		p.First = p.People[0].position
	} else {
		p.People = p.People[:most]
		p.Last = p.People[most-1].position
	}
	return p
}

// without leaves out who blocks or is blocked by the viewer, whose row is given, and
// everybody where the owner of the list blocks the viewer.
func (s *Service) without(ctx context.Context, p Page, row relation.Row, owner uint64) (Page, error) {
	rels, _, err := s.cfg.Rows.Rels(ctx, row, append(p.ids(), owner), list.IsBlocking|list.IsBlockedBy)
	if err != nil {
		return p, app.From(err)
	}
	if rels[len(p.People)]&list.IsBlockedBy != 0 {
		return Page{}, nil
	}
	kept := p.People[:0]
	for i, person := range p.People {
		if rels[i]&(list.IsBlocking|list.IsBlockedBy) == 0 {
			kept = append(kept, person)
		}
	}
	p.People = kept
	return p, nil
}

func (s *Service) page(ctx context.Context, owner uint64, o list.Order, r Range) (Page, error) {
	row, err := s.cfg.Rows.Row(ctx, owner)
	if err != nil {
		return Page{}, app.From(err)
	}
	return s.pageOf(ctx, row, o, bound(r))
}

func bound(r Range) Range {
	r.Limit = min(max(r.Limit, 0), MaxPage)
	return r
}

func (s *Service) pageOf(ctx context.Context, row relation.Row, o list.Order, r Range) (Page, error) {
	entries, err := s.cfg.Rows.Page(ctx, row, o, r)
	if err != nil {
		return Page{}, app.From(err)
	}
	p := Page{Full: r.Limit > 0 && len(entries) == r.Limit, People: make([]Person, len(entries))}
	for i, e := range entries {
		p.People[i] = Person{ID: e.ID, position: e.Cursor()}
	}
	if n := len(entries); n > 0 {
		p.First, p.Last = entries[0].Cursor(), entries[n-1].Cursor()
	}
	return p, nil
}
