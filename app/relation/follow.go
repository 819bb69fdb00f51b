package relation

import (
	"context"

	"kith/app"
	"kith/repo/list"
	"kith/repo/relation"
)

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
	if actor == target {
		return Relationship{}, errOwnFollow
	}
	have, err := s.exist(ctx, actor, target)
	if err != nil {
		return Relationship{}, err
	}
	locked := have[target].Locked
	return s.edit(ctx, ActFollow, actor, target, func(p pair) error {
		if !p.me.Own(target) {
			return relation.ErrRecall
		}
		option, err := o.onto(p.me.Option(target))
		if err != nil {
			return err
		}
		if err := s.enter(p, locked); err != nil {
			return err
		}
		_, err = p.me.SetOption(target, option)
		return err
	})
}

// enter makes the follow or the request, where there is none yet, and refuses
// one past the limit or between people who block. A follower who stands in their
// archive is left there.
func (s *Service) enter(p pair, locked bool) error {
	following := p.me.Rel(p.them.AccountID())&list.IsFollowing != 0
	if following && p.me.Knows(p.them.AccountID()) && !p.them.Knows(p.me.AccountID()) {
		return nil
	}
	if !relation.Settle(p.me, p.them) {
		return relation.ErrRecall
	}
	if err := mayFollow(p); err != nil {
		return err
	}
	if !follows(p) && p.me.Rel(p.them.AccountID())&list.IsRequested == 0 && s.full(p.me) {
		return s.errLimit()
	}
	if !locked || follows(p) {
		connect(p)
	} else {
		request(p)
	}
	return nil
}

// mayFollow refuses a follow between people who block.
func mayFollow(p pair) error {
	if p.me.Rel(p.them.AccountID())&(list.IsBlocking|list.IsBlockedBy) != 0 {
		return errBlocked
	}
	return nil
}

// full reports whether somebody may follow no more. Whom they asked to follow
// counts, so that the answers cannot take them past the limit.
func (s *Service) full(d *relation.Draft) bool {
	return s.cfg.FollowingLimit > 0 && int(d.Counts().Following)+d.Total(list.Requested) >= s.cfg.FollowingLimit
}

// follows reports whether either row says that I follow them.
func follows(p pair) bool {
	return p.me.Rel(p.them.AccountID())&list.IsFollowing != 0 || p.them.Rel(p.me.AccountID())&list.IsFollower != 0
}

// connect puts the edge me→them into both rows. Where one row has it already
// the other takes its time.
func connect(p pair) {
	me, them := p.me.AccountID(), p.them.AccountID()
	at := p.now
	if p.me.Rel(them)&list.IsFollowing != 0 {
		at, _ = p.me.Times(them)
	} else if p.them.Rel(me)&list.IsFollower != 0 {
		_, at = p.them.Times(me)
	}
	mine := p.me.AddFollowing(them, at)
	p.done.note(mine, Followed, p.me, them, at)
	p.both(mine, p.them.AddFollower(me, at))
	withdraw(p)
}

// disconnect removes the edge me→them from both rows.
func disconnect(p pair) {
	mine := p.me.DropFollowing(p.them.AccountID())
	p.done.note(mine, Unfollowed, p.me, p.them.AccountID(), p.now)
	p.both(mine, p.them.DropFollower(p.me.AccountID()))
}

// request notes my wish to follow them in both rows.
func request(p pair) {
	mine := p.me.Put(list.Requested, p.them.AccountID(), p.now)
	p.done.note(mine, Requested, p.me, p.them.AccountID(), p.now)
	p.both(mine, p.them.Put(list.Requests, p.me.AccountID(), p.now))
}

// withdraw removes my wish to follow them.
func withdraw(p pair) {
	mine := p.me.Drop(list.Requested, p.them.AccountID())
	p.done.note(mine, RequestEnded, p.me, p.them.AccountID(), p.now)
	p.both(mine, p.them.Drop(list.Requests, p.me.AccountID()))
}

// both has both rows swapped where only one of them changed, which mends a half
// edge: the swap must also prove what was read in the other row, or two
// processes that mend at once could leave a new half.
func (p pair) both(mine, theirs bool) {
	if mine != theirs {
		p.me.Touch()
		p.them.Touch()
	}
}

// turned is the same pair seen from the other side.
func (p pair) turned() pair { return pair{p.them, p.me, p.now, p.done} }

// Unfollow ends actor's follow of target, or the request for one.
func (s *Service) Unfollow(ctx context.Context, actor, target uint64) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	return s.settled(ctx, ActUnfollow, actor, target, func(p pair) error {
		disconnect(p)
		withdraw(p)
		return forgetFollow(p)
	})
}

// forgetFollow drops the choices that came with my follow of them.
func forgetFollow(p pair) error {
	o := p.me.Option(p.them.AccountID())
	o.HideReposts, o.Notify, o.Languages = false, false, nil
	_, err := p.me.SetOption(p.them.AccountID(), o)
	return err
}

// RemoveFollower ends target's follow of actor.
func (s *Service) RemoveFollower(ctx context.Context, actor, target uint64) (Relationship, error) {
	if actor == target {
		return Relationship{}, errOwn
	}
	return s.settled(ctx, ActRemoveFollower, actor, target, func(p pair) error {
		disconnect(p.turned())
		return forgetFollow(p.turned())
	})
}

// Authorize lets the requester follow actor; a refusal where nobody asked.
func (s *Service) Authorize(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.settled(ctx, ActAuthorize, actor, requester, func(p pair) error {
		if err := asked(p); err != nil {
			return err
		}
		connect(p.turned())
		return nil
	})
}

// Reject turns the requester's wish down; a refusal where nobody asked.
func (s *Service) Reject(ctx context.Context, actor, requester uint64) (Relationship, error) {
	return s.settled(ctx, ActReject, actor, requester, func(p pair) error {
		if err := asked(p); err != nil {
			return err
		}
		withdraw(p.turned())
		return forgetFollow(p.turned())
	})
}

// asked refuses where they did not ask to follow me.
func asked(p pair) error {
	if p.me.Rel(p.them.AccountID())&list.HasRequest == 0 {
		return errNoRequest
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
