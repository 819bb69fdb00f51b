package work

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kith/cmd/kithbench/peer"
	"kith/cmd/kithbench/report"
)

// crowd is clients who follow one account, as somebody new each time.
type crowd struct {
	peer peer.Peer
	star uint64
	at   moments
	// first is before the first follower, and last the latest of each client whose
	// follow was acknowledged.
	first uint64
	last  []uint64
}

func newCrowd(p peer.Peer, star, first uint64, clients int) *crowd {
	return &crowd{peer: p, star: star, first: first, last: make([]uint64, clients)}
}

func (c *crowd) follow(ctx context.Context, cl *client) error {
	at := c.at.next()
	fan := c.first + uint64(at-changesFrom)
	err := c.peer.Follow(ctx, fan, c.star, at)
	if err == nil {
		c.last[cl.n] = fan
	}
	return err
}

// after looks for every follow of a round in the number of followers, which was
// before, and for the last ones in the lists of both sides.
func (c *crowd) after(before int64) func(context.Context, report.Round) error {
	return func(ctx context.Context, r report.Round) error {
		if err := hasGained(ctx, c.peer, c.star, before, r); err != nil {
			return err
		}
		return eventually(ctx, c.fans)
	}
}

// hasGained compares the number of an account's followers with what it was
// before a round of follows. One that was given up may have been made after all,
// if its answer was lost.
func hasGained(ctx context.Context, p peer.Peer, id uint64, before int64, r report.Round) error {
	return eventually(ctx, func(ctx context.Context) error {
		n, err := followersOf(ctx, p, id)
		if err != nil {
			return err
		}
		if gained := n - before; gained < r.Ops || gained > r.Ops+r.Failed {
			return fmt.Errorf("after %d follows that were acknowledged and %d given up, %d has %d followers more", r.Ops, r.Failed, id, gained)
		}
		return nil
	})
}

// fans looks at the last follower of each client from both sides.
func (c *crowd) fans(ctx context.Context) error {
	ids := slices.DeleteFunc(slices.Sorted(slices.Values(c.last)), func(id uint64) bool { return id == 0 })
	for part := range slices.Chunk(ids, 100) {
		states, err := c.peer.States(ctx, c.star, part)
		if err != nil {
			return err
		}
		counts, err := c.peer.Counts(ctx, part)
		if err != nil {
			return err
		}
		for i, id := range part {
			if !states[i].FollowedBy || counts[i] != (peer.Counts{Following: 1}) {
				return fmt.Errorf("the follow of %d by %d was acknowledged, but it is %+v, and the follower has %+v", c.star, id, states[i], counts[i])
			}
		}
	}
	return nil
}

func followersOf(ctx context.Context, p peer.Peer, id uint64) (int64, error) {
	counts, err := p.Counts(ctx, []uint64{id})
	if err != nil {
		return 0, err
	}
	return counts[0].Followers, nil
}

// settled is how long a peer may take until its answers have all that it
// acknowledged. Only kith needs any of it, whose counts may be a second old.
const settled = 3 * time.Second

// eventually asks until an answer is right or it should be.
func eventually(ctx context.Context, check func(context.Context) error) error {
	for begin := time.Now(); ; {
		err := check(ctx)
		if err == nil || time.Since(begin) > settled {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
