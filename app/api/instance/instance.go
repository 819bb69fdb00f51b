// Package instance answers what server this is, and with nothing where apps ask at their
// start for what kith does not have.
package instance

import (
	"context"
	_ "embed"
	"strings"

	"kith/app/api/core"
	"kith/app/post"
	"kith/app/post/content"
)

// About is what the instance says of itself; Version is that of kith.
type About struct {
	Title, Description, Version string
}

var (
	//go:embed static/avatar.png
	avatarPNG []byte
	//go:embed static/header.png
	headerPNG []byte
)

// Routes returns the routes.
func Routes(about About) []core.Route {
	nothing := always("[]")
	return []core.Route{
		core.Get("/api/v1/instance", core.Public, about.instance),
		core.Get("/api/v2/instance", core.Public, about.instanceV2),
		core.Get("/.well-known/nodeinfo", core.Public, about.nodeinfoLinks),
		core.Get("/nodeinfo/2.0", core.Public, about.nodeinfo),
		core.Get(core.AvatarPath, core.Public, picture(avatarPNG)),
		core.Get(core.HeaderPath, core.Public, picture(headerPNG)),
		core.Get("/api/v1/custom_emojis", core.Public, nothing),
		core.Get("/api/v1/announcements", core.SignedIn(), nothing),
		core.Get("/api/v1/lists", core.SignedIn("read:lists"), nothing),
		core.Get("/api/v1/filters", core.SignedIn("read:filters"), nothing),
		core.Get("/api/v2/filters", core.SignedIn("read:filters"), nothing),
		core.Get("/api/v1/followed_tags", core.SignedIn("read:follows"), nothing),
		core.Get("/api/v1/push/subscription", core.SignedIn("push"), always("{}")),
	}
}

// level is the version of Mastodon whose API this is; apps read it to know what they may
// use.
const level = "4.3.0"

func (about About) version() string { return level + " (compatible; kith " + about.Version + ")" }

type object = map[string]any

func (about About) instance(_ context.Context, c *core.Call) error {
	return c.JSON(object{
		"uri": c.Domain(), "title": about.Title, "short_description": about.Description,
		"description": about.Description, "email": "", "version": about.version(),
		"thumbnail": c.Base() + core.HeaderPath, "languages": []string{},
		"urls":          object{"streaming_api": streaming(c.Base())},
		"stats":         object{"user_count": 0, "status_count": 0, "domain_count": 0},
		"registrations": false, "approval_required": false, "invites_enabled": false,
		"configuration":   configuration(),
		"contact_account": nil, "rules": []string{},
	})
}

func (about About) instanceV2(_ context.Context, c *core.Call) error {
	limits := configuration()
	limits["urls"] = object{"streaming": streaming(c.Base())}
	limits["translation"] = object{"enabled": false}
	limits["vapid"] = object{"public_key": ""}
	return c.JSON(object{
		"domain": c.Domain(), "title": about.Title, "version": about.version(),
		"source_url": "", "description": about.Description,
		"usage":     object{"users": object{"active_month": 0}},
		"thumbnail": object{"url": c.Base() + core.HeaderPath},
		"icon":      []object{{"src": c.Base() + core.AvatarPath, "size": "120x120"}},
		"languages": []string{}, "configuration": limits,
		"registrations": object{"enabled": false, "approval_required": false, "message": nil, "url": nil},
		"api_versions":  object{"mastodon": 2},
		"contact":       object{"email": "", "account": nil}, "rules": []string{},
	})
}

// configuration has the limits of both instance entities. No files can be uploaded: no type
// of them is supported, and the pictures of a post are addresses. Clients read all of these
// numbers without a check.
func configuration() object {
	return object{
		"accounts":          object{"max_featured_tags": 0, "max_pinned_statuses": post.MaxPins},
		"statuses":          object{"max_characters": content.MaxLength, "max_media_attachments": content.MaxMedia, "characters_reserved_per_url": content.AddressLength},
		"media_attachments": object{"supported_mime_types": []string{}, "image_size_limit": 0, "image_matrix_limit": 0, "video_size_limit": 0, "video_frame_rate_limit": 0, "video_matrix_limit": 0},
		"polls":             object{"max_options": 0, "max_characters_per_option": 0, "min_expiration": 0, "max_expiration": 0},
	}
}

// streaming is our address for web sockets.
func streaming(base string) string { return "ws" + strings.TrimPrefix(base, "http") }

func (about About) nodeinfoLinks(_ context.Context, c *core.Call) error {
	return c.JSON(object{"links": []object{{
		"rel": "http://nodeinfo.diaspora.software/ns/schema/2.0", "href": c.Base() + "/nodeinfo/2.0",
	}}})
}

// nodeinfo names the software. Clients that do not know kith see from upstream which API
// it speaks.
func (about About) nodeinfo(_ context.Context, c *core.Call) error {
	return c.JSON(object{
		"version": "2.0", "software": object{"name": "kith", "version": about.Version},
		"protocols": []string{}, "services": object{"inbound": []string{}, "outbound": []string{}},
		"openRegistrations": false, "usage": object{"users": object{}, "localPosts": 0},
		"metadata": object{"nodeName": about.Title, "upstream": object{"name": "mastodon"}},
	})
}

// always answers with the same.
func always(body string) core.Handler {
	return func(_ context.Context, c *core.Call) error { return c.OK(body) }
}

func picture(png []byte) core.Handler {
	return func(_ context.Context, c *core.Call) error { return c.Picture(png) }
}
