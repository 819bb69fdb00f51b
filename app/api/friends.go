package api

import (
	"context"
	"strconv"

	"kith/app/affinity"
	"kith/repo/list"
)

// Affinity puts friends in order.
type Affinity interface {
	Friends(ctx context.Context, owner uint64, after affinity.Cursor, limit int) (affinity.Page, error)
}

var _ Affinity = (*affinity.Service)(nil)

// The orders in which friends can be asked for.
const (
	byAffinity = "affinity"
	byTime     = "recent"
)

// friends answers with a page of somebody's friends. Who owns the list sees it
// in the order of affinity, unless order or a cursor says otherwise; everybody
// else sees it by time.
func (s *Server) friends(ctx context.Context, c *call) error {
	id, err := c.pathID()
	if err != nil {
		return err
	}
	q, err := c.query()
	if err != nil {
		return err
	}
	order := q.get("order")
	if order != "" && order != byAffinity && order != byTime {
		return invalid("order must be affinity or recent")
	}
	if s.cfg.Affinity == nil || id != c.account() || order == byTime || order == "" && q.byTime() {
		return s.shown(s.cfg.Relations.Friends)(ctx, c)
	}
	return s.nearest(ctx, c, q)
}

// byTime tells whether the cursors of a query are of the order by time.
func (v values) byTime() bool {
	_, err := list.ParseCursor(v.get("max_id"))
	return err == nil || v.get("since_id") != "" || v.get("min_id") != ""
}

// nearest answers with a page of the caller's own friends by affinity.
func (s *Server) nearest(ctx context.Context, c *call, q values) error {
	if q.get("since_id") != "" || q.get("min_id") != "" {
		return invalid("friends by affinity page with max_id only")
	}
	limit, err := q.limit()
	if err != nil {
		return err
	}
	var after affinity.Cursor
	if text := q.get("max_id"); text != "" {
		var ok bool
		if after, ok = affinity.ParseCursor(text); !ok {
			return invalid("max_id must come from the Link header of another page")
		}
	}
	page, err := s.cfg.Affinity.Friends(ctx, c.account(), after, limit)
	if err != nil {
		return err
	}
	found, err := s.people(ctx, c, page.IDs)
	if err != nil {
		return err
	}
	if page.Full {
		c.Response().Header().Set("Link", "<"+c.base()+c.Request().URL.EscapedPath()+"?order=affinity&limit="+strconv.Itoa(limit)+
			"&max_id="+page.Next.String()+`>; rel="next"`)
	}
	return c.render(func(b []byte) []byte { return appendArray(b, found, appendAccount) })
}
