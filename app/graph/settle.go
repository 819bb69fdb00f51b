package graph

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"kith/app/intake"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/spill"
)

const (
	// maxPairs is how many pairs are remembered before they are repaired.
	maxPairs = 256
	// repairsAtOnce is how many edits of a writer wait for the committer at once.
	repairsAtOnce = 64
)

// check finds the rows that moved on since the import left them.
func (im *importer) check(ctx context.Context) error {
	walk := im.vers.Walk()
	left := make(map[uint64]uint64, maxAccounts)
	for more := true; more; {
		var r spill.Record
		if r, more = walk.Next(); more {
			left[accountOf(r.Hi)] = r.Lo
		}
		if len(left) < maxAccounts && more || len(left) == 0 {
			continue
		}
		if err := im.checkRows(ctx, left); err != nil {
			return err
		}
		im.phases.More(int64(len(left)), im.vers.Len())
		clear(left)
	}
	if err := walk.Err(); err != nil {
		return err
	}
	im.sum.RowsMoved = im.touched.Len()
	return im.touched.Sort(ctx)
}

// checkRows notes those of the rows whose ver is another than it was left with.
func (im *importer) checkRows(ctx context.Context, left map[uint64]uint64) error {
	vers, err := intake.Retry(ctx, func(ctx context.Context) (map[uint64]uint64, error) {
		return im.cfg.Rows.Vers(ctx, slices.Collect(maps.Keys(left)))
	})
	if err != nil {
		return err
	}
	for id, ver := range left {
		if vers[id] == ver {
			continue
		}
		if err := im.touched.Add(ctx, spill.Record{Hi: ownerKey(id)}); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the two sides of edges agree: of those that were left
// different, and of those whose rows moved on.
func (im *importer) settle(ctx context.Context) error {
	if err := im.settleSuspects(ctx); err != nil {
		return err
	}
	if im.touched.Len() == 0 {
		return nil
	}
	return im.eachChunk(ctx, im.touched.Walk(), im.settleChunk)
}

// suspect notes that one side of an edge is blocked or held since another
// time. The two sides of an edge that say the same stand side by side when sorted.
func suspect(p pair, out, blocked bool, at uint32) spill.Record {
	r := spill.Record{Hi: ownerKey(p.follower), Lo: p.followee << 1, Val: at}
	if !out {
		r.Lo |= 1
	}
	if blocked {
		r.Hi |= 1 << 63
	}
	return r
}

// settleSuspects repairs the edges of which only one side is noted, or the
// sides with different times.
func (im *importer) settleSuspects(ctx context.Context) error {
	walk := im.suspects.Walk()
	var pairs []pair
	r, more := walk.Next()
	for more {
		other, ok := walk.Next()
		same := ok && other.Hi == r.Hi && other.Lo == r.Lo|1 && r.Lo&1 == 0
		if !same || other.Val != r.Val {
			pairs = append(pairs, pair{accountOf(r.Hi &^ (1 << 63)), r.Lo >> 1})
		}
		r, more = other, ok
		if same {
			r, more = walk.Next()
		}
		if len(pairs) >= maxPairs || !more {
			if err := im.repair(ctx, pairs); err != nil {
				return err
			}
			pairs = pairs[:0]
		}
	}
	return walk.Err()
}

// settleChunk repairs the edges of which the owners' rows do not say what
// the file says.
func (im *importer) settleChunk(ctx context.Context, c chunk, _ turn) error {
	outlines, err := im.outlines(ctx, c.ids())
	if err != nil {
		return err
	}
	for part := range c.parts(outlines, im.limits.bytes) {
		rows, err := intake.Retry(ctx, func(ctx context.Context) (map[uint64]relation.Row, error) { return im.cfg.Rows.Fresh(ctx, part.ids()) })
		if err != nil {
			return err
		}
		for _, own := range part {
			d, err := relation.Open(rows[own.id])
			if err != nil {
				return err
			}
			if err := im.repair(ctx, deviating(d, own)); err != nil {
				return err
			}
		}
	}
	im.phases.More(c.edges(), 0)
	return nil
}

// deviating returns the edges that the row does not hold as the file has them.
func deviating(d *relation.Draft, own owner) (pairs []pair) {
	for _, e := range own.edges {
		if at, is := standingOf(d, e); !d.Knows(e.ID) || is != whole || at != e.Time {
			pairs = append(pairs, pairOf(own.id, e))
		}
	}
	return pairs
}

// repair makes the two rows of each pair agree, as one edit each: the committer reads the
// rows of many together.
func (im *importer) repair(ctx context.Context, pairs []pair) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(repairsAtOnce)
	for _, p := range pairs {
		group.Go(func() error {
			repaired, err := intake.Retry(ctx, func(ctx context.Context) (bool, error) {
				return im.cfg.Relations.Repair(ctx, p.follower, p.followee, relation.Settle)
			})
			if err != nil {
				return fmt.Errorf("settle that %d follows %d: %w", p.follower, p.followee, err)
			}
			if repaired {
				im.mu.Lock()
				im.sum.Settled++
				im.mu.Unlock()
			}
			return nil
		})
	}
	return group.Wait()
}

// standing is what one row says about one edge.
type standing uint8

// What a row can say.
const (
	none    standing = iota
	whole            // the edge is there
	blocked          // one blocks the other
)

// standingOf returns what the row says about an edge of its owner, and since
// when it is there. A row with an archive may say none of what stands there.
func standingOf(d *relation.Draft, e list.Edge) (uint32, standing) {
	rel := d.Rel(e.ID)
	if rel&(list.IsBlocking|list.IsBlockedBy) != 0 {
		return 0, blocked
	}
	mine, theirs := d.Times(e.ID)
	switch {
	case e.Out && rel&list.IsFollowing != 0:
		return mine, whole
	case !e.Out && rel&list.IsFollower != 0:
		return theirs, whole
	}
	return 0, none
}
