package lists

import (
	"context"
	"fmt"

	"kith/app/affinity"
	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/relation"
)

// The orders in which friends can be asked for.
const (
	byAffinity = "affinity"
	byTime     = "recent"
)

// friends answers with a page of somebody's friends. Who owns the list sees it
// in the order of affinity, unless order or a cursor says otherwise; everybody
// else sees it by time.
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
		return r.of(r.Relations.Friends)(ctx, c)
	}
	return r.friendsByAffinity(ctx, c, q)
}

// friendsByAffinity answers with a page of the caller's own friends.
func (r resource) friendsByAffinity(ctx context.Context, c *core.Call, q core.Values) error {
	if q.Get("since_id") != "" || q.Get("min_id") != "" {
		return core.Invalid("friends by affinity page with max_id only")
	}
	limit, err := q.Limit()
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
