package token

import (
	"fmt"
	"slices"
	"strings"
)

// parents are the scopes that stand alone; the first two have children.
var parents = []string{"read", "write", "follow", "push", "profile"}

// children are what read: and write: can be narrowed to.
var children = []string{
	"accounts", "blocks", "bookmarks", "conversations", "favourites", "filters",
	"follows", "interactions", "lists", "media", "mutes", "notifications",
	"reports", "search", "statuses",
}

// ParseScopes reads scopes separated by spaces and refuses words that are none.
func ParseScopes(text string) ([]string, error) {
	scopes := strings.Fields(text)
	if len(scopes) == 0 {
		return nil, fmt.Errorf("no scope: name at least one of %s", strings.Join(parents, ", "))
	}
	return scopes, checkScopes(scopes)
}

func checkScopes(scopes []string) error {
	for _, s := range scopes {
		if !valid(s) {
			return fmt.Errorf("unknown scope %q: it must be one of %s, or read: or write: and one of %s",
				s, strings.Join(parents, ", "), strings.Join(children, ", "))
		}
	}
	return nil
}

func valid(scope string) bool {
	parent, child, narrowed := strings.Cut(scope, ":")
	if !narrowed {
		return slices.Contains(parents, scope)
	}
	return (parent == "read" || parent == "write") && slices.Contains(children, child)
}

// ServerScope is for the product's own servers, which may report what anybody did.
// No other scope covers it: a token must name it.
const ServerScope = "write:interactions"

// Allows reports whether a scope of the claims covers one of those wanted.
func (c Claims) Allows(wanted ...string) bool {
	for _, w := range wanted {
		parent, child, narrowed := strings.Cut(w, ":")
		for _, granted := range c.Scopes {
			switch {
			case granted == w:
				return true
			case w == ServerScope || !narrowed:
			case granted == parent, granted == "follow" && (child == "follows" || child == "blocks" || child == "mutes"):
				return true
			}
		}
	}
	return false
}
