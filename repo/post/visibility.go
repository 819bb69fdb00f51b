package post

import "slices"

// visibilities are the names of Mastodon's clients.
var visibilities = [...]string{Public: "public", Unlisted: "unlisted", Followers: "private", Direct: "direct"}

// String returns the name of v, as clients know it; of one that is unknown, the narrowest.
func (v Visibility) String() string { return visibilities[min(v, Direct)] }

// ParseVisibility returns the visibility of a name, and whether there is one.
func ParseVisibility(name string) (Visibility, bool) {
	i := slices.Index(visibilities[:], name)
	return Visibility(max(i, 0)), i >= 0
}
