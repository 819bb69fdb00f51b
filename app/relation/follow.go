package relation

import (
	"context"
	"fmt"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

// pair is the two rows that an edit works on, seen from one of the accounts: what
// from is to to. An edit of one row alone has no draft of theirs.
type pair struct {
	me, them *relation.Draft
	from, to uint64
	locked   bool // to must be asked before it is followed
	done     *changes
}

// reverse is the same pair seen from the other side.
func (p pair) reverse() pair {
	return pair{me: p.them, them: p.me, from: p.to, to: p.from, done: p.done}
}

// note notes what changed in my row, if it did. Where only one of two rows changed it
// has both swapped, which repairs a half edge: the swap must also prove what was read in
// the other row, or two processes that repair at once could leave a new half.
func (p pair) note(k Kind, at uint32, mine, theirs bool) {
	if mine {
		p.done.list = append(p.done.list, Change{Kind: k, Actor: p.from, Target: p.to, Act: p.done.act, By: p.done.by, At: at})
	}
	if p.them != nil && mine != theirs {
		p.me.Touch()
		p.them.Touch()
	}
}

// follows reports whether either row says that I follow them.
func (p pair) follows() bool {
	return p.me.Rel(p.to)&list.IsFollowing != 0 || p.them.Rel(p.from)&list.IsFollower != 0
}

// connect puts my follow of them into both rows, and ends the request for it. Where one
// row has the follow already the other takes its time.
func (p pair) connect() {
	at := p.done.at
	if p.me.Rel(p.to)&list.IsFollowing != 0 {
		at, _ = p.me.Times(p.to)
	} else if p.them.Rel(p.from)&list.IsFollower != 0 {
		_, at = p.them.Times(p.from)
	}
	p.note(Followed, at, p.me.AddFollowing(p.to, at), p.them.AddFollower(p.from, at))
	p.withdraw()
}

// disconnect removes my follow of them from both rows.
func (p pair) disconnect() {
	p.note(Unfollowed, p.done.at, p.me.DropFollowing(p.to), p.them.DropFollower(p.from))
}

// withdraw removes my request to follow them.
func (p pair) withdraw() {
	p.note(RequestEnded, p.done.at, p.me.Drop(list.Requested, p.to), p.them.Drop(list.Requests, p.from))
}

// dropOptions drops the options of my follow of them.
func (p pair) dropOptions() error {
	o := p.me.Option(p.to)
	o.HideReposts, o.Notify, o.Languages = false, false, nil
	_, err := p.me.SetOption(p.to, o)
	return err
}

// FollowOptions come with a follow. A nil field leaves an option as it is: reposts
// shown, no notification, all languages at first.
type FollowOptions struct {
	Reposts   *bool
	Notify    *bool
	Languages *[]string
}

// Follow makes actor a follower of target, or asks target where target is locked. It is
// refused between people who block and past the limit. Requests count for the limit, so
// that their answers cannot take the actor past it. Where actor follows already only the
// options change.
func (s *Service) Follow(ctx context.Context, actor, target uint64, o FollowOptions) (Relationship, error) {
	return s.edit(ctx, ActFollow, actor, target, errOwnFollow, true, func(p pair) error {
		if !p.me.Own(target) {
			return relation.ErrRecall
		}
		option := p.me.Option(target)
		if o.Reposts != nil {
			option.HideReposts = !*o.Reposts
		}
		if o.Notify != nil {
			option.Notify = *o.Notify
		}
		if o.Languages != nil {
			option.Languages = *o.Languages
		}
		if err := option.Check(); err != nil {
			return &app.Error{Kind: app.Unprocessable, Sentence: "Validation failed: Languages are invalid", Cause: err}
		}
		// A follower who is in their archive stays there.
		there := p.me.Rel(target)&list.IsFollowing != 0 && p.me.Knows(target) && !p.them.Knows(actor)
		if !there && !relation.Settle(p.me, p.them) {
			return relation.ErrRecall
		}
		is, limit := p.me.Rel(target), s.cfg.FollowingLimit
		switch {
		case there:
		case is&(list.IsBlocking|list.IsBlockedBy) != 0:
			return errBlocked
		case limit > 0 && !p.follows() && is&list.IsRequested == 0 && int(p.me.Counts().Following)+p.me.Total(list.Requested) >= limit:
			return app.Refuse(app.Limit, fmt.Sprintf("You cannot follow more than %d people", limit))
		case !p.locked || p.follows():
			p.connect()
		default:
			at := p.done.at
			p.note(Requested, at, p.me.Put(list.Requested, target, at), p.them.Put(list.Requests, actor, at))
		}
		_, err := p.me.SetOption(target, option)
		return err
	})
}

// Unfollow ends actor's follow of target, or the request for one.
func (s *Service) Unfollow(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.editBoth(ctx, ActUnfollow, actor, target, errOwn, func(p pair) error {
		p.disconnect()
		p.withdraw()
		return p.dropOptions()
	})
}

// RemoveFollower ends target's follow of actor.
func (s *Service) RemoveFollower(ctx context.Context, actor, target uint64) (Relationship, error) {
	return s.editBoth(ctx, ActRemoveFollower, actor, target, errOwn, func(p pair) error {
		p.reverse().disconnect()
		return p.reverse().dropOptions()
	})
}

// Authorize lets the requester follow actor; a refusal where there is no request.
func (s *Service) Authorize(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.editBoth(ctx, ActAuthorize, actor, requester, errUnknown, func(p pair) error {
		if p.me.Rel(requester)&list.HasRequest == 0 {
			return errUnknown
		}
		p.reverse().connect()
		return nil
	})
}

// Reject ends the requester's request; a refusal where there is none.
func (s *Service) Reject(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.editBoth(ctx, ActReject, actor, requester, errUnknown, func(p pair) error {
		if p.me.Rel(requester)&list.HasRequest == 0 {
			return errUnknown
		}
		p.reverse().withdraw()
		return p.reverse().dropOptions()
	})
}
