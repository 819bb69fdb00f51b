package suggest

import (
	"context"
	"slices"

	"kith/app"
	"kith/repo/suggest"
)

// Suggestions returns whom owner may want to follow, best first, at most limit:
// what the job found last, without those who are unwanted by now.
func (s *Service) Suggestions(ctx context.Context, owner uint64, limit int) ([]uint64, error) {
	row, err := s.cfg.Rows.Row(ctx, owner)
	if err != nil {
		return nil, app.From(err)
	}
	ids := slices.DeleteFunc(slices.Clone(row.Suggested), func(id uint64) bool {
		return id == owner || slices.Contains(row.Dismissed, id)
	})
	ids, err = s.wanted(ctx, owner, ids)
	if err != nil {
		return nil, app.From(err)
	}
	return ids[:min(len(ids), max(limit, 0))], nil
}

// Dismiss keeps an account from being suggested to owner, now and later.
func (s *Service) Dismiss(ctx context.Context, owner, id uint64) error {
	return app.From(s.cfg.Rows.Edit(ctx, owner, func(r *suggest.Row) bool { return r.Dismiss(id) }))
}
