package api

import (
	"context"

	"kith/app/relation"
)

// shown answers with a page of somebody's list.
func (s *Server) shown(page func(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)) handler {
	return func(ctx context.Context, c *call) error {
		id, err := c.pathID()
		if err != nil {
			return err
		}
		return s.page(ctx, c, appendAccount, func(r relation.Range) (relation.Page, error) {
			return page(ctx, c.account(), id, r)
		})
	}
}

// own answers with a page of one of the caller's own lists.
func (s *Server) own(page func(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error), write func([]byte, person) []byte) handler {
	return func(ctx context.Context, c *call) error {
		return s.page(ctx, c, write, func(r relation.Range) (relation.Page, error) {
			return page(ctx, c.account(), r)
		})
	}
}

func (s *Server) page(ctx context.Context, c *call, write func([]byte, person) []byte, load func(relation.Range) (relation.Page, error)) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	r, err := q.pageRange()
	if err != nil {
		return err
	}
	p, err := load(r)
	if err != nil {
		return err
	}
	found, err := s.peopleOf(ctx, c, p)
	if err != nil {
		return err
	}
	c.link(r.Limit, p)
	return c.render(func(b []byte) []byte { return appendArray(b, found, write) })
}

// peopleOf loads the people of a page.
func (s *Server) peopleOf(ctx context.Context, c *call, p relation.Page) ([]person, error) {
	ids := make([]uint64, len(p.People))
	for i, one := range p.People {
		ids[i] = one.ID
	}
	found, err := s.people(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	at := 0
	for i := range found {
		for p.People[at].ID != found[i].account.ID {
			at++
		}
		found[i].mutedUntil = p.People[at].MutedUntil
	}
	return found, nil
}
