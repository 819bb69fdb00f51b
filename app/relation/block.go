package relation

import (
	"context"
	"math"
	"time"
	"unicode/utf8"

	"kith/app"
	"kith/repo/list"
)

// maxNote is the length of a note in characters.
const maxNote = 2000

// MaxMute is the longest duration of a mute with an end.
const MaxMute = 100 * 365 * 24 * time.Hour

// Block ends all follows and requests between the two, and no new ones are possible.
func (s *Service) Block(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.editBoth(ctx, ActBlock, actor, target, errOwn, func(p pair) error {
		for _, side := range []pair{p, p.reverse()} {
			side.disconnect()
			side.withdraw()
			if err := side.dropOptions(); err != nil {
				return err
			}
		}
		at := p.done.at
		p.note(Blocked, at, p.me.Put(list.Blocking, target, at), p.them.Put(list.BlockedBy, actor, at))
		return nil
	})
}

// Unblock ends a block; the follows it ended stay ended.
func (s *Service) Unblock(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.editBoth(ctx, ActUnblock, actor, target, errOwn, func(p pair) error {
		p.note(Unblocked, p.done.at, p.me.Drop(list.Blocking, target), p.them.Drop(list.BlockedBy, actor))
		return nil
	})
}

// Mute hides target from actor for a while, or, with duration 0, until Unmute.
// A repeated mute sets notifications and duration again.
func (s *Service) Mute(ctx context.Context, actor, target uint64, notifications bool, duration time.Duration) (Relationship, error) {
	if actor != target && (duration < 0 || duration > MaxMute) {
		return Relationship{}, app.Refuse(app.Unprocessable, "Validation failed: Duration is out of range")
	}
	return s.editOwn(ctx, ActMute, actor, target, func(p pair) error {
		at := p.done.at
		p.note(Muted, at, p.me.Put(list.Muting, target, at), false)
		o := p.me.Option(target)
		o.HideNotifications, o.MuteUntil = notifications, 0
		if duration > 0 { // one second at least; past 2106 the seconds of a list end
			o.MuteUntil = uint32(min(uint64(at)+uint64(max(duration, time.Second)/time.Second), math.MaxUint32))
		}
		_, err := p.me.SetOption(target, o)
		return err
	})
}

// Unmute shows target again.
func (s *Service) Unmute(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.editOwn(ctx, ActUnmute, actor, target, func(p pair) error { return p.unmute() })
}

// unmute ends a mute and drops its options.
func (p pair) unmute() error {
	p.note(Unmuted, p.done.at, p.me.Drop(list.Muting, p.to), false)
	o := p.me.Option(p.to)
	o.HideNotifications, o.MuteUntil = false, 0
	_, err := p.me.SetOption(p.to, o)
	return err
}

// SetNote keeps actor's private remark about target; an empty one removes it.
func (s *Service) SetNote(ctx context.Context, actor, target uint64, note string) (Relationship, error) {
	if actor != target && utf8.RuneCountInString(note) > maxNote {
		return Relationship{}, app.Refuse(app.Unprocessable, "Validation failed: Comment is too long (maximum is 2000 characters)")
	}
	return s.editOwn(ctx, actNote, actor, target, func(p pair) error {
		_, err := p.me.SetNote(target, note)
		return err
	})
}
