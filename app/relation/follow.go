package relation

import (
	"context"
	"fmt"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// pair is the two rows that an edit works on, seen from one of the accounts: what
// from does to to. An edit of the own row alone has no draft of theirs.
type pair struct {
	me, them *relation.Draft
	from, to uint64
	now      uint32
	done     *changes
}

// turned is the same pair seen from the other side.
func (p pair) turned() pair { return pair{p.them, p.me, p.to, p.from, p.now, p.done} }

// both notes what became different in my row, if it did, and has both rows swapped where
// only one of them changed, which repairs a half edge: the swap must also prove what was
// read in the other row, or two processes that repair at once could leave a new half.
func (p pair) both(k Kind, at uint32, mine, theirs bool) {
	p.note(k, at, mine)
	if mine != theirs {
		p.me.Touch()
		p.them.Touch()
	}
}

// note notes a change of what from is to to, if there was one.
func (p pair) note(k Kind, at uint32, changed bool) {
	if changed {
		p.done.list = append(p.done.list, Change{Kind: k, Actor: p.from, Target: p.to, Act: p.done.act, By: p.done.by, At: at})
	}
}

// follows reports whether either row says that I follow them.
func (p pair) follows() bool {
	return p.me.Rel(p.to)&list.IsFollowing != 0 || p.them.Rel(p.from)&list.IsFollower != 0
}

// connect puts my follow of them into both rows, and ends the request for it. Where one
// row has the follow already the other takes its time.
func (p pair) connect() {
	at := p.now
	if p.me.Rel(p.to)&list.IsFollowing != 0 {
		at, _ = p.me.Times(p.to)
	} else if p.them.Rel(p.from)&list.IsFollower != 0 {
		_, at = p.them.Times(p.from)
	}
	p.both(Followed, at, p.me.AddFollowing(p.to, at), p.them.AddFollower(p.from, at))
	p.withdraw()
}

// disconnect removes my follow of them from both rows.
func (p pair) disconnect() {
	p.both(Unfollowed, p.now, p.me.DropFollowing(p.to), p.them.DropFollower(p.from))
}

// withdraw removes my request to follow them.
func (p pair) withdraw() {
	p.both(RequestEnded, p.now, p.me.Drop(list.Requested, p.to), p.them.Drop(list.Requests, p.from))
}

// forget drops the choices that came with my follow of them.
func (p pair) forget() error {
	o := p.me.Option(p.to)
	o.HideReposts, o.Notify, o.Languages = false, false, nil
	_, err := p.me.SetOption(p.to, o)
	return err
}

// FollowOptions are the choices that come with a follow. A nil field leaves
// the choice as it is: reposts shown, no notification, all languages at first.
type FollowOptions struct {
	Reposts   *bool
	Notify    *bool
	Languages *[]string
}

// Follow makes actor a follower of target, or asks target where target is
// locked. Where that is so already only the options change.
func (s *Service) Follow(ctx context.Context, actor, target uint64, o FollowOptions) (Relationship, error) {
	have, err := s.exist(ctx, actor, target, errOwnFollow)
	if err != nil {
		return Relationship{}, err
	}
	return s.edit(ctx, ActFollow, actor, target, true, func(p pair) error {
		if !p.me.Own(target) {
			return relation.ErrRecall
		}
		option, err := o.onto(p.me.Option(target))
		if err != nil {
			return err
		}
		// A follower who stands in their archive is left there.
		settled := p.me.Rel(target)&list.IsFollowing != 0 && p.me.Knows(target) && !p.them.Knows(actor)
		if !settled {
			err = s.follow(p, have[target].Locked)
		}
		if err != nil {
			return err
		}
		_, err = p.me.SetOption(target, option)
		return err
	})
}

// follow makes the follow or the request, where there is none yet, and refuses one
// between people who block or past the limit. Whom I asked to follow counts for that, so
// that the answers cannot take me past it.
func (s *Service) follow(p pair, locked bool) error {
	if !relation.Settle(p.me, p.them) {
		return relation.ErrRecall
	}
	is, limit := p.me.Rel(p.to), s.cfg.FollowingLimit
	switch {
	case is&(list.IsBlocking|list.IsBlockedBy) != 0:
		return errBlocked
	case limit > 0 && !p.follows() && is&list.IsRequested == 0 && int(p.me.Counts().Following)+p.me.Total(list.Requested) >= limit:
		return app.Refuse(app.Limit, fmt.Sprintf("You cannot follow more than %d people", limit))
	case !locked || p.follows():
		p.connect()
	default:
		p.both(Requested, p.now, p.me.Put(list.Requested, p.to, p.now), p.them.Put(list.Requests, p.from, p.now))
	}
	return nil
}

// onto lays the choices over what was chosen before.
func (o FollowOptions) onto(old list.Option) (list.Option, error) {
	if o.Reposts != nil {
		old.HideReposts = !*o.Reposts
	}
	if o.Notify != nil {
		old.Notify = *o.Notify
	}
	if o.Languages != nil {
		old.Languages = *o.Languages
	}
	if err := old.Check(); err != nil {
		return old, &app.Error{Kind: app.Unprocessable, Sentence: "Validation failed: Languages are invalid", Cause: err}
	}
	return old, nil
}

// Unfollow ends actor's follow of target, or the request for one.
func (s *Service) Unfollow(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.settled(ctx, ActUnfollow, actor, target, errOwn, func(p pair) error {
		p.disconnect()
		p.withdraw()
		return p.forget()
	})
}

// RemoveFollower ends target's follow of actor.
func (s *Service) RemoveFollower(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.settled(ctx, ActRemoveFollower, actor, target, errOwn, func(p pair) error {
		p.turned().disconnect()
		return p.turned().forget()
	})
}

// Authorize lets the requester follow actor; a refusal where there is no request.
func (s *Service) Authorize(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.settled(ctx, ActAuthorize, actor, requester, errUnknown, func(p pair) error {
		if p.me.Rel(requester)&list.HasRequest == 0 {
			return errUnknown
		}
		p.turned().connect()
		return nil
	})
}

// Reject turns the requester's wish down; a refusal where there is no request.
func (s *Service) Reject(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.settled(ctx, ActReject, actor, requester, errUnknown, func(p pair) error {
		if p.me.Rel(requester)&list.HasRequest == 0 {
			return errUnknown
		}
		p.turned().withdraw()
		return p.turned().forget()
	})
}
