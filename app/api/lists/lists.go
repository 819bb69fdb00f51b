// Package lists answers with pages of accounts: followers, following, friends, and one's
// own blocks, mutes and follow requests.
package lists

import (
	"context"
	"fmt"

	"kith/app/affinity"
	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/relation"
)

type resource struct {
	entity.Accounts
	affinity *affinity.Service // nil: friends are in the order of time only
}

// Routes returns the routes of lists. One's own friends come in the order of affinity,
// if there is any.
func Routes(of entity.Accounts, order *affinity.Service) []core.Route {
	const one = "/api/v1/accounts/:id"
	r, rel := resource{of, order}, of.Relations
	return []core.Route{
		core.Get(one+"/followers", core.Public, r.of(rel.Followers)),
		core.Get(one+"/following", core.Public, r.of(rel.Following)),
		core.Get(one+"/friends", core.Public, r.friends),
		core.Get("/api/v1/blocks", core.SignedIn("read:blocks"), r.own(rel.Blocks, entity.AppendAccount)),
		core.Get("/api/v1/mutes", core.SignedIn("read:mutes"), r.own(rel.Mutes, entity.AppendMuted)),
		core.Get("/api/v1/follow_requests", core.SignedIn("read:follows"), r.own(rel.Requests, entity.AppendAccount)),
	}
}

// of answers with a page of the list of the account in the path.
func (r resource) of(load func(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		return r.page(ctx, c, entity.AppendAccount, func(part relation.Range) (relation.Page, error) {
			return load(ctx, c.Account, c.ID, part)
		})
	}
}

// own answers with a page of one of the caller's own lists.
func (r resource) own(load func(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error), write func([]byte, entity.Account) []byte) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		return r.page(ctx, c, write, func(part relation.Range) (relation.Page, error) {
			return load(ctx, c.Account, part)
		})
	}
}

func (r resource) page(ctx context.Context, c *core.Call, write func([]byte, entity.Account) []byte, load func(relation.Range) (relation.Page, error)) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	part, err := rangeOf(q)
	if err != nil {
		return err
	}
	p, err := load(part)
	if err != nil {
		return err
	}
	ids := make([]uint64, len(p.People))
	for i, one := range p.People {
		ids[i] = one.ID
	}
	found, err := r.Load(ctx, c, ids)
	if err != nil {
		return err
	}
	at := 0 // who is not found is passed over
	for i := range found {
		for p.People[at].ID != found[i].ID {
			at++
		}
		found[i].MutedUntil = p.People[at].MutedUntil
	}
	// Entries that were left out for the viewer count, so that nobody is skipped
	// and nobody comes twice.
	var next, prev string
	if p.First.ID != 0 {
		prev = fmt.Sprintf("limit=%d&since_id=%s", part.Limit, p.First)
		if p.Full {
			next = fmt.Sprintf("limit=%d&max_id=%s", part.Limit, p.Last)
		}
	}
	c.Link(next, prev)
	return c.Render(func(b []byte) []byte { return entity.AppendArray(b, found, write) })
}

// rangeOf reads limit, max_id, since_id and min_id. Of the last two min_id
// wins, as in Mastodon: the page then begins right after it.
func rangeOf(q core.Values) (relation.Range, error) {
	var r relation.Range
	var err error
	if r.Limit, err = q.Limit(); err != nil {
		return r, err
	}
	if r.Before, err = cursor(q, "max_id"); err != nil {
		return r, err
	}
	if r.After, err = cursor(q, "min_id"); err != nil {
		return r, err
	}
	if r.Oldest = r.After.ID != 0; r.Oldest {
		return r, nil
	}
	r.After, err = cursor(q, "since_id")
	return r, err
}

func cursor(q core.Values, name string) (relation.Cursor, error) {
	text := q.Get(name)
	if text == "" {
		return relation.Cursor{}, nil
	}
	at, err := relation.ParseCursor(text)
	if err != nil {
		return at, core.Invalid("%s must come from the Link header of another page", name)
	}
	return at, nil
}
