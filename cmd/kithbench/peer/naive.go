package peer

import (
	"context"
	"math/rand/v2"
	"time"

	"kith/repo/relation"
)

// Naive keeps kith's own rows, and each client runs its own loop on them: read
// both rows, edit, swap where ver is still what was read, else again.
type Naive struct {
	*Kith // reads, loads and measures
}

var _ Peer = (*Naive)(nil)

// tries is how many swaps a client loses before it gives up.
const tries = 1000

// Follow adds the edge to both rows.
func (n *Naive) Follow(ctx context.Context, from, to uint64, at uint32) error {
	return n.loop(ctx, from, to, func(a, b *relation.Draft) { follow(a, b, at) })
}

// Unfollow takes the edge out of both rows.
func (n *Naive) Unfollow(ctx context.Context, from, to uint64) error {
	return n.loop(ctx, from, to, unfollow)
}

// loop waits longer after each loss, at random, as such loops do.
func (n *Naive) loop(ctx context.Context, from, to uint64, edit func(from, to *relation.Draft)) error {
	for try := range tries {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := n.try(ctx, from, to, edit)
		if done || err != nil {
			return err
		}
		time.Sleep(rand.N(time.Millisecond << min(try, 7)))
	}
	return ErrGaveUp
}

func (n *Naive) try(ctx context.Context, from, to uint64, edit func(from, to *relation.Draft)) (done bool, err error) {
	both, err := n.rows.Fresh(ctx, []uint64{from, to})
	if err != nil {
		return false, err
	}
	a, err := relation.Open(both[from])
	if err != nil {
		return false, err
	}
	b, err := relation.Open(both[to])
	if err != nil {
		return false, err
	}
	edit(a, b)
	rows, err := n.changed(a, b)
	if err != nil || len(rows) == 0 {
		return err == nil, err
	}
	return n.rows.Swap(ctx, rows)
}

func (n *Naive) changed(drafts ...*relation.Draft) (rows []relation.Row, err error) {
	for _, d := range drafts {
		if !d.Changed() {
			continue
		}
		r, err := n.rows.Pack(d)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}
