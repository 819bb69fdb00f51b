package content

import "kith/repo/post"

// What stands in a post is kept as it is decided on.
type (
	Post       = post.Post
	Content    = post.Content
	Media      = post.Media
	Visibility = post.Visibility
)

// ParseVisibility returns the visibility that clients give a name, and whether there is
// one.
func ParseVisibility(name string) (Visibility, bool) { return post.ParseVisibility(name) }
