package peer

import (
	"context"
	"math/rand/v2"
	"time"

	"kith/repo/relation"
)

// naive keeps kith's rows, and each client has its own loop: read both rows, edit, swap if ver
// is still what was read, else try again.
type naive struct {
	*Kith // reads, loads and measures
}

// tries is after how many lost swaps a client gives up.
const tries = 1000

// Follow adds the edge to both rows.
func (n *naive) Follow(ctx context.Context, from, to uint64, at uint32) error {
	return n.loop(ctx, from, to, func(a, b *relation.Draft) { follow(a, b, at) })
}

// Unfollow takes the edge out of both rows.
func (n *naive) Unfollow(ctx context.Context, from, to uint64) error {
	return n.loop(ctx, from, to, unfollow)
}

// loop waits longer after each lost swap, with jitter.
func (n *naive) loop(ctx context.Context, from, to uint64, edit func(from, to *relation.Draft)) error {
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

func (n *naive) try(ctx context.Context, from, to uint64, edit func(from, to *relation.Draft)) (done bool, err error) {
	read, err := n.rows.Fresh(ctx, []uint64{from, to})
	if err != nil {
		return false, err
	}
	a, err := relation.Open(read[from])
	if err != nil {
		return false, err
	}
	b, err := relation.Open(read[to])
	if err != nil {
		return false, err
	}
	edit(a, b)
	var rows []relation.Row
	for _, d := range []*relation.Draft{a, b} {
		if !d.Changed() {
			continue
		}
		r, err := n.rows.Pack(d)
		if err != nil {
			return false, err
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return true, nil
	}
	return n.rows.Swap(ctx, rows)
}
