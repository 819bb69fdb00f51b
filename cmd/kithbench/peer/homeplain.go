package peer

import (
	"context"
	"slices"

	"kith/cmd/kithbench/feed"
)

// PlainHome is a home peer too simple to be wrong. Only one goroutine may call it.
type PlainHome struct {
	Home  // nil: only the methods below are called
	ids   ids
	fans  map[uint64][]uint64
	homes map[uint64][]feed.Post // newest first
}

// NewPlainHome returns a plain home peer with a world.
func NewPlainHome(w *feed.World) *PlainHome {
	h := &PlainHome{fans: map[uint64][]uint64{}, homes: map[uint64][]feed.Post{}}
	for _, e := range w.Graph.Edges {
		h.fans[e.To] = append(h.fans[e.To], e.From)
	}
	posts := map[uint64]feed.Post{}
	for _, p := range w.Posts {
		posts[p.ID] = p
	}
	for reader, home := range w.Homes(HomeCap) {
		for _, id := range home {
			h.homes[reader] = append(h.homes[reader], posts[id])
		}
	}
	return h
}

// Name returns the name of the peer.
func (h *PlainHome) Name() string { return "a plain home" }

// Post puts the post first in the home of each follower.
func (h *PlainHome) Post(_ context.Context, author uint64, text string) (uint64, error) {
	p := feed.Post{ID: h.ids.next(author), Author: author, Name: feed.Name(author), Text: text}
	for _, fan := range h.fans[author] {
		h.homes[fan] = slices.Insert(h.homes[fan], 0, p)[:min(len(h.homes[fan])+1, HomeCap)]
	}
	return p.ID, nil
}

// Page returns a part of a home.
func (h *PlainHome) Page(_ context.Context, reader, before uint64, limit int) ([]feed.Post, error) {
	home := h.homes[reader]
	if before > 0 {
		home = home[slices.IndexFunc(home, func(p feed.Post) bool { return p.ID == before })+1:]
	}
	return slices.Clone(home[:min(limit, len(home))]), nil
}
