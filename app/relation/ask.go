package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// Bounds of one question.
const (
	MaxRelationships = 100
	MaxFamiliar      = 40
	MaxPage          = 80
	// familiarShown is how many accounts are named for each of the asked.
	familiarShown = 40
)

// Relationships tells what each of ids is to the viewer, in the order asked,
// each once; ids that belong to nobody are left out.
func (s *Service) Relationships(ctx context.Context, viewer uint64, ids []uint64) ([]Relationship, error) {
	return s.relationships(ctx, viewer, ids, s.known)
}

// relationships leaves out whom known does not know.
func (s *Service) relationships(ctx context.Context, viewer uint64, ids []uint64, known func(context.Context, []uint64, []list.Rel) ([]bool, error)) ([]Relationship, error) {
	ids, err := bounded(ids, MaxRelationships)
	if err != nil {
		return nil, err
	}
	rels, v, err := s.cfg.Rows.Rels(ctx, viewer, ids)
	if err != nil {
		return nil, app.From(err)
	}
	there, err := known(ctx, ids, rels)
	if err != nil {
		return nil, err
	}
	now := s.now()
	out := make([]Relationship, 0, len(ids))
	for i, id := range ids {
		if !there[i] {
			continue
		}
		o, err := option(v, id, rels[i])
		if err != nil {
			return nil, err
		}
		out = append(out, describe(id, rels[i], o, now))
	}
	return out, nil
}

// known tells which ids exist: whoever stands in a list does, the others are
// asked for.
func (s *Service) known(ctx context.Context, ids []uint64, rels []list.Rel) ([]bool, error) {
	known := make([]bool, len(ids))
	var strangers []uint64
	var at []int
	for i, id := range ids {
		if known[i] = rels[i]&^list.HasOption != 0; !known[i] {
			strangers, at = append(strangers, id), append(at, i)
		}
	}
	if len(strangers) == 0 {
		return known, nil
	}
	found, err := s.cfg.Accounts.Show(ctx, strangers)
	if err != nil {
		return nil, app.From(err)
	}
	for i, a := range found {
		known[at[i]] = a.Ver > 0
	}
	return known, nil
}

func option(v list.View, id uint64, rel list.Rel) (list.Option, error) {
	if rel&list.HasOption == 0 {
		return list.Option{}, nil
	}
	o, _, err := v.Option(id)
	if err != nil {
		return o, app.From(err)
	}
	return o, nil
}

// bounded returns ids without repeats, or a refusal of too many.
func bounded(ids []uint64, most int) ([]uint64, error) {
	if len(ids) > most {
		return nil, app.Refuse(app.Unprocessable, fmt.Sprintf("Too many ids: at most %d can be asked for at once", most))
	}
	out := make([]uint64, 0, len(ids))
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

func (s *Service) view(ctx context.Context, id uint64) (list.View, error) {
	row, err := s.cfg.Rows.Row(ctx, id)
	if err != nil {
		return list.View{}, app.From(err)
	}
	v, err := row.View()
	if err != nil {
		return v, app.From(err)
	}
	return v, nil
}

// Counts returns the true counts of ids.
func (s *Service) Counts(ctx context.Context, ids []uint64) ([]relation.Counts, error) {
	counts, err := s.cfg.Rows.Counts(ctx, ids)
	return counts, app.From(err)
}

// Familiar is one account asked about and the followers of it that the viewer
// follows.
type Familiar struct {
	ID       uint64
	Accounts []uint64
}

// FamiliarFollowers tells for each of ids which of its followers the viewer
// follows, 40 at most. Ids that belong to nobody are left out.
func (s *Service) FamiliarFollowers(ctx context.Context, viewer uint64, ids []uint64) ([]Familiar, error) {
	ids, err := bounded(ids, MaxFamiliar)
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Accounts.Show(ctx, ids)
	if err != nil {
		return nil, app.From(err)
	}
	ids = ids[:0]
	for _, a := range found {
		if a.Ver > 0 {
			ids = append(ids, a.ID)
		}
	}
	v, err := s.view(ctx, viewer)
	if err != nil {
		return nil, err
	}
	mine := v.AppendIDs(nil, list.ByFollowing)
	out := make([]Familiar, len(ids))
	for i, id := range ids {
		if out[i], err = s.familiar(ctx, id, mine); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) familiar(ctx context.Context, id uint64, mine []uint64) (Familiar, error) {
	f := Familiar{ID: id}
	rels, err := s.cfg.Rows.Followers(ctx, id, mine)
	if err != nil {
		return f, app.From(err)
	}
	for i, m := range mine {
		if rels[i]&list.IsFollower != 0 && len(f.Accounts) < familiarShown {
			f.Accounts = append(f.Accounts, m)
		}
	}
	return f, nil
}
