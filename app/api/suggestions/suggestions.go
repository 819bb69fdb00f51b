// Package suggestions answers with accounts that the caller may want to follow.
package suggestions

import (
	"context"

	"kith/app"
	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/suggest"
)

type resource struct {
	entity.Accounts
	suggest *suggest.Service // nil: none
}

// Routes returns the routes of suggestions.
func Routes(of entity.Accounts, s *suggest.Service) []core.Route {
	r, write := resource{of, s}, core.SignedIn("write:accounts")
	write.AnyID = true
	return []core.Route{
		core.Get("/api/v2/suggestions", core.SignedIn("read:accounts"), r.list),
		core.Delete("/api/v1/suggestions/:id", write, r.dismiss),
	}
}

func (r resource) list(ctx context.Context, c *core.Call) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	limit, err := q.Limit(core.UsualAccounts)
	if err != nil {
		return err
	}
	var ids []uint64
	if r.suggest != nil {
		if ids, err = r.suggest.Suggestions(ctx, c.Account, limit); err != nil {
			return err
		}
	}
	found, err := r.Load(ctx, c, ids)
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendArray(b, found, entity.AppendSuggestion) })
}

// dismiss keeps an account from being suggested. As in Mastodon it need not have been
// suggested, or exist.
func (r resource) dismiss(ctx context.Context, c *core.Call) error {
	if c.ID != 0 && r.suggest != nil {
		_, err := r.Accounts.Accounts.One(ctx, c.ID)
		if err == nil {
			err = r.suggest.Dismiss(ctx, c.Account, c.ID)
		}
		if err != nil && app.KindOf(err) != app.NotFound {
			return err
		}
	}
	return c.OK(`{}`)
}
