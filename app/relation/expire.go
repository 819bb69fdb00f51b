package relation

import (
	"context"
	"time"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// Expiry says what passes with time.
type Expiry struct {
	// Requests is how long a request to follow waits for an answer, 0: for ever.
	Requests time.Duration
	// Dry counts what would be dropped, and drops nothing.
	Dry bool
}

// Expired is what has passed.
type Expired struct{ Mutes, Requests int }

// expireBatch is how many entries of one account are looked at together, and how
// many mutes one edit ends.
const expireBatch = 500

// Expire drops from the lists and the archive of one account the mutes past their
// end and the requests that nobody answered in time, those from the account and
// those to it, on both sides. It looks at row, which may be old: what has changed
// meanwhile stays. Requests of an unknown time do not expire.
func (s *Service) Expire(ctx context.Context, row relation.Row, e Expiry) (done Expired, err error) {
	if done.Mutes, err = s.expireMutes(ctx, row, e.Dry); err != nil || e.Requests <= 0 {
		return done, err
	}
	before := uint32(max(0, s.cfg.Now().Add(-e.Requests).Unix()))
	for _, o := range []list.Order{list.ByRequest, list.ByRequested} {
		n, err := s.expireRequests(ctx, row, o, before, e.Dry)
		done.Requests += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// each goes through a range of an order of a row and its archive, in batches.
func (s *Service) each(ctx context.Context, row relation.Row, o list.Order, r Range, fn func([]list.Entry) error) error {
	for r.Limit = expireBatch; ; {
		page, err := s.cfg.Rows.Page(ctx, row, o, r)
		if err != nil {
			return app.From(err)
		}
		if len(page) > 0 {
			if err := fn(page); err != nil {
				return err
			}
		}
		if len(page) < r.Limit {
			return nil
		}
		r.Before = page[len(page)-1].Cursor()
	}
}

// over reports that a mute with these options has ended.
func over(o list.Option, now uint32) bool { return o.MuteUntil != 0 && o.MuteUntil <= now }

func (s *Service) expireMutes(ctx context.Context, row relation.Row, dry bool) (done int, err error) {
	owner, now := row.AccountID, s.now()
	err = s.each(ctx, row, list.ByMuting, Range{}, func(page []list.Entry) error {
		ended, err := s.ended(ctx, row, page, now)
		if err != nil || dry || len(ended) == 0 {
			done += len(ended)
			return err
		}
		dropped := 0
		err = s.commit(ctx, ActExpire, 0, []uint64{owner}, func(rows map[uint64]*relation.Draft, done *changes) (err error) {
			dropped, err = unmuteEnded(rows[owner], ended, now, done)
			return err
		})
		done += dropped
		return err
	})
	return done, err
}

// ended returns which of the muted on a page are muted until a time that has passed.
func (s *Service) ended(ctx context.Context, row relation.Row, page []list.Entry, now uint32) (ended []uint64, err error) {
	ids := make([]uint64, len(page))
	for i, e := range page {
		ids[i] = e.ID
	}
	_, options, err := s.cfg.Rows.Rels(ctx, row, ids, list.HasOption)
	if err != nil {
		return nil, app.From(err)
	}
	for _, id := range ids {
		o, err := options.Of(id)
		if err != nil {
			return nil, app.From(err)
		}
		if over(o, now) {
			ended = append(ended, id)
		}
	}
	return ended, nil
}

// unmuteEnded drops the mutes of ids that have ended, as they now are.
func unmuteEnded(me *relation.Draft, ids []uint64, now uint32, done *changes) (dropped int, err error) {
	known := true
	for _, id := range ids {
		known = me.Own(id) && known
	}
	if !known {
		return 0, relation.ErrRecall
	}
	for _, id := range ids {
		o := me.Option(id)
		if !over(o, now) || !me.Drop(list.Muting, id) {
			continue
		}
		done.note(true, Unmuted, me, id, now)
		o.HideNotifications, o.MuteUntil = false, 0
		if _, err := me.SetOption(id, o); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// expireRequests drops the requests of one order of a row that were made before a
// time.
func (s *Service) expireRequests(ctx context.Context, row relation.Row, o list.Order, before uint32, dry bool) (done int, err error) {
	old := Range{Before: list.Cursor{Time: before, ID: 1}, After: list.Cursor{ID: list.MaxID}}
	err = s.each(ctx, row, o, old, func(page []list.Entry) error {
		for _, e := range page {
			requester, asked := row.AccountID, e.ID
			if o == list.ByRequest {
				requester, asked = e.ID, row.AccountID
			}
			dropped := dry
			if !dry {
				var err error
				if dropped, err = s.expireRequest(ctx, requester, asked, before); err != nil {
					return err
				}
			}
			if dropped {
				done++
			}
		}
		return nil
	})
	return done, err
}

// expireRequest drops one request on both sides, unless it was made anew.
func (s *Service) expireRequest(ctx context.Context, requester, asked uint64, before uint32) (dropped bool, err error) {
	err = s.commit(ctx, ActExpire, 0, []uint64{requester, asked}, func(rows map[uint64]*relation.Draft, done *changes) error {
		p := pair{rows[requester], rows[asked], s.now(), done}
		if !relation.Settle(p.me, p.them) {
			return relation.ErrRecall
		}
		if dropped = p.askedBefore(before); !dropped {
			return nil
		}
		withdraw(p)
		if follows(p) {
			return nil // what was chosen belongs to a follow
		}
		return forgetFollow(p)
	})
	return dropped, err
}

// askedBefore reports that a request stands in one of the rows and that no row
// says it was made later.
func (p pair) askedBefore(before uint32) bool {
	mine, have := p.me.Time(list.Requested, p.them.AccountID())
	theirs, has := p.them.Time(list.Requests, p.me.AccountID())
	return (have || has) && max(mine, theirs) < before
}
