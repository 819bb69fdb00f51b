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
		if !known(s) {
			return fmt.Errorf("unknown scope %q: it must be one of %s, or read: or write: and one of %s",
				s, strings.Join(parents, ", "), strings.Join(children, ", "))
		}
	}
	return nil
}

func known(scope string) bool {
	parent, child, narrowed := strings.Cut(scope, ":")
	if !narrowed {
		return slices.Contains(parents, scope)
	}
	return (parent == "read" || parent == "write") && slices.Contains(children, child)
}

// ServerScope is that of the product's own servers, which may say what anybody
// did. No other scope covers it: a token must name it.
const ServerScope = "write:interactions"

// Covers reports whether the scope granted allows what wants the scope wanted.
func Covers(granted, wanted string) bool {
	if granted == wanted {
		return true
	}
	if wanted == ServerScope {
		return false
	}
	parent, child, narrowed := strings.Cut(wanted, ":")
	return narrowed && (granted == parent || granted == "follow" && (child == "follows" || child == "blocks" || child == "mutes"))
}
