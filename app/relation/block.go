package relation

import (
	"context"
	"math"
	"time"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// MaxNote is the length of a note in characters.
const MaxNote = 2000

// MaxMute is the longest duration of a mute with an end.
const MaxMute = 100 * 365 * 24 * time.Hour

// Block ends all follows and requests between the two and keeps them from
// following each other.
func (s *Service) Block(ctx context.Context, actor, target uint64) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	return s.settled(ctx, ActBlock, actor, target, func(p pair) error {
		for _, side := range []pair{p, p.turned()} {
			disconnect(side)
			withdraw(side)
			if err := forgetFollow(side); err != nil {
				return err
			}
		}
		mine := p.me.Put(list.Blocking, target, p.now)
		p.done.note(mine, Blocked, p.me, target, p.now)
		p.both(mine, p.them.Put(list.BlockedBy, actor, p.now))
		return nil
	})
}

// Unblock ends a block; the follows it ended stay ended.
func (s *Service) Unblock(ctx context.Context, actor, target uint64) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	return s.settled(ctx, ActUnblock, actor, target, func(p pair) error {
		mine := p.me.Drop(list.Blocking, target)
		p.done.note(mine, Unblocked, p.me, target, p.now)
		p.both(mine, p.them.Drop(list.BlockedBy, actor))
		return nil
	})
}

// Mute hides target from actor for a while, or, with duration 0, until Unmute.
// A repeated mute sets notifications and duration anew.
func (s *Service) Mute(ctx context.Context, actor, target uint64, notifications bool, duration time.Duration) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	if duration < 0 || duration > MaxMute {
		return Relationship{}, app.Refuse(app.Unprocessable, "Validation failed: Duration is out of range")
	}
	return s.own(ctx, ActMute, actor, target, func(me *relation.Draft, now uint32, done *changes) error {
		o := me.Option(target)
		o.HideNotifications, o.MuteUntil = notifications, 0
		if duration > 0 {
			o.MuteUntil = until(now, duration)
		}
		done.note(me.Put(list.Muting, target, now), Muted, me, target, now)
		_, err := me.SetOption(target, o)
		return err
	})
}

// until is when a duration from now ends, in whole seconds, one at least; what
// lies past the year 2106 ends there, where the seconds of a list do.
func until(now uint32, d time.Duration) uint32 {
	end := uint64(now) + uint64(max(d, time.Second)/time.Second)
	return uint32(min(end, math.MaxUint32))
}

// Unmute shows target again.
func (s *Service) Unmute(ctx context.Context, actor, target uint64) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	return s.own(ctx, ActUnmute, actor, target, func(me *relation.Draft, now uint32, done *changes) error {
		o := me.Option(target)
		o.HideNotifications, o.MuteUntil = false, 0
		done.note(me.Drop(list.Muting, target), Unmuted, me, target, now)
		_, err := me.SetOption(target, o)
		return err
	})
}

// SetNote keeps actor's private remark about target; an empty one removes it.
func (s *Service) SetNote(ctx context.Context, actor, target uint64, note string) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	if len([]rune(note)) > MaxNote {
		return Relationship{}, app.Refuse(app.Unprocessable, "Validation failed: Comment is too long (maximum is 2000 characters)")
	}
	return s.own(ctx, actNote, actor, target, func(me *relation.Draft, _ uint32, _ *changes) error {
		_, err := me.SetNote(target, note)
		return err
	})
}
