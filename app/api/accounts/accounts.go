// Package accounts answers with single accounts, by id and by name, and with what the caller
// prefers.
package accounts

import (
	"context"
	"strings"

	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/interaction"
)

// maxAsked is how many accounts one request may name.
const maxAsked = 40

type resource struct {
	entity.Accounts
	interactions *interaction.Recorder // nil: visits are not recorded
}

// Routes returns the routes of accounts. Whoever asks for a single account is recorded
// as its visitor, if there is a recorder.
func Routes(of entity.Accounts, interactions *interaction.Recorder) []core.Route {
	const base = "/api/v1/accounts"
	r := resource{of, interactions}
	return []core.Route{
		core.Get(base+"/verify_credentials", core.SignedIn("profile", "read:accounts"), r.verifyCredentials),
		core.Get(base+"/lookup", core.Public, r.lookup),
		core.Get(base, core.Public, r.several),
		core.Get(base+"/:id", core.Public, r.one),
		core.Get("/api/v1/preferences", core.SignedIn("read:accounts"), r.preferences),
		core.Post("/api/v1/preferences", core.SignedIn("write:accounts").WithBody(core.UsualBody), r.setPreferences),
	}
}

func (r resource) one(ctx context.Context, c *core.Call) error {
	if err := r.show(ctx, c, c.ID); err != nil {
		return err
	}
	if r.interactions != nil {
		r.interactions.Visit(c.Account, c.ID)
	}
	return nil
}

func (r resource) show(ctx context.Context, c *core.Call, id uint64) error {
	a, err := r.One(ctx, c, id)
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendAccount(b, a) })
}

func (r resource) several(ctx context.Context, c *core.Call) error {
	ids, err := c.IDs(maxAsked)
	if err != nil {
		return err
	}
	found, err := r.Load(ctx, c, core.Distinct(ids))
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendArray(b, found, entity.AppendAccount) })
}

// lookup finds an account by name, with or without our domain after it.
func (r resource) lookup(ctx context.Context, c *core.Call) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	name, domain, remote := strings.Cut(strings.TrimPrefix(q.Get("acct"), "@"), "@")
	if remote && !strings.EqualFold(domain, c.Domain()) {
		return core.ErrNotFound
	}
	a, err := r.Accounts.Accounts.ByName(ctx, name)
	if err != nil {
		return err
	}
	return r.show(ctx, c, a.ID)
}

func (r resource) verifyCredentials(ctx context.Context, c *core.Call) error {
	me, err := r.One(ctx, c, c.Account)
	if err != nil {
		return err
	}
	waiting, err := r.Relations.RequestCount(ctx, c.Account)
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendCredential(b, me, waiting) })
}
