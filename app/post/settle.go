package post

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kith/repo"
	"kith/repo/feed"
	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/task"
)

// settleTries bounds how often a change of one's own side is followed.
const settleTries = 20

// SettlePost makes the post that a post answers or reposts agree with what that post is now:
// the reply or repost stands there, and is counted, if and only if the post is not deleted.
// What is written is checked against the post afterwards: if that was deleted meanwhile, the
// other side follows. So whoever settles last has seen the last state, in whatever order the
// tasks of a post run, and by whichever processes.
//
// A deleted post takes its reposts with it, and a repost follows its deleted post.
func (s *Service) SettlePost(ctx context.Context, t task.Task) error {
	for range settleTries {
		own, err := s.truth(ctx, t.Post)
		if err != nil || own.Ver == 0 {
			return err
		}
		if err := s.settleOther(ctx, &own); err != nil {
			return err
		}
		now, err := s.truth(ctx, t.Post)
		if err != nil {
			return err
		}
		if now.State == own.State {
			if own.State == post.Deleted {
				return s.dropReposts(ctx, t)
			}
			return s.followOrigin(ctx, &own)
		}
	}
	return fmt.Errorf("settle post %d: it keeps changing: %w", t.Post, repo.ErrConflict)
}

// truth returns a post from the database.
func (s *Service) truth(ctx context.Context, id uint64) (post.Post, error) {
	rows, err := s.cfg.Posts.Fresh(ctx, []uint64{id})
	return rows[id], err
}

// said returns what a post says of the one that it answers or reposts, which is 0 for none.
func said(own *post.Post) (r post.Reaction, of uint64) {
	if own.Origin != 0 {
		return post.Reaction{Kind: post.Repost, Key: own.Author}, own.Origin
	}
	return post.Reaction{Kind: post.Reply, Key: own.ID}, own.ReplyTo
}

// say notes at the other post what a post says of it.
func say(d *post.Draft, r post.Reaction, own *post.Post) error {
	switch {
	case d.Ver == 0: // nothing to count at
		return nil
	case own.State == post.Deleted:
		return d.Unset(r, own.ID)
	default:
		return d.Set(r, own.ID, own.Author, own.ReplyTo != 0 && own.Visibility.Narrow())
	}
}

// settleOther writes what a post says of the one that it answers or reposts.
func (s *Service) settleOther(ctx context.Context, own *post.Post) error {
	r, of := said(own)
	if of == 0 {
		return nil
	}
	return s.cfg.Reactions.Do(ctx, []uint64{of}, func(posts map[uint64]*post.Draft) error { return say(posts[of], r, own) })
}

// followOrigin deletes a repost of a post that was deleted meanwhile.
func (s *Service) followOrigin(ctx context.Context, own *post.Post) error {
	if own.Origin == 0 {
		return nil
	}
	origin, err := s.truth(ctx, own.Origin)
	if err != nil || origin.State != post.Deleted {
		return err
	}
	return s.dropRepost(ctx, post.Reactor{ID: own.ID, Account: own.Author}, own.Origin)
}

// dropReposts deletes the reposts of a deleted post, whose ends are settled in their turn.
func (s *Service) dropReposts(ctx context.Context, t task.Task) error {
	for {
		found, err := s.cfg.Posts.Reactors(ctx, t.Post, post.Repost, repo.IDRange{Limit: repostsAtOnce})
		if err != nil || len(found) == 0 {
			return err
		}
		for _, r := range found {
			if err := s.dropRepost(ctx, r, t.Post); err != nil {
				return err
			}
		}
		if err := s.cfg.Tasks.Renew(ctx, t); err != nil {
			return err
		}
	}
}

// repostsAtOnce is how many reposts are read at once.
const repostsAtOnce = 100

// dropRepost deletes one repost of a deleted post.
func (s *Service) dropRepost(ctx context.Context, r post.Reactor, of uint64) error {
	var left []task.Task
	err := s.cfg.Edits.Do(ctx, []uint64{r.Account}, func(feeds map[uint64]*feed.Draft) (err error) {
		left, err = s.setState(feeds[r.Account], r.Account, r.ID, post.Deleted)
		if err == errUnknown { // it was deleted, and its end is not settled yet
			err = nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return s.cfg.Tasks.Do(ctx, left[0])
	}
	gone := post.Post{Author: r.Account, Origin: of, State: post.Deleted}
	gone.ID = r.ID
	return s.settleOther(ctx, &gone)
}

// SettleFavourite makes a post agree with the mark of an account that favours it, or no
// longer does, as SettlePost does for posts.
func (s *Service) SettleFavourite(ctx context.Context, t task.Task) error {
	for range settleTries {
		own, err := s.favourite(ctx, t)
		if err != nil {
			return err
		}
		err = s.cfg.Reactions.Do(ctx, []uint64{t.Post}, func(posts map[uint64]*post.Draft) error {
			if posts[t.Post].Ver == 0 {
				return nil
			}
			return posts[t.Post].Set(post.Reaction{Kind: post.Favourite, Key: t.Account}, own, 0, false)
		})
		if err != nil {
			return err
		}
		if now, err := s.favourite(ctx, t); err != nil || now == own {
			return err
		}
	}
	return fmt.Errorf("settle favourite of %d by %d: it keeps changing: %w", t.Post, t.Account, repo.ErrConflict)
}

func (s *Service) favourite(ctx context.Context, t task.Task) (id uint64, err error) {
	return s.cfg.Marks.Fresh(ctx, t.Account, mark.Favourite, t.Post)
}

// SettleAll is SettlePost for many posts of any accounts, some hundred at once: those that
// answer or repost the same post cost one edit of it.
func (s *Service) SettleAll(ctx context.Context, ids []uint64) error {
	all, err := s.cfg.Posts.Fresh(ctx, ids)
	if err != nil {
		return err
	}
	others := map[uint64]bool{}
	for _, own := range all {
		if _, of := said(&own); of != 0 {
			others[of] = true
		}
	}
	err = s.cfg.Reactions.Do(ctx, slices.Collect(maps.Keys(others)), func(posts map[uint64]*post.Draft) error {
		known := true
		for _, own := range all {
			if r, of := said(&own); of != 0 && posts[of].Ver != 0 {
				known = posts[of].Knows(r) && known
			}
		}
		if !known {
			return post.ErrRecall
		}
		for _, own := range all {
			if r, of := said(&own); of != 0 {
				if err := say(posts[of], r, &own); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.settleRest(ctx, all)
}

// settleRest settles one by one those posts that changed meanwhile, and those of which more
// follows: deleted ones, and reposts of deleted ones.
func (s *Service) settleRest(ctx context.Context, all map[uint64]post.Post) error {
	ids := slices.Collect(maps.Keys(all))
	now, err := s.cfg.Posts.Fresh(ctx, ids)
	if err != nil {
		return err
	}
	var of []uint64
	for _, own := range all {
		if own.Origin != 0 {
			of = append(of, own.Origin)
		}
	}
	origins, err := s.cfg.Posts.Fresh(ctx, of)
	if err != nil {
		return err
	}
	for id, own := range all {
		if own.Ver == 0 || own.State == now[id].State && own.State != post.Deleted && origins[own.Origin].State != post.Deleted {
			continue
		}
		if err := s.SettlePost(ctx, task.Task{ID: id, Kind: task.Settle, Account: own.Author, Post: id}); err != nil {
			return err
		}
	}
	return nil
}

// Unlink takes a reply, repost or favourite away from a post where it should not stand, by
// the id of it; an audit finds those. A post that is not there has none.
func (s *Service) Unlink(ctx context.Context, of uint64, r post.Reaction, id uint64) error {
	err := s.cfg.Reactions.Do(ctx, []uint64{of}, func(posts map[uint64]*post.Draft) error {
		if posts[of].Ver == 0 {
			return nil
		}
		return posts[of].Unset(r, id)
	})
	if err != nil {
		return fmt.Errorf("take a reaction away from %d: %w", of, err)
	}
	return nil
}
