// Package timelines answers with the caller's home.
package timelines

import (
	"context"
	"fmt"

	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/home"
)

type resource struct {
	entity.Statuses
	homes *home.Service
}

// Routes returns the routes of timelines.
func Routes(of entity.Statuses, homes *home.Service) []core.Route {
	r := resource{of, homes}
	return []core.Route{
		core.Get("/api/v1/timelines/home", core.SignedIn("read:statuses"), r.home),
	}
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
	page, err := r.homes.Home(ctx, c.Account, home.Range(part))
	if err != nil {
		return err
	}
	found, err := r.Home(ctx, c, page.Items)
	if err != nil {
		return err
	}
	// A client stops at the page without a link, so every page that has entries has both.
	// One that has none, though more follow, passed many posts that are not shown.
	last, prev := page.Next, ""
	if n := len(page.Items); n > 0 {
		last = page.Items[n-1].Event.ID
		prev = fmt.Sprintf("limit=%d&min_id=%d", part.Limit, page.Items[0].Event.ID)
	}
	if last != 0 {
		c.Link(fmt.Sprintf("limit=%d&max_id=%d", part.Limit, last), prev)
	}
	return c.Render(func(b []byte) []byte { return entity.AppendStatuses(b, found) })
}
