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
	affinity *affinity.Service // nil: friends are ordered by time
}

// Routes returns the routes of lists. The caller's own friends come in the order of
// affinity, if there is one.
func Routes(of entity.Accounts, order *affinity.Service) []core.Route {
	const one = "/api/v1/accounts/:id"
	r, rel, read := resource{of, order}, of.Relations, core.Optional("read:accounts")
	return []core.Route{
		core.Get(one+"/followers", read, r.page(rel.Followers, entity.AppendAccount)),
		core.Get(one+"/following", read, r.page(rel.Following, entity.AppendAccount)),
		core.Get(one+"/friends", read, r.friends),
		core.Get("/api/v1/blocks", core.SignedIn("read:blocks"), r.page(own(rel.Blocks), entity.AppendAccount)),
		core.Get("/api/v1/mutes", core.SignedIn("read:mutes"), r.page(own(rel.Mutes), entity.AppendMuted)),
		core.Get("/api/v1/follow_requests", core.SignedIn("read:follows"), r.page(own(rel.Requests), entity.AppendAccount)),
	}
}

// load returns a page of the list of owner, as viewer may see it.
type load func(ctx context.Context, viewer, owner uint64, r relation.Range) (relation.Page, error)

// own loads a list that only its owner, the caller, sees.
func own(list func(ctx context.Context, owner uint64, r relation.Range) (relation.Page, error)) load {
	return func(ctx context.Context, viewer, _ uint64, r relation.Range) (relation.Page, error) {
		return list(ctx, viewer, r)
	}
}

// page answers with a page of a list, each account encoded by write.
func (r resource) page(list load, write func([]byte, entity.Account) []byte) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		q, err := c.Query()
		if err != nil {
			return err
		}
		part, err := rangeOf(q)
		if err != nil {
			return err
		}
		p, err := list(ctx, c.Account, c.ID, part)
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
		at := 0 // an account that is not found is passed over
		for i := range found {
			for p.People[at].ID != found[i].ID {
				at++
			}
			found[i].MutedUntil = p.People[at].MutedUntil
		}
		// The cursors cover entries left out for the viewer: no account is skipped or
		// comes twice.
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
}

// rangeOf reads limit, max_id, since_id and min_id. Of the last two min_id wins, as in
// Mastodon: the page then begins right after it.
func rangeOf(q core.Values) (relation.Range, error) {
	var r relation.Range
	var err error
	if r.Limit, err = q.Limit(core.UsualAccounts); err != nil {
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

// The orders in which friends can be asked for.
const (
	byAffinity = "affinity"
	byTime     = "recent"
)

// friends answers with a page of somebody's friends. The owner of the list sees it in the
// order of affinity, unless order or a cursor says otherwise; all others by time.
func (r resource) friends(ctx context.Context, c *core.Call) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	order := q.Get("order")
	if order != "" && order != byAffinity && order != byTime {
		return core.Invalid("order must be affinity or recent")
	}
	_, notTime := relation.ParseCursor(q.Get("max_id"))
	cursorByTime := notTime == nil || q.Get("since_id") != "" || q.Get("min_id") != ""
	if r.affinity == nil || c.ID != c.Account || order == byTime || order == "" && cursorByTime {
		return r.page(r.Relations.Friends, entity.AppendAccount)(ctx, c)
	}
	return r.friendsByAffinity(ctx, c, q)
}

// friendsByAffinity answers with a page of the caller's own friends.
func (r resource) friendsByAffinity(ctx context.Context, c *core.Call, q core.Values) error {
	if q.Get("since_id") != "" || q.Get("min_id") != "" {
		return core.Invalid("friends by affinity page with max_id only")
	}
	limit, err := q.Limit(core.UsualAccounts)
	if err != nil {
		return err
	}
	var after affinity.Cursor
	if text := q.Get("max_id"); text != "" {
		var ok bool
		if after, ok = affinity.ParseCursor(text); !ok {
			return core.Invalid("max_id must come from the Link header of another page")
		}
	}
	page, err := r.affinity.Friends(ctx, c.Account, after, limit)
	if err != nil {
		return err
	}
	found, err := r.Load(ctx, c, page.IDs)
	if err != nil {
		return err
	}
	if page.Full {
		c.Link(fmt.Sprintf("order=affinity&limit=%d&max_id=%s", limit, page.Next), "")
	}
	return c.Render(func(b []byte) []byte { return entity.AppendArray(b, found, entity.AppendAccount) })
}
