package home

import (
	"context"

	"kith/app"
	"kith/repo/timeline"
)

// watching are lines that a reading does not change: it neither renews nor builds any.
type watching struct {
	timeline.None
	of timeline.Lines
}

// Load returns a line as it is.
func (w watching) Load(ctx context.Context, account uint64) (timeline.Line, timeline.Token, bool) {
	l, ok := w.Peek(ctx, account)
	return l, timeline.Token{}, ok
}

// Peek returns a line as it is.
func (w watching) Peek(ctx context.Context, account uint64) (timeline.Line, bool) {
	return w.of.Peek(ctx, account)
}

// unsaved are warm lines that a reading does not change.
type unsaved struct{ Warm }

// Save does nothing.
func (unsaved) Save(context.Context, uint64, timeline.Line) (bool, error) { return false, nil }

// Watch returns a Service whose readings leave no trace, for people who look at the homes of
// others.
func (s *Service) Watch() *Service {
	w := *s
	w.cfg.Lines, w.cfg.Warm, w.watch = watching{of: s.cfg.Lines}, unsaved{s.cfg.Warm}, true
	return &w
}

// Kept is what memcached keeps of a home.
type Kept struct {
	Line timeline.Line
	Hot  bool // there is a line
	// Good says that a reader gets it; else it is built anew, since it is too old, or the
	// reader follows others than it was built for.
	Good bool
}

// Kept returns what is kept of a reader's home.
func (s *Service) Kept(ctx context.Context, reader uint64) (Kept, error) {
	r, err := s.open(ctx, reader)
	if err != nil {
		return Kept{}, app.From(err)
	}
	l, ok := s.cfg.Lines.Peek(ctx, reader)
	good, err := r.good(&l)
	return Kept{Line: l, Hot: ok, Good: ok && good}, app.From(err)
}

// Forget drops what memcached keeps of a reader's home.
func (s *Service) Forget(ctx context.Context, reader uint64) { s.cfg.Lines.Drop(ctx, reader) }
