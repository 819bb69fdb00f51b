package bulk

import (
	"context"

	"kith/app/intake"
	"kith/repo/post"
	"kith/repo/spill"
)

// placeAtOnce is how many ids are asked for at once.
const placeAtOnce = 400

// place gives each line its id: that of its post, or one that is free.
func (im *importer) place(ctx context.Context) error {
	for at := int64(0); at < im.lines.end; {
		h, err := im.lines.get(at)
		if err == nil && h.State == isGood {
			err = im.slots.Add(ctx, spill.Record{Hi: orderKey(h.slot()), Lo: uint64(at)})
		}
		if err != nil {
			return err
		}
		at += h.size()
	}
	if err := im.slots.Sort(ctx); err != nil {
		return err
	}
	p := placer{importer: im, given: map[uint64]bool{}}
	w := im.slots.Walk()
	var some []spill.Record
	for more := true; more; {
		var r spill.Record
		if r, more = w.Next(); more {
			some = append(some, r)
		}
		if len(some) == placeAtOnce || !more {
			if err := p.some(ctx, some); err != nil {
				return err
			}
			im.phases.More(int64(len(some)), im.slots.Len())
			some = some[:0]
		}
	}
	if err := w.Err(); err != nil {
		return err
	}
	return im.authors.Sort(ctx)
}

// placer gives lines their ids, in the order of these.
type placer struct {
	*importer
	rows map[uint64]post.Post
	// given are the ids given to lines that later ones may ask for, in the order of queue.
	given map[uint64]bool
	queue []uint64
}

func (p *placer) some(ctx context.Context, some []spill.Record) error {
	ids := make([]uint64, len(some))
	for i, r := range some {
		ids[i] = idOf(r.Hi)
	}
	if err := p.load(ctx, ids); err != nil {
		return err
	}
	for _, r := range some {
		at := int64(r.Lo)
		h, err := p.lines.get(at)
		if err != nil {
			return err
		}
		if err := p.one(ctx, idOf(r.Hi), &h); err != nil {
			return err
		}
		if h.State == isHeld {
			p.sum.Held++
		} else if err := p.authors.Add(ctx, spill.Record{Hi: orderKey(h.Account), Lo: r.Lo}); err != nil {
			return err
		}
		if err := p.lines.put(at, &h); err != nil {
			return err
		}
	}
	return nil
}

func (p *placer) load(ctx context.Context, ids []uint64) (err error) {
	p.rows, err = intake.Retry(ctx, func(ctx context.Context) (map[uint64]post.Post, error) { return p.cfg.Stored.Fresh(ctx, ids) })
	return err
}

// one looks for the post of a line from its slot on.
func (p *placer) one(ctx context.Context, slot uint64, h *header) error {
	for len(p.queue) > 0 && orderKey(p.queue[0]) < orderKey(slot) { // nobody asks for it any more
		delete(p.given, p.queue[0])
		p.queue = p.queue[1:]
	}
	for h.ID = slot; ; h.ID += step {
		row, read := p.rows[h.ID]
		if !read {
			found, err := intake.Retry(ctx, func(ctx context.Context) (map[uint64]post.Post, error) {
				return p.cfg.Stored.Fresh(ctx, []uint64{h.ID})
			})
			if err != nil {
				return err
			}
			row = found[h.ID]
		}
		switch {
		case row.Ver != 0 && row.Imported == h.Key.High && row.Author == h.Account:
			h.State = isHeld
			return nil
		case row.Ver == 0 && !p.given[h.ID]:
			p.given[h.ID] = true
			p.queue = append(p.queue, h.ID)
			return nil
		}
	}
}

// step is from an id to the next of its bucket.
const step = 1 << 10
