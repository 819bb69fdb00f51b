package api

import (
	"context"
	"strings"

	"kith/app/relation"
)

// maxAccounts is how many accounts one question may name.
const maxAccounts = 40

// people loads accounts and their counts, in the order of ids. Accounts that
// do not exist are left out.
func (s *Server) people(ctx context.Context, c *call, ids []uint64) ([]person, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.cfg.Accounts.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	counts, err := s.cfg.Relations.Counts(ctx, ids)
	if err != nil {
		return nil, err
	}
	here := c.place()
	out := make([]person, 0, len(ids))
	for i := range found {
		if found[i].Ver > 0 {
			out = append(out, person{account: &found[i], counts: counts[i], place: here})
		}
	}
	return out, nil
}

// one loads a single account.
func (s *Server) one(ctx context.Context, c *call, id uint64) (person, error) {
	found, err := s.people(ctx, c, []uint64{id})
	if err == nil && len(found) == 0 {
		err = errNotFound
	}
	if err != nil {
		return person{}, err
	}
	return found[0], nil
}

// pathID returns the account that the path names.
func (c *call) pathID() (uint64, error) {
	id, ok := parseID(c.Param("id"))
	if !ok {
		return 0, errNotFound
	}
	return id, nil
}

func (s *Server) account(ctx context.Context, c *call) error {
	id, err := c.pathID()
	if err != nil {
		return err
	}
	return s.showOne(ctx, c, id)
}

func (s *Server) showOne(ctx context.Context, c *call, id uint64) error {
	p, err := s.one(ctx, c, id)
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendAccount(b, p) })
}

func (s *Server) accounts(ctx context.Context, c *call) error {
	ids, err := c.queryIDs(maxAccounts)
	if err != nil {
		return err
	}
	found, err := s.people(ctx, c, once(ids))
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendArray(b, found, appendAccount) })
}

func (c *call) queryIDs(most int) ([]uint64, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	return q.ids("id", most)
}

// once returns ids without repeats.
func once(ids []uint64) []uint64 {
	seen := make(map[uint64]bool, len(ids))
	out := ids[:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// lookup finds an account by name, with or without our domain after it.
func (s *Server) lookup(ctx context.Context, c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	name, domain, far := strings.Cut(strings.TrimPrefix(q.get("acct"), "@"), "@")
	if far && !strings.EqualFold(domain, c.domain()) {
		return errNotFound
	}
	a, err := s.cfg.Accounts.ByName(ctx, name)
	if err != nil {
		return err
	}
	return s.showOne(ctx, c, a.ID)
}

func (s *Server) verifyCredentials(ctx context.Context, c *call) error {
	me, err := s.one(ctx, c, c.account())
	if err != nil {
		return err
	}
	waiting, err := s.cfg.Relations.RequestCount(ctx, c.account())
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendCredential(b, me, waiting) })
}

func (s *Server) relationships(ctx context.Context, c *call) error {
	ids, err := c.queryIDs(relation.MaxRelationships)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return nothing(ctx, c)
	}
	found, err := s.cfg.Relations.Relationships(ctx, c.account(), ids)
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendArray(b, found, appendRelationship) })
}

func (s *Server) familiarFollowers(ctx context.Context, c *call) error {
	ids, err := c.queryIDs(relation.MaxFamiliar)
	if err != nil {
		return err
	}
	found, err := s.cfg.Relations.FamiliarFollowers(ctx, c.account(), ids)
	if err != nil {
		return err
	}
	named, err := s.namedIn(ctx, c, found)
	if err != nil {
		return err
	}
	out := make([]familiar, len(found))
	for i, f := range found {
		out[i].id = f.ID
		for _, id := range f.Accounts {
			if p, ok := named[id]; ok {
				out[i].people = append(out[i].people, p)
			}
		}
	}
	return c.render(func(b []byte) []byte { return appendArray(b, out, appendFamiliar) })
}

// namedIn loads everybody named in an answer, each once.
func (s *Server) namedIn(ctx context.Context, c *call, found []relation.Familiar) (map[uint64]person, error) {
	var ids []uint64
	for _, f := range found {
		ids = append(ids, f.Accounts...)
	}
	people, err := s.people(ctx, c, once(ids))
	if err != nil {
		return nil, err
	}
	named := make(map[uint64]person, len(people))
	for _, p := range people {
		named[p.account.ID] = p
	}
	return named, nil
}
