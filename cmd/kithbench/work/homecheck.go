package work

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"kith/cmd/kithbench/feed"
	"kith/cmd/kithbench/peer"
)

// How many homes are compared before and after how many posts.
const (
	homesChecked = 30
	postsMade    = 10
)

// check compares homes of all kinds, page by page, with those of a plain peer, before and
// after some posts. Where a peer has tiers it must answer alike from each.
func (h *homes) check(ctx context.Context) error {
	plain := peer.NewPlainHome(h.world)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range homesChecked {
		if i == homesChecked/2 {
			if err := h.postToAll(ctx, plain, r); err != nil {
				return err
			}
		}
		reader := h.readers[r.IntN(len(h.readers))]
		want, err := h.walk(ctx, plain, reader)
		if err != nil {
			return err
		}
		for _, p := range h.peers {
			tiers := []peer.Tier{peer.Hot}
			if _, ok := p.(peer.Tiered); ok {
				tiers = []peer.Tier{peer.Cold, peer.Hot}
			}
			for _, tier := range tiers {
				if err := cool(ctx, p, tier, reader); err != nil {
					return err
				}
				got, err := h.walk(ctx, p, reader)
				if err != nil {
					return fmt.Errorf("home of %d, %s, of %s: %w", reader, tier, p.Name(), err)
				}
				if err := sameHome(got, want); err != nil {
					return fmt.Errorf("home of %d, %s: %s answers otherwise: %w", reader, tier, p.Name(), err)
				}
			}
		}
	}
	return nil
}

// postToAll makes the same posts in all peers, every other one by the star.
func (h *homes) postToAll(ctx context.Context, plain peer.Home, r *rand.Rand) error {
	for i := range postsMade {
		author, text := feed.Author(r.IntN(h.world.Authors)), h.text()
		if i%2 == 0 {
			author = feed.Star
		}
		for _, p := range append(slices.Clone(h.peers), plain) {
			if _, err := p.Post(ctx, author, text); err != nil {
				return fmt.Errorf("post to %s: %w", p.Name(), err)
			}
		}
	}
	return nil
}

// walk reads a home by cursors, as far as every peer keeps it. Ids must fall; those of posts
// that are not of the world, which peers make, become 0.
func (h *homes) walk(ctx context.Context, p peer.Home, reader uint64) (home []feed.Post, err error) {
	newest := h.world.Posts[len(h.world.Posts)-1].ID
	for before := uint64(0); len(home) < peer.HomeCap; {
		page, err := p.Page(ctx, reader, before, homePage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if before > 0 && e.ID >= before {
				return nil, fmt.Errorf("entry %d is the post %d, which is no older than %d before it", len(home), e.ID, before)
			}
			if before = e.ID; e.ID > newest {
				e.ID = 0
			}
			home = append(home, e)
		}
		if len(page) < homePage {
			break
		}
	}
	return home[:min(len(home), peer.HomeCap)], nil
}

func sameHome(got, want []feed.Post) error {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Errorf("entry %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d entries, want %d", len(got), len(want))
	}
	return nil
}

// has checks that a home has a post.
func has(ctx context.Context, p peer.Home, reader, id uint64) error {
	for before := uint64(0); ; {
		page, err := p.Page(ctx, reader, before, homePage)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(page, func(e feed.Post) bool { return e.ID == id }) {
			return nil
		}
		if len(page) == 0 || page[len(page)-1].ID < id {
			return fmt.Errorf("the home of %d lacks the post %d", reader, id)
		}
		before = page[len(page)-1].ID
	}
}
