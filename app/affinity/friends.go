package affinity

import (
	"context"
	"errors"
	"slices"

	"kith/app"
	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/list"
	"kith/repo/relation"
)

// Relations answers questions about relation rows.
type Relations interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	Page(ctx context.Context, row relation.Row, o list.Order, r list.Range) ([]list.Entry, error)
}

var _ Relations = (*relation.Store)(nil)

// Service orders friends. It is safe for concurrent use.
type Service struct {
	rows      Rows
	relations Relations
}

// NewService makes a Service.
func NewService(rows Rows, relations Relations) *Service {
	return &Service{rows: rows, relations: relations}
}

// MaxPage is the longest page.
const MaxPage = 80

// Page is a part of the friends of an account in the order of affinity.
type Page struct {
	IDs  []uint64
	Next Cursor // where to go on
	Full bool   // there are as many as were asked for, so more may follow
}

// Friends returns the owner's friends that come after a cursor, nearest first.
// It is for the owner's eyes only.
func (s *Service) Friends(ctx context.Context, owner uint64, after Cursor, limit int) (Page, error) {
	limit = min(max(limit, 0), MaxPage)
	if limit == 0 {
		return Page{}, nil
	}
	row, after, err := s.orderOf(ctx, owner, after)
	if err != nil {
		return Page{}, app.From(err)
	}
	near, err := s.scoredFriends(ctx, owner, row)
	if err != nil {
		return Page{}, app.From(err)
	}
	var p Page
	if after.part != others {
		p.takeScored(near, row.Ver, after, limit)
	}
	if len(p.IDs) < limit {
		if err := s.takeOthers(ctx, owner, near, row.Ver, after, limit, &p); err != nil {
			return Page{}, app.From(err)
		}
	}
	if p.Full = len(p.IDs) == limit; p.Full && after.ver != row.Ver {
		s.rows.Keep(ctx, row)
	}
	return p, nil
}

// ranked is a friend with its rank in the affinity row.
type ranked struct {
	id   uint64
	rank uint32
}

// orderOf returns the affinity row in whose order a page stands, and the cursor
// as it reads in that row.
func (s *Service) orderOf(ctx context.Context, owner uint64, after Cursor) (affinity.Row, Cursor, error) {
	if after.part != 0 && after.ver == 0 { // nobody had a score
		return affinity.Row{AccountID: owner}, after, nil
	}
	row, err := s.rows.Row(ctx, owner)
	if err != nil || after.part == 0 || after.ver == row.Ver {
		return row, after, err
	}
	kept, err := s.rows.Kept(ctx, owner, after.ver)
	if err == nil {
		return kept, after, nil
	}
	if !errors.Is(err, repo.ErrNotFound) {
		return row, after, err
	}
	if at := slices.IndexFunc(row.Entries, func(e affinity.Entry) bool { return e.ID == after.id }); at >= 0 && after.part == scored {
		after.n = uint32(at)
	}
	return row, after, nil
}

// scoredFriends returns those of the row who are friends at hand, in its order.
func (s *Service) scoredFriends(ctx context.Context, owner uint64, row affinity.Row) ([]ranked, error) {
	out := []ranked{}
	if len(row.Entries) == 0 {
		return out, nil
	}
	own, err := s.relations.Row(ctx, owner)
	if err != nil {
		return nil, err
	}
	v, err := own.View()
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, len(row.Entries))
	for i, e := range row.Entries {
		ids[i] = e.ID
	}
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	const friend = list.IsFollowing | list.IsFollower
	for i, id := range ids {
		if rels[i]&friend == friend {
			out = append(out, ranked{id, uint32(i)})
		}
	}
	return out, nil
}

// takeScored adds scored friends that come after the cursor.
func (p *Page) takeScored(near []ranked, ver uint64, after Cursor, limit int) {
	for _, r := range near {
		if len(p.IDs) == limit {
			return
		}
		if after.part == 0 || r.rank > after.n {
			p.IDs = append(p.IDs, r.id)
			p.Next = Cursor{part: scored, ver: ver, n: r.rank, id: r.id}
		}
	}
}

// takeOthers fills the page with friends without a score, newest first. One page
// of the list that is longer by the number of the scored has enough of them.
func (s *Service) takeOthers(ctx context.Context, owner uint64, near []ranked, ver uint64, after Cursor, limit int, p *Page) error {
	known := make(map[uint64]bool, len(near))
	for _, r := range near {
		known[r.id] = true
	}
	want := limit - len(p.IDs)
	row, err := s.relations.Row(ctx, owner)
	if err != nil {
		return err
	}
	entries, err := s.relations.Page(ctx, row, list.ByFriend, list.Range{Before: after.place(), Limit: want + len(near)})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(p.IDs) < limit && !known[e.ID] {
			p.IDs = append(p.IDs, e.ID)
			p.Next = Cursor{part: others, ver: ver, n: e.Time, id: e.ID}
		}
	}
	return nil
}
