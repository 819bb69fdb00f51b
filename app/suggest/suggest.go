// Package suggest finds accounts that an account may want to follow: those that the
// people closest to it follow.
//
// The sources are up to 50 of the accounts it follows, those with the highest
// affinity and then the newest, each with up to its 200 newest followings:
//
//	weight(x) = sum over the sources f that follow x of 1 + s(f)
//
// where s is the affinity as of now. The best 100 are kept, in order and without
// their weights. So the work for one account is bounded: its own rows, 50 rows
// of others and at most 10,000 candidates.
//
// Left out are the account itself, those that it follows, has asked to follow, blocks,
// mutes or has dismissed, and those that block it. This is checked when suggestions are
// made and again when they are read. They are made for accounts that were seen recently
// (Config.SeenWithin), and again when they are old (Config.Refresh).
package suggest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"kith/app"
	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/seen"
	"kith/repo/suggest"
)

// Bounds of the work for one account.
const (
	maxSources    = 50
	maxFollowings = 200
	// maxChecked is how many of the best are checked against the archive.
	maxChecked = 2 * suggest.MaxSuggested
)

// Config has the parts and settings of a Service.
type Config struct {
	Rows       *suggest.Store
	Relations  *relation.Store
	Affinities *affinity.Store
	Seen       *seen.Store
	Now        func() time.Time
	// HalfLife is that of affinities.
	HalfLife time.Duration
	// SeenWithin is how recently an account must have been seen.
	SeenWithin time.Duration
	// Refresh is the age at which suggestions are made again.
	Refresh time.Duration
}

// Service makes and shows suggestions. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// maxWalk is how many marks one step reads.
const maxWalk = 480

// Due returns which of the accounts that come after the given one in key order
// need suggestions, how many it looked at, and the last of these; 0 looked at
// means that there are no more.
func (s *Service) Due(ctx context.Context, after uint64) (due []uint64, looked int, last uint64, err error) {
	marks, err := s.cfg.Seen.Walk(ctx, after, maxWalk)
	if err != nil || len(marks) == 0 {
		return nil, 0, after, err
	}
	due, err = s.due(ctx, marks)
	return due, len(marks), marks[len(marks)-1].AccountID, err
}

// DueOne is Due for one account. One that was never seen needs none.
func (s *Service) DueOne(ctx context.Context, id uint64) ([]uint64, error) {
	mark, err := s.cfg.Seen.One(ctx, id)
	if errors.Is(err, repo.ErrNotFound) {
		return []uint64{}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.due(ctx, []seen.Mark{mark})
}

func (s *Service) due(ctx context.Context, marks []seen.Mark) ([]uint64, error) {
	now := s.cfg.Now()
	var ids []uint64
	for _, m := range marks {
		if int64(m.At) >= now.Add(-s.cfg.SeenWithin).Unix() {
			ids = append(ids, m.AccountID)
		}
	}
	made, err := s.cfg.Rows.MadeAt(ctx, ids)
	return slices.DeleteFunc(ids, func(id uint64) bool { return int64(made[id]) > now.Add(-s.cfg.Refresh).Unix() }), err
}

// Make makes the suggestions of an account and returns how many there are. With dry
// nothing is stored.
func (s *Service) Make(ctx context.Context, id uint64, dry bool) (int, error) {
	row, err := s.cfg.Rows.Row(ctx, id)
	if err != nil {
		return 0, err
	}
	found, err := s.find(ctx, id, row.Dismissed)
	if err != nil {
		return 0, fmt.Errorf("find suggestions for %d: %w", id, err)
	}
	if dry {
		return len(found), nil
	}
	now := uint32(s.cfg.Now().Unix())
	err = s.cfg.Rows.Edit(ctx, id, func(r *suggest.Row) bool {
		r.Suggest(found, now)
		return true
	})
	return len(found), err
}

// find returns the best candidates, best first.
func (s *Service) find(ctx context.Context, id uint64, dismissed []uint64) ([]uint64, error) {
	own, err := s.cfg.Relations.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := own.View()
	if err != nil {
		return nil, err
	}
	sources, err := s.sources(ctx, id, v)
	if err != nil {
		return nil, err
	}
	weights, err := s.candidates(ctx, sources)
	if err != nil {
		return nil, err
	}
	delete(weights, id)
	for _, d := range dismissed {
		delete(weights, d)
	}
	// Many are followed already. The own row shows most of them; the archive is asked
	// about the best of the others only.
	ids := slices.Collect(maps.Keys(weights))
	rels := make([]list.Rel, len(ids))
	v.Rels(ids, rels)
	free := ids[:0]
	for i, c := range ids {
		if rels[i]&unwanted == 0 {
			free = append(free, c)
		}
	}
	slices.SortFunc(free, func(a, b uint64) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b)) })
	free, err = s.wanted(ctx, own, free[:min(len(free), maxChecked)])
	return free[:min(len(free), suggest.MaxSuggested)], err
}

// source is an account that is followed, and the weight of each account that it follows.
type source struct {
	id     uint64
	weight float64
}

// sources returns the accounts whose followings are read: of the followed accounts those
// with a score, highest first, then the newest.
func (s *Service) sources(ctx context.Context, id uint64, v list.View) (out []source, err error) {
	row, err := s.cfg.Affinities.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	faded := math.Exp2(-(float64(s.cfg.Now().Unix()) - float64(row.At)) / s.cfg.HalfLife.Seconds())
	taken := map[uint64]bool{}
	for _, e := range row.Entries {
		if len(out) < maxSources && v.Rel(e.ID)&list.IsFollowing != 0 {
			out = append(out, source{e.ID, 1 + float64(e.Score)*faded})
			taken[e.ID] = true
		}
	}
	newest, _, err := v.Page(list.ByFollowing, list.Range{Limit: 2 * maxSources}, nil)
	for _, e := range newest {
		if len(out) < maxSources && !taken[e.ID] {
			out = append(out, source{e.ID, 1})
		}
	}
	return out, err
}

// candidates returns the accounts that the sources follow, with their weights. A source
// whose list cannot be read is left out: one bad row of a well-known account must not
// leave all its followers without suggestions. The audit reports such a row.
func (s *Service) candidates(ctx context.Context, sources []source) (map[uint64]float64, error) {
	ids := make([]uint64, len(sources))
	for i, f := range sources {
		ids[i] = f.id
	}
	rows, err := s.cfg.Relations.Rows(ctx, ids)
	if err != nil {
		return nil, err
	}
	weights := map[uint64]float64{}
	var page []list.Entry
	for i, f := range sources {
		v, err := rows[i].View()
		if err == nil {
			page, _, err = v.Page(list.ByFollowing, list.Range{Limit: maxFollowings}, page)
		}
		if errors.Is(err, list.ErrFormat) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			weights[e.ID] += f.weight
		}
	}
	return weights, nil
}

// unwanted are the relations with an account that rule out suggesting it.
const unwanted = list.IsFollowing | list.IsRequested | list.IsBlocking | list.IsBlockedBy | list.IsMuting

// wanted returns those of ids that may be suggested, by a row and its archive.
func (s *Service) wanted(ctx context.Context, own relation.Row, ids []uint64) (out []uint64, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rels, _, err := s.cfg.Relations.Rels(ctx, own, ids, unwanted)
	if err != nil {
		return nil, err
	}
	for i, c := range ids {
		if rels[i]&unwanted == 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

// Suggestions returns at most limit accounts that owner may want to follow, best first:
// what the job found last, without those that are unwanted by now.
func (s *Service) Suggestions(ctx context.Context, owner uint64, limit int) ([]uint64, error) {
	row, err := s.cfg.Rows.Row(ctx, owner)
	if err != nil {
		return nil, app.From(err)
	}
	ids := slices.DeleteFunc(slices.Clone(row.Suggested), func(id uint64) bool {
		return id == owner || slices.Contains(row.Dismissed, id)
	})
	if len(ids) == 0 {
		return nil, nil
	}
	own, err := s.cfg.Relations.Row(ctx, owner)
	if err != nil {
		return nil, app.From(err)
	}
	ids, err = s.wanted(ctx, own, ids)
	return ids[:min(len(ids), max(limit, 0))], app.From(err)
}

// Dismiss keeps an account from being suggested to owner, now and later.
func (s *Service) Dismiss(ctx context.Context, owner, id uint64) error {
	return app.From(s.cfg.Rows.Edit(ctx, owner, func(r *suggest.Row) bool { return r.Dismiss(id) }))
}
