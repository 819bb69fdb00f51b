package home

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kith/app"
	"kith/repo"
	"kith/repo/timeline"
)

// Warm keeps lines as they were at some time.
type Warm interface {
	Row(ctx context.Context, account uint64) (timeline.Row, error)
	Save(ctx context.Context, account uint64, l timeline.Line) (bool, error)
}

// none has no warm line.
type none struct{}

func (none) Row(context.Context, uint64) (timeline.Row, error) {
	return timeline.Row{}, repo.ErrNotFound
}
func (none) Save(context.Context, uint64, timeline.Line) (bool, error) { return false, nil }

// base returns the warm row to begin with. Without a database memcached may still have all
// that a home needs, so an error is none.
func (r *read) base(ctx context.Context, l *timeline.Line) (timeline.Line, bool) {
	row, err := r.cfg.Warm.Row(ctx, r.viewer.ID)
	if err != nil && !errors.Is(err, repo.ErrNotFound) {
		r.cfg.Log.Warn("a home is built without its warm timeline", "account", r.viewer.ID, "error", err)
	}
	return row.Line, err == nil && row.Follows == l.Follows && !r.future(&row.Line) && r.turn(row.BuiltAt) == r.turn(l.BuiltAt)
}

// turn numbers weeks, which begin for each account at another time. With each a line is
// built from feeds alone, so that what it lacks, whatever the reason, does not go from line
// to row to line for ever.
func (r *read) turn(t time.Time) int64 {
	const week = 7 * 24 * 3600
	return (t.Unix() + int64(r.viewer.ID%week)) / week
}

// future reports whether a line was built by a clock that is far ahead: nobody knows what
// it lacks.
func (s *Service) future(l *timeline.Line) bool { return l.BuiltAt.After(s.cfg.Now().Add(slack)) }

// renew begins a line with the warm row, where most of the feeds are not cached: the database
// is asked which of them changed since, and most have not. Where they are cached, the row
// would save nothing. It returns whose feeds are to be read, and whether it did.
//
// All that changed feeds have above the floor of the row is taken: posts of the past are
// imported, and feeds come late out of a cache.
func (r *read) renew(ctx context.Context, l *timeline.Line, g *gatherer, ids []uint64, missing int) (changed []uint64, ok bool, err error) {
	if missing < r.cfg.WarmFrom || missing < min(len(ids), r.cfg.AtOnce)/2 {
		return nil, false, nil
	}
	base, ok := r.base(ctx, l)
	if !ok {
		return nil, false, nil
	}
	since := base.BuiltAt.Add(-r.cfg.Stale - slack).Unix()
	for part := range slices.Chunk(ids, r.cfg.AtOnce) {
		lasts, err := r.cfg.Feeds.Lasts(ctx, part)
		if err != nil {
			return nil, false, err
		}
		for _, id := range part {
			last := lasts[id]
			if int64(last.UpdatedAt) >= since {
				changed = append(changed, id)
			}
			if r.pulls(id, last.PulledSince) {
				l.Pulled = append(l.Pulled, id)
			}
		}
	}
	base = base.Cut(r.cfg.Cap)
	g.found, g.reach = base.Events, base.Floor
	return changed, true, nil
}

// save writes a line to its warm row, where that is older. A line is built once in Recheck
// at most, and so is its row written.
func (s *Service) save(ctx context.Context, account uint64, l timeline.Line) (bool, error) {
	if s.future(&l) {
		return false, nil // else no other would be saved until then
	}
	return s.cfg.Warm.Save(ctx, account, l.Cut(s.cfg.Cap))
}

// Checkpoint saves the hot line of an account, which is neither renewed nor built, to its
// warm row, and reports whether it did, or would in a dry run. It does not where there is
// no hot line, and where the row is as new.
func (s *Service) Checkpoint(ctx context.Context, account uint64, dry bool) (bool, error) {
	l, ok := s.cfg.Lines.Peek(ctx, account)
	if !ok {
		return false, nil
	}
	if !dry {
		saved, err := s.save(ctx, account, l)
		return saved, app.From(err)
	}
	row, err := s.cfg.Warm.Row(ctx, account)
	if errors.Is(err, repo.ErrNotFound) {
		err = nil
	}
	return err == nil && row.BuiltAt.Before(l.BuiltAt) && !s.future(&l), app.From(err)
}

// Metrics count where lines come from.
type Metrics struct{ hot, warm, cold prometheus.Counter }

// NewMetrics returns the metrics, registered with r unless it is nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	lines := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kith_home_lines_total",
		Help: "Home timelines read, by where they came from: hot as memcached had it, warm from an older one and what was posted since, cold from author feeds alone."}, []string{"from"})
	if r != nil {
		r.MustRegister(lines)
	}
	return &Metrics{hot: lines.WithLabelValues("hot"), warm: lines.WithLabelValues("warm"), cold: lines.WithLabelValues("cold")}
}
