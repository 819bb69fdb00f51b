// Package timelines answers with the caller's home, and with what is new in it.
package timelines

import (
	"context"
	"fmt"

	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/home"
	"kith/app/marker"
	"kith/app/promotion"
)

type resource struct {
	entity.Statuses
	homes      *home.Service
	markers    *marker.Service
	promotions *promotion.Service
}

// Routes returns the routes of timelines. A refresh shows the home and moves the position,
// so that it asks for the scopes of both.
func Routes(of entity.Statuses, homes *home.Service, markers *marker.Service, promotions *promotion.Service) []core.Route {
	const path = "/api/v1/timelines/home"
	r, read := resource{of, homes, markers, promotions}, core.SignedIn("read:statuses")
	return []core.Route{
		core.Get(path, read, r.home),
		core.Post(path+"/refresh", read.And("write:statuses"), r.refresh),
	}
}

// refresh answers with what is new, newest first. The header Kith-Marker, a dictionary of
// RFC 8941, has the position, its version, and whether there may be more.
func (r resource) refresh(ctx context.Context, c *core.Call) error {
	ctx = r.homes.Ahead(ctx, c.Account)
	var found []entity.Status
	got, err := r.markers.Refresh(ctx, c.Account, func(items []home.Item) (err error) {
		found, err = r.Home(ctx, c, items)
		return err
	})
	if err != nil {
		return err
	}
	if m := got.Marker; m.Ver != 0 {
		text := fmt.Sprintf(`last_read_id="%d", version=%d`, m.LastRead, m.Ver)
		if got.More {
			text += ", more"
		}
		c.Response.Header().Set("Kith-Marker", text)
	}
	return c.Render(func(b []byte) []byte { return entity.AppendStatuses(b, found) })
}

func (r resource) home(ctx context.Context, c *core.Call) error {
	q, err := c.Query()
	if err != nil {
		return err
	}
	part, err := q.Range(core.UsualPosts)
	if err != nil {
		return err
	}
	ctx = r.homes.Ahead(ctx, c.Account)
	page, err := r.homes.Home(ctx, c.Account, part)
	if err != nil {
		return err
	}
	found, err := r.Home(ctx, c, r.promotions.Into(ctx, c.Account, page).Items)
	if err != nil {
		return err
	}
	c.Link(links(part, page))
	return c.Render(func(b []byte) []byte { return entity.AppendStatuses(b, found) })
}

// links returns the queries of the next and the previous page. A client stops at the page
// without a link, so every page that has entries has both. One that has none, though more
// follow, passed very many posts that are not shown: it says where to go on.
func links(part home.Range, page home.Items) (next, prev string) {
	n := len(page.Items)
	first, last := page.Next, page.Next
	if n > 0 {
		first, last = page.Items[0].Event.ID, page.Items[n-1].Event.ID
	}
	if last != 0 && (n > 0 || !part.Oldest) {
		next = fmt.Sprintf("limit=%d&max_id=%d", part.Limit, last)
	}
	if first != 0 && (n > 0 || part.Oldest) {
		prev = fmt.Sprintf("limit=%d&min_id=%d", part.Limit, first)
	}
	return next, prev
}
