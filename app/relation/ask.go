package relation

import (
	"context"
	"fmt"
	"slices"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// Bounds of one request.
const (
	MaxRelationships = 100
	MaxFamiliar      = 40
	MaxPage          = 80
)

// What FamiliarFollowers reads and shows.
const (
	familiarMine  = 1000
	familiarShown = 40
	familiarInAll = 160
	familiarBytes = 1 << 20
)

// Relationships returns what each of ids is to the viewer, in the order asked,
// each once; unknown accounts are left out.
func (s *Service) Relationships(ctx context.Context, viewer uint64, ids []uint64) ([]Relationship, error) {
	return s.relationships(ctx, viewer, ids, false)
}

// relationships does not ask which accounts exist where exist is set: an edit has read
// that, and questions may get an older answer.
func (s *Service) relationships(ctx context.Context, viewer uint64, ids []uint64, exist bool) ([]Relationship, error) {
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
	var strangers []uint64 // who is in a list exists
	for i, id := range ids {
		if rels[i]&^list.HasOption == 0 && !exist {
			strangers = append(strangers, id)
		}
	}
	unknown := map[uint64]bool{}
	if len(strangers) > 0 {
		found, err := s.cfg.Accounts.Show(ctx, strangers)
		if err != nil {
			return nil, app.From(err)
		}
		for i, a := range found {
			unknown[strangers[i]] = a.Ver == 0
		}
	}
	now, out, noted := uint32(s.cfg.Now().Unix()), make([]Relationship, 0, len(ids)), []uint64(nil)
	for i, id := range ids {
		if unknown[id] {
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

// Familiar is an account that was asked about, and those of its followers that the
// viewer follows.
type Familiar struct {
	ID       uint64
	Accounts []uint64
}

// FamiliarFollowers returns for each of ids which of its followers the viewer
// follows. Unknown accounts are left out, and who blocks the viewer has
// none. It is an answer to show, not a count: it looks at the newest 1,000 whom the
// viewer follows and at the followers in the rows of those asked about, not in
// their archives, names 40 for one account and 160 in all, and of long rows reads
// 1 MiB together; those asked about after that have none.
func (s *Service) FamiliarFollowers(ctx context.Context, viewer uint64, ids []uint64) (out []Familiar, err error) {
	defer func() { err = app.From(err) }()
	if ids, err = bounded(ids, MaxFamiliar); err != nil {
		return nil, err
	}
	found, err := s.cfg.Accounts.Show(ctx, ids)
	if err != nil {
		return nil, err
	}
	ids = ids[:0]
	for _, a := range found {
		if a.Ver > 0 {
			ids = append(ids, a.ID)
		}
	}
	row, err := s.cfg.Rows.Row(ctx, viewer)
	if err != nil {
		return nil, err
	}
	blocked, _, err := s.cfg.Rows.Rels(ctx, row, ids, list.IsBlockedBy)
	if err != nil {
		return nil, err
	}
	v, err := row.View()
	if err != nil {
		return nil, err
	}
	newest, _, err := v.Page(list.ByFollowing, list.Range{Limit: familiarMine}, nil)
	mine, rels := make([]uint64, len(newest)), make([]list.Rel, len(newest))
	for i, e := range newest {
		mine[i] = e.ID
	}
	out = make([]Familiar, len(ids))
	most, room := min(familiarShown, familiarInAll/max(1, len(ids))), familiarBytes
	for i, id := range ids {
		out[i].ID = id
		if err != nil || blocked[i]&list.IsBlockedBy != 0 || room <= 0 || len(mine) == 0 {
			continue
		}
		if row, err = s.cfg.Rows.Row(ctx, id); err == nil {
			v, err = row.View()
		}
		if err != nil {
			break
		}
		room -= len(row.List)
		v.Rels(mine, rels)
		for j, m := range mine {
			if rels[j]&list.IsFollower != 0 && len(out[i].Accounts) < most {
				out[i].Accounts = append(out[i].Accounts, m)
			}
		}
	}
	return out, err
}
