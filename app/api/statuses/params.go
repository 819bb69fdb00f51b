// Package statuses has the routes of posts.
package statuses

import (
	"strings"

	"kith/app/api/core"
	"kith/app/post"
	"kith/app/post/content"
)

// unsupported are parameters that change what a post is. To leave them out silently would
// publish what nobody wanted.
var unsupported = []struct{ name, why string }{
	{"scheduled_at", "posts cannot be scheduled"},
	{"poll", "polls are not supported"},
	{"quoted_status_id", "posts cannot be quoted"},
	{"media_ids", "files cannot be uploaded; give their addresses as media[][url]"},
}

// readPost reads what a caller wants to post; the service checks its bounds. An extension
// is media: up to four pictures that the product keeps, each with url, description and
// preview_url.
func readPost(v core.Values) (d post.Draft, err error) {
	for _, u := range unsupported {
		if v.Given(u.name) {
			return d, core.Unprocessable("Validation failed: %s", u.why)
		}
	}
	for name, into := range map[string]*string{"status": &d.Text, "spoiler_text": &d.Spoiler, "language": &d.Language} {
		text, err := v.One(name)
		if err != nil {
			return d, err
		}
		*into = strings.TrimSpace(text)
	}
	sensitive, err := v.Flag("sensitive")
	if err != nil {
		return d, err
	}
	if d.Text == "" { // as in Mastodon: the warning is the text, and warns of nothing
		d.Text, d.Spoiler = d.Spoiler, ""
	}
	d.Sensitive = sensitive != nil && *sensitive || d.Spoiler != ""
	if d.ReplyTo, err = readParent(v); err != nil {
		return d, err
	}
	if d.Visibility, err = readVisibility(v); err != nil {
		return d, err
	}
	d.Media, err = readMedia(v)
	return d, err
}

func readParent(v core.Values) (uint64, error) {
	text, err := v.One("in_reply_to_id")
	if text == "" {
		return 0, err
	}
	id, ok := core.ParseID(text)
	if !ok {
		return 0, post.ErrNoParent
	}
	return id, nil
}

func readVisibility(v core.Values) (content.Visibility, error) {
	name, err := v.One("visibility")
	if name == "" {
		return 0, err // public
	}
	visibility, ok := content.ParseVisibility(name)
	if !ok {
		return 0, core.Unprocessable("Validation failed: visibility must be public, unlisted, private or direct")
	}
	return visibility, nil
}

func readMedia(v core.Values) (all []content.Media, err error) {
	objects, err := v.Objects("media")
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		var m content.Media
		for name, into := range map[string]*string{"url": &m.URL, "preview_url": &m.Preview, "description": &m.Description} {
			if *into, err = o.One(name); err != nil {
				return nil, err
			}
		}
		all = append(all, m)
	}
	return all, nil
}
