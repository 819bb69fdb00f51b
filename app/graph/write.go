package graph

import (
	"context"
	"fmt"

	"kith/app/intake"
	"kith/repo/list"
	"kith/repo/relation"
	"kith/repo/spill"
)

// write writes all rows and notes how it left them.
func (im *importer) write(ctx context.Context) error {
	if err := im.eachChunk(ctx, nil, im.writeChunk); err != nil {
		return err
	}
	if err := im.suspects.Sort(ctx); err != nil {
		return err
	}
	return im.vers.Sort(ctx)
}

func (im *importer) writeChunk(ctx context.Context, c chunk, t turn) error {
	outlines, err := im.outlines(ctx, c.ids())
	if err != nil {
		return err
	}
	for part := range c.parts(outlines, im.limits.bytes) {
		if err := im.writePart(ctx, part, outlines, t); err != nil {
			return err
		}
	}
	return t.wait(ctx) // also if there was nothing to write: the next would go ahead
}

func (im *importer) outlines(ctx context.Context, ids []uint64) (map[uint64]relation.Outline, error) {
	return intake.Retry(ctx, func(ctx context.Context) (map[uint64]relation.Outline, error) { return im.cfg.Rows.Outlines(ctx, ids) })
}

// writePart swaps the rows of a part, in halves after a loss. Rows without an
// outline are taken to be absent; nil outlines know nothing.
func (im *importer) writePart(ctx context.Context, part chunk, outlines map[uint64]relation.Outline, t turn) error {
	for try := 1; ; try++ {
		o, won, err := im.try(ctx, part, outlines, t)
		outlines = nil
		switch {
		case err != nil && (!intake.Passing(err) || try >= intake.Tries):
			return err
		case err == nil && won:
			return im.keep(ctx, o)
		case err == nil:
			im.mu.Lock()
			im.sum.LostSwaps++
			im.mu.Unlock()
			if half := len(part) / 2; half > 0 {
				if err := im.writePart(ctx, part[:half], nil, t); err != nil {
					return err
				}
				return im.writePart(ctx, part[half:], nil, t)
			}
			if try >= intake.Tries {
				return im.writeLocked(ctx, part[0])
			}
		}
		if err := intake.Pause(ctx, try, err != nil); err != nil {
			return err
		}
	}
}

// outcome is what became of some rows.
type outcome struct {
	rows               []relation.Row // to be swapped
	vers               []spill.Record
	suspects           []spill.Record
	added, held, block int64 // edges, counted at the follower
	edges              int64 // of both directions
}

// try reads, merges and, in turn, swaps once.
func (im *importer) try(ctx context.Context, part chunk, outlines map[uint64]relation.Outline, t turn) (o outcome, won bool, err error) {
	if o, err = im.prepare(ctx, part, outlines); err != nil || len(o.rows) == 0 {
		return o, true, err
	}
	if err := t.wait(ctx); err != nil {
		return o, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, intake.CallTime)
	defer cancel()
	won, err = im.cfg.Rows.Swap(ctx, o.rows)
	if won && err == nil {
		for _, r := range o.rows {
			o.vers = append(o.vers, spill.Record{Hi: ownerKey(r.ID), Lo: r.Ver})
		}
	}
	return o, won, err
}

// prepare reads and merges.
func (im *importer) prepare(ctx context.Context, part chunk, outlines map[uint64]relation.Outline) (o outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, intake.CallTime)
	defer cancel()
	var there []uint64
	for _, own := range part {
		if _, ok := outlines[own.id]; ok || outlines == nil {
			there = append(there, own.id)
		}
	}
	rows, err := im.cfg.Rows.Fresh(ctx, there)
	if err != nil {
		return o, err
	}
	for _, own := range part {
		row, ok := rows[own.id]
		if !ok {
			row = relation.Absent(own.id)
		}
		d, left, err := im.cfg.Rows.OpenFor(ctx, row, own.edges)
		if err != nil {
			return o, err
		}
		o.merge(d, own, left)
		if !d.Changed() {
			o.vers = append(o.vers, spill.Record{Hi: ownerKey(own.id), Lo: row.Ver})
			continue
		}
		if row, err = im.cfg.Rows.Pack(d); err != nil {
			return o, err
		}
		o.rows = append(o.rows, row)
	}
	return o, nil
}

// merge adds the edges of own to its row and counts what was there. Only those
// left are not in the archive.
func (o *outcome) merge(d *relation.Draft, own owner, left []list.Edge) {
	o.held += outward(own.edges) - outward(left)
	if d.Size() > emptySize {
		o.inspect(d, own.id, left)
	}
	n := d.Merge(left)
	o.added += int64(n.Following)
	o.edges += int64(len(own.edges))
}

// emptySize is the length of a list without entries.
var emptySize = len(relation.Absent(1).List)

// inspect notes which edges the row holds with another time than the file's, or
// will not take.
func (o *outcome) inspect(d *relation.Draft, owner uint64, edges []list.Edge) {
	for _, e := range edges {
		at, is := standingOf(d, e)
		out := int64(1)
		if !e.Out {
			out = 0
		}
		switch is {
		case whole:
			o.held += out
			if at != e.Time {
				o.suspects = append(o.suspects, suspect(pairOf(owner, e), e.Out, false, at))
			}
		case blocked:
			o.block += out
			o.suspects = append(o.suspects, suspect(pairOf(owner, e), e.Out, true, 0))
		}
	}
}

// keep notes a won outcome.
func (im *importer) keep(ctx context.Context, o outcome) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, r := range o.vers {
		if err := im.vers.Add(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range o.suspects {
		if err := im.suspects.Add(ctx, r); err != nil {
			return err
		}
	}
	im.sum.RowsWritten += int64(len(o.rows))
	im.sum.EdgesNew += o.added
	im.sum.EdgesHeld += o.held
	im.sum.Blocked += o.block
	im.phases.More(o.edges, im.edges.Len())
	return nil
}

// outward counts the edges at their follower.
func outward(edges []list.Edge) (n int64) {
	for _, e := range edges {
		if e.Out {
			n++
		}
	}
	return n
}

// writeLocked merges into a row that was lost too often while it holds its lock.
func (im *importer) writeLocked(ctx context.Context, own owner) error {
	var o outcome
	var changed int64
	row, err := intake.Retry(ctx, func(ctx context.Context) (relation.Row, error) {
		return im.cfg.Rows.MergeLocked(ctx, own.id, own.edges, func(d *relation.Draft, left []list.Edge) {
			o, changed = outcome{}, 0
			if o.merge(d, own, left); d.Changed() {
				changed = 1
			}
		})
	})
	if err != nil {
		return fmt.Errorf("merge %d edges into the row of account %d: %w", len(own.edges), own.id, err)
	}
	o.vers = []spill.Record{{Hi: ownerKey(own.id), Lo: row.Ver}}
	im.mu.Lock()
	im.sum.RowsWritten += changed
	im.mu.Unlock()
	return im.keep(ctx, o)
}
