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
)

// What FamiliarFollowers looks at and shows.
const (
	familiarMine  = 1000
	familiarShown = 40
	familiarInAll = 160
	familiarBytes = 1 << 20
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
	row, err := s.cfg.Rows.Row(ctx, viewer)
	if err != nil {
		return nil, app.From(err)
	}
	rels, options, err := s.cfg.Rows.Rels(ctx, row, ids, relation.EveryRel)
	if err != nil {
		return nil, app.From(err)
	}
	there, err := known(ctx, ids, rels)
	if err != nil {
		return nil, err
	}
	now := s.now()
	out := make([]Relationship, 0, len(ids))
	var noted []uint64
	for i, id := range ids {
		if !there[i] {
			continue
		}
		var o list.Option
		if rels[i]&list.HasOption != 0 {
			if o, err = options.Of(id); err != nil {
				return nil, app.From(err)
			}
		}
		if o.Note {
			noted = append(noted, id)
		}
		out = append(out, describe(id, rels[i], o, now))
	}
	if len(noted) == 0 {
		return out, nil
	}
	notes, err := s.cfg.Rows.Notes(ctx, viewer, noted)
	for i := range out {
		out[i].Note = notes[out[i].ID]
	}
	return out, app.From(err)
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
// follows. Ids that belong to nobody are left out, and who blocks the viewer has
// none. It is an answer to show, not a count: it looks at the newest 1,000 whom the
// viewer follows and at the followers in the rows of those asked about, not in
// their archives, names 40 for one account and 160 in all, and of long rows reads
// 1 MiB together; those asked about after that have none.
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
	row, err := s.cfg.Rows.Row(ctx, viewer)
	if err != nil {
		return nil, app.From(err)
	}
	rels, _, err := s.cfg.Rows.Rels(ctx, row, ids, list.IsBlockedBy)
	if err != nil {
		return nil, app.From(err)
	}
	mine, err := newestFollowing(row)
	if err != nil {
		return nil, app.From(err)
	}
	out := make([]Familiar, len(ids))
	each, room := min(familiarShown, familiarInAll/max(1, len(ids))), familiarBytes
	for i, id := range ids {
		out[i].ID = id
		if rels[i]&list.IsBlockedBy != 0 || room <= 0 || len(mine) == 0 {
			continue
		}
		row, err := s.cfg.Rows.Row(ctx, id)
		if err != nil {
			return nil, app.From(err)
		}
		room -= len(row.List)
		if out[i].Accounts, err = familiar(row, mine, each); err != nil {
			return nil, app.From(err)
		}
	}
	return out, nil
}

// newestFollowing returns whom the owner of a row follows, as far as
// FamiliarFollowers looks at them.
func newestFollowing(row relation.Row) ([]uint64, error) {
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	page, _, err := v.Page(list.ByFollowing, list.Range{Limit: familiarMine}, nil)
	ids := make([]uint64, len(page))
	for i, e := range page {
		ids[i] = e.ID
	}
	return ids, err
}

// familiar returns up to most of those of mine who follow the owner of a row.
func familiar(row relation.Row, mine []uint64, most int) (out []uint64, err error) {
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	rels := make([]list.Rel, len(mine))
	v.Rels(mine, rels)
	for i, m := range mine {
		if rels[i]&list.IsFollower != 0 && len(out) < most {
			out = append(out, m)
		}
	}
	return out, nil
}
