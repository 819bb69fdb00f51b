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

	"kith/repo"
	"kith/repo/affinity"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/seen"
	"kith/repo/suggest"
)

// Bounds of the work for one account.
const (
	MaxSources    = 50
	MaxFollowings = 200
	// maxChecked is how many of the best are checked against the archive.
	maxChecked = 2 * suggest.MaxSuggested
)

// Rows keeps suggest rows.
type Rows interface {
	Row(ctx context.Context, id uint64) (suggest.Row, error)
	Edit(ctx context.Context, id uint64, edit func(*suggest.Row) bool) error
	MadeAt(ctx context.Context, ids []uint64) (map[uint64]uint32, error)
}

var _ Rows = (*suggest.Store)(nil)

// Relations answers questions about relation rows.
type Relations interface {
	Row(ctx context.Context, id uint64) (relation.Row, error)
	Rows(ctx context.Context, ids []uint64) ([]relation.Row, error)
	Rels(ctx context.Context, row relation.Row, ids []uint64, of list.Rel) ([]list.Rel, relation.Options, error)
}

var _ Relations = (*relation.Store)(nil)

// Affinities keeps affinity rows.
type Affinities interface {
	Row(ctx context.Context, id uint64) (affinity.Row, error)
}

var _ Affinities = (*affinity.Store)(nil)

// Marks tells who was seen when.
type Marks interface {
	Walk(ctx context.Context, after uint64, limit int) ([]seen.Mark, error)
	One(ctx context.Context, id uint64) (seen.Mark, error)
}

var _ Marks = (*seen.Store)(nil)

// Config is what a Service works with.
type Config struct {
	Rows       Rows
	Relations  Relations
	Affinities Affinities
	Seen       Marks
	Now        func() time.Time
	// HalfLife is that of affinities.
	HalfLife time.Duration
	// SeenWithin is how lately an account must have been seen.
	SeenWithin time.Duration
	// Refresh is how old suggestions become before they are made again.
	Refresh time.Duration
}

// Service makes and shows suggestions. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// maxWalk is how many marks one step looks at.
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

// DueOne is Due for one account; who was never seen needs none.
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
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ids, func(id uint64) bool { return int64(made[id]) > now.Add(-s.cfg.Refresh).Unix() }), nil
}

// Make makes the suggestions of an account and tells how many there are. With
// dry nothing is stored.
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
	return s.best(ctx, id, v, weights)
}

// source is an account that is followed, and what its followings weigh.
type source struct {
	id     uint64
	weight float64
}

// sources returns whose followings are looked at: of the followed accounts those
// with a score, highest first, then the newest.
func (s *Service) sources(ctx context.Context, id uint64, v list.View) ([]source, error) {
	row, err := s.cfg.Affinities.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	faded := math.Exp2(-(float64(s.cfg.Now().Unix()) - float64(row.At)) / s.cfg.HalfLife.Seconds())
	var out []source
	taken := map[uint64]bool{}
	for _, e := range row.Entries {
		if len(out) < MaxSources && v.Rel(e.ID)&list.IsFollowing != 0 {
			out = append(out, source{e.ID, 1 + float64(e.Score)*faded})
			taken[e.ID] = true
		}
	}
	newest, _, err := v.Page(list.ByFollowing, list.Range{Limit: 2 * MaxSources}, nil)
	if err != nil {
		return nil, err
	}
	for _, e := range newest {
		if len(out) < MaxSources && !taken[e.ID] {
			out = append(out, source{e.ID, 1})
		}
	}
	return out, nil
}

// candidates returns whom the sources follow and what that weighs in all. A
// source whose list cannot be read counts for nothing, or one bad row of somebody
// well known would leave all who follow it without suggestions; the audit finds it.
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
			page, _, err = v.Page(list.ByFollowing, list.Range{Limit: MaxFollowings}, page)
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

// best returns the candidates of the highest weights who may be suggested.
// Many are followed already; the own row tells most of them, and the rest is
// asked of the archive.
func (s *Service) best(ctx context.Context, id uint64, v list.View, weights map[uint64]float64) ([]uint64, error) {
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
	free, err := s.wanted(ctx, id, free[:min(len(free), maxChecked)])
	return free[:min(len(free), suggest.MaxSuggested)], err
}

// unwanted are the bits of whom nobody wants to be shown.
const unwanted = list.IsFollowing | list.IsRequested | list.IsBlocking | list.IsBlockedBy | list.IsMuting

// wanted returns those of ids who may be suggested, as rows and archives tell.
func (s *Service) wanted(ctx context.Context, id uint64, ids []uint64) ([]uint64, error) {
	if len(ids) == 0 {
		return ids, nil
	}
	row, err := s.cfg.Relations.Row(ctx, id)
	if err != nil {
		return nil, err
	}
	rels, _, err := s.cfg.Relations.Rels(ctx, row, ids, unwanted)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for i, c := range ids {
		if rels[i]&unwanted == 0 {
			out = append(out, c)
		}
	}
	return out, nil
}
