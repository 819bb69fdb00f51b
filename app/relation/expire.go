package relation

import (
	"context"
	"time"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// Expiry says what expires.
type Expiry struct {
	// Requests is how long a request to follow waits for an answer, 0: for ever.
	Requests time.Duration
	// Dry only counts what would be dropped.
	Dry bool
}

// Expired counts what has expired.
type Expired struct{ Mutes, Requests int }

// expireBatch is how many entries of one account are read together, and how many mutes
// one edit ends.
const expireBatch = 500

// Expire drops from the row and the archive of one account the mutes past their end and
// the requests, from and to it, that were not answered in time, on both sides. row may be
// old: what has changed since stays. Requests of an unknown time do not expire.
func (s *Service) Expire(ctx context.Context, row relation.Row, e Expiry) (done Expired, err error) {
	err = s.each(ctx, row, list.ByMuting, Range{}, func(page []list.Entry) error {
		n, err := s.expireMutes(ctx, row, page, e.Dry)
		done.Mutes += n
		return err
	})
	if err != nil || e.Requests <= 0 {
		return done, err
	}
	before := uint32(max(0, s.cfg.Now().Add(-e.Requests).Unix()))
	old := Range{Before: list.Cursor{Time: before, ID: 1}, After: list.Cursor{ID: list.MaxID}}
	for _, o := range []list.Order{list.ByRequest, list.ByRequested} {
		err := s.each(ctx, row, o, old, func(page []list.Entry) error {
			for _, entry := range page {
				requester, asked := row.ID, entry.ID
				if o == list.ByRequest {
					requester, asked = asked, requester
				}
				dropped, err := e.Dry, error(nil)
				if !e.Dry {
					dropped, err = s.expireRequest(ctx, requester, asked, before)
				}
				if err != nil {
					return err
				}
				if dropped {
					done.Requests++
				}
			}
			return nil
		})
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// each goes through a range of an order of a row and its archive, in batches.
func (s *Service) each(ctx context.Context, row relation.Row, o list.Order, r Range, fn func([]list.Entry) error) error {
	r.Limit = expireBatch
	for {
		page, err := s.cfg.Rows.Page(ctx, row, o, r)
		if err == nil && len(page) > 0 {
			err = fn(page)
		}
		if err != nil || len(page) < r.Limit {
			return app.From(err)
		}
		r.Before = page[len(page)-1].Cursor()
	}
}

// expireMutes ends the mutes on a page that are over, unless they were renewed since.
func (s *Service) expireMutes(ctx context.Context, row relation.Row, page []list.Entry, dry bool) (int, error) {
	ids := make([]uint64, len(page))
	for i, e := range page {
		ids[i] = e.ID
	}
	_, options, err := s.cfg.Rows.Rels(ctx, row, ids, list.HasOption)
	if err != nil {
		return 0, err
	}
	ended, now := ids[:0], uint32(s.cfg.Now().Unix())
	for _, id := range ids {
		o, err := options.Of(id)
		if err != nil {
			return 0, err
		}
		if over(o, now) {
			ended = append(ended, id)
		}
	}
	if dry || len(ended) == 0 {
		return len(ended), nil
	}
	var dropped int
	err = s.commit(ctx, ActExpire, 0, []uint64{row.ID}, func(rows map[uint64]*relation.Draft, done *changes) error {
		p, known := pair{me: rows[row.ID], from: row.ID, done: done}, true
		for _, id := range ended {
			known = p.me.Own(id) && known
		}
		if !known {
			return relation.ErrRecall
		}
		dropped = 0
		for _, p.to = range ended {
			if _, muting := p.me.Time(list.Muting, p.to); !muting || !over(p.me.Option(p.to), now) {
				continue
			}
			if err := p.unmute(); err != nil {
				return err
			}
			dropped++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return dropped, nil
}

// expireRequest drops a request on both sides if it is in one of the rows, and neither
// has a later time.
func (s *Service) expireRequest(ctx context.Context, requester, asked uint64, before uint32) (bool, error) {
	var dropped bool
	err := s.commit(ctx, ActExpire, 0, []uint64{requester, asked}, func(rows map[uint64]*relation.Draft, done *changes) error {
		p := pair{me: rows[requester], them: rows[asked], from: requester, to: asked, done: done}
		if !relation.Settle(p.me, p.them) {
			return relation.ErrRecall
		}
		mine, have := p.me.Time(list.Requested, asked)
		theirs, has := p.them.Time(list.Requests, requester)
		if dropped = (have || has) && max(mine, theirs) < before; !dropped {
			return nil
		}
		p.withdraw()
		if p.follows() {
			return nil // the options belong to the follow
		}
		return p.dropOptions()
	})
	if err != nil {
		return false, err
	}
	return dropped, nil
}
