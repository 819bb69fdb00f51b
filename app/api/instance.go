package api

import (
	"context"
	"strings"
)

// level is the version of Mastodon whose API this is like; apps read it to
// know what they may use.
const level = "4.3.0"

func (s *Server) version() string { return level + " (compatible; kith " + s.cfg.Version + ")" }

// object is a JSON object whose fields nobody computes.
type object = map[string]any

func (s *Server) instance(_ context.Context, c *call) error {
	return c.asJSON(object{
		"uri": c.domain(), "title": s.cfg.Title, "short_description": s.cfg.Description,
		"description": s.cfg.Description, "email": "", "version": s.version(),
		"thumbnail": c.base() + headerPath, "languages": []string{},
		"urls":          object{"streaming_api": streaming(c.base())},
		"stats":         object{"user_count": 0, "status_count": 0, "domain_count": 0},
		"registrations": false, "approval_required": false, "invites_enabled": false,
		"configuration":   configuration(),
		"contact_account": nil, "rules": []string{},
	})
}

func (s *Server) instanceV2(_ context.Context, c *call) error {
	about := configuration()
	about["urls"] = object{"streaming": streaming(c.base())}
	about["translation"] = object{"enabled": false}
	about["vapid"] = object{"public_key": ""}
	return c.asJSON(object{
		"domain": c.domain(), "title": s.cfg.Title, "version": s.version(),
		"source_url": "", "description": s.cfg.Description,
		"usage":     object{"users": object{"active_month": 0}},
		"thumbnail": object{"url": c.base() + headerPath},
		"icon":      []object{{"src": c.base() + avatarPath, "size": "120x120"}},
		"languages": []string{}, "configuration": about,
		"registrations": object{"enabled": false, "approval_required": false, "message": nil, "url": nil},
		"api_versions":  object{"mastodon": 2},
		"contact":       object{"email": "", "account": nil}, "rules": []string{},
	})
}

// configuration is what both instance entities say about limits. Nothing can
// be posted yet, but clients read these numbers without looking first.
func configuration() object {
	return object{
		"accounts":          object{"max_featured_tags": 0, "max_pinned_statuses": 0},
		"statuses":          object{"max_characters": 500, "max_media_attachments": 0, "characters_reserved_per_url": 23},
		"media_attachments": object{"supported_mime_types": []string{}, "image_size_limit": 0, "image_matrix_limit": 0, "video_size_limit": 0, "video_frame_rate_limit": 0, "video_matrix_limit": 0},
		"polls":             object{"max_options": 0, "max_characters_per_option": 0, "min_expiration": 0, "max_expiration": 0},
	}
}

// streaming is our address as one of web sockets.
func streaming(base string) string { return "ws" + strings.TrimPrefix(base, "http") }

func (s *Server) nodeinfoLinks(_ context.Context, c *call) error {
	return c.asJSON(object{"links": []object{{
		"rel": "http://nodeinfo.diaspora.software/ns/schema/2.0", "href": c.base() + "/nodeinfo/2.0",
	}}})
}

// nodeinfo says which software this is. Clients that do not know kith look at
// the upstream to learn which API it speaks.
func (s *Server) nodeinfo(_ context.Context, c *call) error {
	return c.asJSON(object{
		"version": "2.0", "software": object{"name": "kith", "version": s.cfg.Version},
		"protocols": []string{}, "services": object{"inbound": []string{}, "outbound": []string{}},
		"openRegistrations": false, "usage": object{"users": object{}, "localPosts": 0},
		"metadata": object{"nodeName": s.cfg.Title, "upstream": object{"name": "mastodon"}},
	})
}

// nothing is an empty list: of what kith does not have, and apps ask for when
// they start.
func nothing(_ context.Context, c *call) error { return c.ok([]byte("[]")) }

func noObject(_ context.Context, c *call) error { return c.ok([]byte("{}")) }

func preferences(_ context.Context, c *call) error {
	return c.asJSON(object{
		"posting:default:visibility": "public", "posting:default:sensitive": false, "posting:default:language": nil,
		"reading:expand:media": "default", "reading:expand:spoilers": false,
	})
}
