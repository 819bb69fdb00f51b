package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
)

// handler answers one call: it writes the answer or returns an error.
type handler func(ctx context.Context, c *call) error

// route is one endpoint and who may call it.
type route struct {
	method, path string
	access       access
	handle       handler
}

// access is who may call a route.
type access struct {
	signedIn bool     // needs a good token
	scopes   []string // of which the token must cover one; none: any token will do
}

var public = access{}

func signedIn(scopes ...string) access { return access{signedIn: true, scopes: scopes} }

func (s *Server) table() []route {
	all := slices.Concat(s.accountRoutes(), s.listRoutes(), s.nearRoutes(), s.otherRoutes())
	if !s.cfg.HideMetrics {
		all = append(all, get(metricsPath, public, s.metrics.show()))
	}
	return all
}

func get(path string, a access, h handler) route  { return route{http.MethodGet, path, a, h} }
func post(path string, a access, h handler) route { return route{http.MethodPost, path, a, h} }
func del(path string, a access, h handler) route  { return route{http.MethodDelete, path, a, h} }

func (s *Server) accountRoutes() []route {
	const base, one = "/api/v1/accounts", "/api/v1/accounts/:id"
	rel := s.cfg.Relations
	follows, blocks, mutes := signedIn("write:follows"), signedIn("write:blocks"), signedIn("write:mutes")
	return []route{
		get(base+"/verify_credentials", signedIn("profile", "read:accounts"), s.verifyCredentials),
		get(base+"/relationships", signedIn("read:follows"), s.relationships),
		get(base+"/familiar_followers", signedIn("read:follows"), s.familiarFollowers),
		get(base+"/lookup", public, s.lookup),
		get(base, public, s.accounts),
		get(one, public, s.visited),
		get(one+"/followers", public, s.shown(rel.Followers)),
		get(one+"/following", public, s.shown(rel.Following)),
		get(one+"/friends", public, s.friends),
		post(one+"/follow", follows, s.follow),
		post(one+"/unfollow", follows, s.change(rel.Unfollow)),
		post(one+"/remove_from_followers", follows, s.change(rel.RemoveFollower)),
		post(one+"/block", blocks, s.change(rel.Block)),
		post(one+"/unblock", blocks, s.change(rel.Unblock)),
		post(one+"/mute", mutes, s.mute),
		post(one+"/unmute", mutes, s.change(rel.Unmute)),
		post(one+"/note", signedIn("write:accounts"), s.note),
	}
}

func (s *Server) listRoutes() []route {
	const requests = "/api/v1/follow_requests"
	rel := s.cfg.Relations
	follows := signedIn("write:follows")
	return []route{
		get("/api/v1/blocks", signedIn("read:blocks"), s.own(rel.Blocks, appendAccount)),
		get("/api/v1/mutes", signedIn("read:mutes"), s.own(rel.Mutes, appendMuted)),
		get(requests, signedIn("read:follows"), s.own(rel.Requests, appendAccount)),
		post(requests+"/:id/authorize", follows, s.change(rel.Authorize)),
		post(requests+"/:id/reject", follows, s.change(rel.Reject)),
	}
}

func (s *Server) otherRoutes() []route {
	return []route{
		get("/api/v1/instance", public, s.instance),
		get("/api/v2/instance", public, s.instanceV2),
		get("/api/v1/custom_emojis", public, nothing),
		get("/api/v1/announcements", signedIn(), nothing),
		get("/api/v1/lists", signedIn("read:lists"), nothing),
		get("/api/v1/filters", signedIn("read:filters"), nothing),
		get("/api/v2/filters", signedIn("read:filters"), nothing),
		get("/api/v1/followed_tags", signedIn("read:follows"), nothing),
		get("/api/v1/push/subscription", signedIn("push"), noObject),
		get("/api/v1/preferences", signedIn("read:accounts"), preferences),
		get("/.well-known/nodeinfo", public, s.nodeinfoLinks),
		get("/nodeinfo/2.0", public, s.nodeinfo),
		get(healthPath, public, s.health),
		get(avatarPath, public, image(avatarPNG)),
		get(headerPath, public, image(headerPNG)),
		get(livezPath, public, livez),
		get(readyzPath, public, s.readyz),
	}
}

// serve is a route as Echo calls it.
func (s *Server) serve(r route) echo.HandlerFunc {
	return func(ec echo.Context) error {
		c, ok := ec.(*call)
		if !ok {
			return errNoCall
		}
		if err := r.access.check(c.session); err != nil {
			return err
		}
		return r.handle(c.Request().Context(), c)
	}
}

func (a access) check(who session) error {
	if !a.signedIn {
		return nil
	}
	if who.claims.Account == 0 {
		return errToken
	}
	if len(a.scopes) > 0 && !who.claims.Allows(a.scopes...) {
		return errScope
	}
	return nil
}
