package affinity

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"kith/app"
	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/row"
)

// Service orders friends. It is safe for concurrent use.
type Service struct {
	rows      *affinity.Store
	relations *relation.Store
}

// NewService makes a Service.
func NewService(rows *affinity.Store, relations *relation.Store) *Service {
	return &Service{rows: rows, relations: relations}
}

// maxPage is the longest page.
const maxPage = 80

// Page is a part of the friends of an account in the order of affinity.
type Page struct {
	IDs  []uint64
	Next Cursor // where the next page begins
	Full bool   // there are as many as were asked for, so more may follow
}

func (p *Page) add(id uint64, next Cursor) { p.IDs, p.Next = append(p.IDs, id), next }

// Friends returns the owner's friends after a cursor, closest first. Only the owner may
// see this order.
func (s *Service) Friends(ctx context.Context, owner uint64, after Cursor, limit int) (Page, error) {
	if limit = min(limit, maxPage); limit <= 0 {
		return Page{}, nil
	}
	p, err := s.friends(ctx, owner, after, limit)
	return p, app.From(err)
}

func (s *Service) friends(ctx context.Context, owner uint64, after Cursor, limit int) (p Page, err error) {
	row, after, err := s.orderOf(ctx, owner, after)
	if err != nil {
		return p, err
	}
	own, err := s.relations.Row(ctx, owner)
	if err != nil {
		return p, err
	}
	scored, err := friendsAmong(row.Entries, own)
	if err != nil {
		return p, err
	}
	for rank, e := range row.Entries {
		if scored[e.ID] && len(p.IDs) < limit && after.part != unscored && (after.part == 0 || rank > int(after.n)) {
			p.add(e.ID, Cursor{part: ranked, ver: row.Ver, n: uint32(rank), id: e.ID})
		}
	}
	if want := limit - len(p.IDs); want > 0 {
		var from list.Cursor
		if after.part == unscored {
			from = list.Cursor{Time: after.n, ID: after.id}
		}
		// The page may contain all the scored: it is longer by their number.
		entries, err := s.relations.Page(ctx, own, list.ByFriend, list.Range{Before: from, Limit: want + len(scored)})
		if err != nil {
			return Page{}, err
		}
		for _, e := range entries {
			if len(p.IDs) < limit && !scored[e.ID] {
				p.add(e.ID, Cursor{part: unscored, ver: row.Ver, n: e.Time, id: e.ID})
			}
		}
	}
	if p.Full = len(p.IDs) == limit; p.Full && after.ver != row.Ver {
		s.rows.Keep(ctx, row)
	}
	return p, nil
}

// orderOf returns the affinity row that orders a page, and the cursor in that row.
func (s *Service) orderOf(ctx context.Context, owner uint64, after Cursor) (affinity.Row, Cursor, error) {
	if after.part != 0 && after.ver == 0 { // no friend had a score
		return affinity.Row{Meta: row.Meta{ID: owner}}, after, nil
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
	if at := slices.IndexFunc(row.Entries, func(e affinity.Entry) bool { return e.ID == after.id }); at >= 0 && after.part == ranked {
		after.n = uint32(at)
	}
	return row, after, nil
}

// friendsAmong returns which of the scored are friends in the list of a row.
func friendsAmong(scored []affinity.Entry, own relation.Row) (map[uint64]bool, error) {
	v, err := own.View()
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, len(scored))
	for i, e := range scored {
		ids[i] = e.ID
	}
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	const friend = list.IsFollowing | list.IsFollower
	out := make(map[uint64]bool, len(ids))
	for i, id := range ids {
		if rels[i]&friend == friend {
			out[id] = true
		}
	}
	return out, nil
}

// Cursor is where a page of friends by affinity ends and the next one begins; the zero
// Cursor is the beginning. The package doc says what its text means.
type Cursor struct {
	part byte // ranked, unscored, or 0: the beginning
	ver  uint64
	n    uint32 // the rank of the account, or the time of the friendship
	id   uint64
}

const (
	ranked   = 's'
	unscored = 'r'
)

// String writes a cursor as it stands in a link.
func (c Cursor) String() string {
	return string(c.part) + strconv.FormatUint(c.ver, 36) + "-" + strconv.FormatUint(uint64(c.n), 10) + "-" + strconv.FormatUint(c.id, 10)
}

// ParseCursor reads what String wrote, and nothing else.
func ParseCursor(s string) (Cursor, bool) {
	if len(s) == 0 || s[0] != ranked && s[0] != unscored {
		return Cursor{}, false
	}
	ver, rest, _ := strings.Cut(s[1:], "-")
	rank, id, _ := strings.Cut(rest, "-")
	c := Cursor{part: s[0]}
	c.ver, _ = strconv.ParseUint(ver, 36, 64)
	n, _ := strconv.ParseUint(rank, 10, 32)
	c.n = uint32(n)
	c.id, _ = strconv.ParseUint(id, 10, 63)
	return c, c.id > 0 && c.String() == s
}
