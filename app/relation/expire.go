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

// expireBatch is how many mutes of one account one edit ends.
const expireBatch = 500

// Expire drops from the lists of one account the mutes past their end and the
// requests that nobody answered in time, those from the account and those to
// it, on both sides. It looks at row, which may be old: what has changed
// meanwhile stays. Requests of an unknown time do not expire.
func (s *Service) Expire(ctx context.Context, row relation.Row, e Expiry) (done Expired, err error) {
	v, err := row.View()
	if err != nil {
		return done, app.From(err)
	}
	now := s.now()
	if done.Mutes, err = s.expireMutes(ctx, row.AccountID, v, now, e.Dry); err != nil || e.Requests <= 0 {
		return done, err
	}
	before := uint32(max(0, s.cfg.Now().Add(-e.Requests).Unix()))
	for _, section := range []list.Section{list.Requests, list.Requested} {
		n, err := s.expireRequests(ctx, row.AccountID, v, section, before, e.Dry)
		done.Requests += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// endedMutes returns whom the owner of v mutes until a time that has passed.
func endedMutes(v list.View, now uint32) ([]uint64, error) {
	var muted, ended []uint64
	err := v.Each(list.Muting, func(id uint64, _, _ uint32) bool {
		muted = append(muted, id)
		return true
	})
	if err != nil {
		return nil, app.From(err)
	}
	chosen := make(map[uint64]list.Option, len(muted))
	if err := v.Options(muted, chosen); err != nil {
		return nil, app.From(err)
	}
	for _, id := range muted {
		if over(chosen[id], now) {
			ended = append(ended, id)
		}
	}
	return ended, nil
}

// over reports that a mute with these options has ended.
func over(o list.Option, now uint32) bool { return o.MuteUntil != 0 && o.MuteUntil <= now }

func (s *Service) expireMutes(ctx context.Context, owner uint64, v list.View, now uint32, dry bool) (int, error) {
	ended, err := endedMutes(v, now)
	if err != nil || dry {
		return len(ended), err
	}
	done := 0
	for len(ended) > 0 {
		part := ended[:min(len(ended), expireBatch)]
		ended = ended[len(part):]
		dropped := 0
		err := s.cfg.Committer.Do(ctx, []uint64{owner}, func(rows map[uint64]*relation.Draft) error {
			var err error
			dropped, err = unmuteEnded(rows[owner], part, now)
			return err
		})
		if err != nil {
			return done, app.From(err)
		}
		done += dropped
	}
	return done, nil
}

// unmuteEnded drops the mutes of ids that have ended, as they now are.
func unmuteEnded(me *relation.Draft, ids []uint64, now uint32) (dropped int, err error) {
	for _, id := range ids {
		o := me.Option(id)
		if !over(o, now) || !me.Drop(list.Muting, id) {
			continue
		}
		o.HideNotifications, o.MuteUntil = false, 0
		if _, err := me.SetOption(id, o); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// expireRequests drops the requests in one section of the owner's row, which
// were made before a time.
func (s *Service) expireRequests(ctx context.Context, owner uint64, v list.View, section list.Section, before uint32, dry bool) (int, error) {
	var old []uint64
	err := v.Each(section, func(id uint64, at, _ uint32) bool {
		if at != 0 && at < before {
			old = append(old, id)
		}
		return true
	})
	if err != nil {
		return 0, app.From(err)
	}
	if dry {
		return len(old), nil
	}
	done := 0
	for _, id := range old {
		requester, asked := owner, id
		if section == list.Requests {
			requester, asked = id, owner
		}
		dropped, err := s.expireRequest(ctx, requester, asked, before)
		if err != nil {
			return done, err
		}
		if dropped {
			done++
		}
	}
	return done, nil
}

// expireRequest drops one request on both sides, unless it was made anew.
func (s *Service) expireRequest(ctx context.Context, requester, asked uint64, before uint32) (dropped bool, err error) {
	err = s.cfg.Committer.Do(ctx, []uint64{requester, asked}, func(rows map[uint64]*relation.Draft) error {
		p := pair{me: rows[requester], them: rows[asked], now: s.now()}
		if dropped = p.askedBefore(before); !dropped {
			return nil
		}
		withdraw(p)
		if follows(p) || !p.me.Knows(asked) {
			return nil // what was chosen belongs to a follow
		}
		return forgetFollow(p)
	})
	return dropped, app.From(err)
}

// askedBefore reports that a request stands in one of the rows and that no row
// says it was made later.
func (p pair) askedBefore(before uint32) bool {
	mine, have := p.me.Time(list.Requested, p.them.AccountID())
	theirs, has := p.them.Time(list.Requests, p.me.AccountID())
	return (have || has) && max(mine, theirs) < before
}
