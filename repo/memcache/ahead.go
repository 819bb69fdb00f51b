package memcache

import (
	"context"
	"slices"
	"sync"
)

// ahead are the answers to a question that was asked before they are wanted.
type ahead struct {
	client *Client

	mu    sync.Mutex
	keys  []string
	items []Item
}

type aheadKey struct{}

// Ahead asks for keys in one trip and keeps the answers in the context that it returns. A
// Get or GetLong with it that asks for some of them only takes these, once: the next one
// asks again, unless a key was named twice. It is for who is going to ask several stores, one after the other: a trip costs
// more than what it brings.
func (c *Client) Ahead(ctx context.Context, keys []string) context.Context {
	asked := slices.Compact(slices.Sorted(slices.Values(keys)))
	found := make([]Item, len(asked))
	c.Get(ctx, asked, found)
	a := &ahead{client: c, keys: keys, items: make([]Item, len(keys))}
	for i, key := range keys {
		at, _ := slices.BinarySearch(asked, key)
		a.items[i] = found[at]
	}
	return context.WithValue(ctx, aheadKey{}, a)
}

// take puts the answers to keys into out and forgets them, if it has them all.
func (a *ahead) take(keys []string, out []Item) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(keys) > len(a.keys) {
		return false
	}
	for i, key := range keys {
		at := slices.Index(a.keys, key)
		if at < 0 || slices.Contains(keys[:i], key) {
			return false
		}
	}
	for i, key := range keys {
		at := slices.Index(a.keys, key)
		out[i] = a.items[at]
		a.keys, a.items = slices.Delete(a.keys, at, at+1), slices.Delete(a.items, at, at+1)
	}
	return true
}
