package audit

import (
	"context"
	"errors"

	"kith/repo/mark"
	"kith/repo/post"
	"kith/repo/postcheck"
	"kith/repo/task"
)

// What an account does to a post of another stands twice: its own side, a post or a mark, is
// the truth; the other side is a link at the post. An act changes its own side first,
// together with a task; that the other side follows is settled before the task goes. Ids
// come once, and what is deleted stays so. So no lock is needed to be sure:
//
//	a link is missing   own side there, no task, no link, own side there still
//	a link is too much  link there, own side gone, no task, link there still
//
// An act that began before the first of these reads was settled when there was no task, and
// one that began later shows in the last.

// act returns whether the own side of a link is there.
func (p *postAudit) act(ctx context.Context, l postcheck.Link) (bool, error) {
	if l.Kind == post.Favourite {
		m := favouriteMark(l)
		marked, err := p.Rows.Marked(ctx, []postcheck.Mark{m})
		return marked[m], err
	}
	rows, err := p.Rows.Rows(ctx, []uint64{l.ID})
	own := rows[l.ID]
	said, _ := own.Link()
	return said == l && own.State != post.Deleted, err
}

func favouriteMark(l postcheck.Link) postcheck.Mark {
	return postcheck.Mark{Account: l.Account, Kind: mark.Favourite, Post: l.Post, ID: l.ID}
}

func (p *postAudit) linked(ctx context.Context, l postcheck.Link) (bool, error) {
	found, err := p.Rows.Linked(ctx, []postcheck.Link{l})
	return found[l], err
}

// each reports whether each check finds what is wanted of it, in their order.
func each(ctx context.Context, l postcheck.Link, checks ...check) (bool, error) {
	for _, c := range checks {
		if is, err := c.of(ctx, l); err != nil || is != c.want {
			return false, err
		}
	}
	return true, nil
}

type check struct {
	of   func(context.Context, postcheck.Link) (bool, error)
	want bool
}

var linkNames = map[post.Kind]string{post.Favourite: "favourite", post.Repost: "repost", post.Reply: "reply"}

// missing looks closely at a link that seems to be missing, and settles it.
func (p *postAudit) missing(ctx context.Context, l postcheck.Link) error {
	is, err := each(ctx, l, check{p.act, true}, check{p.Rows.Pending, false}, check{p.linked, false}, check{p.act, true})
	if err != nil || !is {
		return err
	}
	f := fault(Reaction, l.Account, "its %s %d does not stand at post %d", linkNames[l.Kind], l.ID, l.Post)
	return p.mend(ctx, []Fault{f}, func() error { return p.settle(ctx, l) })
}

func (p *postAudit) settle(ctx context.Context, l postcheck.Link) error {
	if l.Kind == post.Favourite {
		return p.Service.SettleFavourite(ctx, task.Task{Kind: task.Favourite, Account: l.Account, Post: l.Post})
	}
	return p.Service.SettlePost(ctx, task.Task{ID: l.ID, Kind: task.Settle, Account: l.Account, Post: l.ID})
}

// extra looks closely at a link that seems to be too much, and takes it away.
func (p *postAudit) extra(ctx context.Context, l postcheck.Link) error {
	is, err := each(ctx, l, check{p.linked, true}, check{p.act, false}, check{p.Rows.Pending, false}, check{p.linked, true})
	if err != nil || !is {
		return err
	}
	f := fault(Reaction, l.Account, "its %s %d stands at post %d, but is gone, or was never there", linkNames[l.Kind], l.ID, l.Post)
	return p.mend(ctx, []Fault{f}, func() error { return p.unlink(ctx, l) })
}

func (p *postAudit) unlink(ctx context.Context, l postcheck.Link) error {
	r := post.Reaction{Kind: l.Kind, Key: l.Account}
	if l.Kind == post.Reply {
		r.Key = l.ID
	}
	return p.Service.Unlink(ctx, l.Post, r, l.ID)
}

// ownLinks checks that what posts say of others stands there, and that marks name reposts.
func (p *postAudit) ownLinks(ctx context.Context, page []postcheck.Post) error {
	var links []postcheck.Link
	var marks []postcheck.Mark
	for i := range page {
		if l, is := page[i].Link(); is && page[i].State != post.Deleted {
			links = append(links, l)
			if l.Kind == post.Repost {
				marks = append(marks, repostMark(l))
			}
		}
	}
	if err := p.areLinked(ctx, links); err != nil {
		return err
	}
	marked, err := p.Rows.Marked(ctx, marks)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if !marked[m] {
			if err := p.remark(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// areLinked checks that links stand at their posts, if these exist, and that no repost of a
// deleted post is left.
func (p *postAudit) areLinked(ctx context.Context, links []postcheck.Link) error {
	others, err := p.Rows.Rows(ctx, postsOf(links))
	if err != nil {
		return err
	}
	found, err := p.Rows.Linked(ctx, links)
	if err != nil {
		return err
	}
	for _, l := range links {
		other, is := others[l.Post]
		switch {
		case is && !found[l]:
			err = p.missing(ctx, l)
		case is && l.Kind == post.Repost && other.State == post.Deleted:
			err = p.left(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// left looks closely at a repost of a deleted post: the task of that post deletes its
// reposts.
func (p *postAudit) left(ctx context.Context, l postcheck.Link) error {
	origin := postcheck.Link{Kind: post.Repost, Post: l.Post, ID: l.Post}
	pending := func(context.Context, postcheck.Link) (bool, error) { return p.Rows.Pending(ctx, origin) }
	is, err := each(ctx, l, check{p.act, true}, check{pending, false}, check{p.Rows.Pending, false}, check{p.act, true})
	if err != nil || !is {
		return err
	}
	f := fault(Reaction, l.Account, "its repost %d is of post %d, which is deleted", l.ID, l.Post)
	return p.mend(ctx, []Fault{f}, func() error { return p.settle(ctx, l) })
}

func postsOf(links []postcheck.Link) (ids []uint64) {
	for _, l := range links {
		ids = append(ids, l.Post)
	}
	return ids
}

// remark looks closely at the mark of a repost, under the lock of the author's feed. Post and
// mark may both lead here.
func (p *postAudit) remark(ctx context.Context, m postcheck.Mark) error {
	of := [2]uint64{m.Account, m.Post}
	if p.remarked[of] {
		return nil
	}
	wrong, err := p.Rows.Remark(ctx, m.Account, m.Post, m.ID, false)
	if err != nil || wrong == "" {
		return err
	}
	p.remarked[of] = true
	return p.mend(ctx, []Fault{fault(Mark, m.Account, "%s", wrong)}, func() error {
		_, err := p.Rows.Remark(ctx, m.Account, m.Post, m.ID, true)
		return err
	})
}

// links checks that all that stands at the posts of a bucket, or at those that are named, was
// done, and is not undone.
func (p *postAudit) links(ctx context.Context, bucket uint16, named []uint64) error {
	for _, read := range []func(context.Context, uint16, []uint64, postcheck.Link, int) ([]postcheck.At, error){p.Rows.Replies, p.Rows.Reactions} {
		for after := (postcheck.Link{}); ; {
			page, err := read(ctx, bucket, named, after, postsAtOnce)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Link
			if err := p.wereDone(ctx, page); err != nil {
				return err
			}
			if err := p.looked(ctx, len(page)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *postAudit) wereDone(ctx context.Context, page []postcheck.At) error {
	var ids []uint64
	var marks []postcheck.Mark
	for _, l := range page {
		if ids = append(ids, l.Post); l.Kind == post.Favourite {
			marks = append(marks, favouriteMark(l.Link))
		} else {
			ids = append(ids, l.ID)
		}
	}
	posts, err := p.Rows.Rows(ctx, ids)
	if err != nil {
		return err
	}
	marked, err := p.Rows.Marked(ctx, marks)
	if err != nil {
		return err
	}
	for _, l := range page {
		own := posts[l.ID]
		said, _ := own.Link()
		of, is := posts[l.Post]
		switch {
		case !is:
			err = p.orphan(ctx, l.Link)
		case l.Kind == post.Favourite && !marked[favouriteMark(l.Link)], l.Kind != post.Favourite && (said != l.Link || own.State == post.Deleted):
			err = p.extra(ctx, l.Link)
		case l.Kind == post.Reply && l.Owner != of.Author:
			err = p.misplaced(ctx, l, of.Author)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// misplaced reports a reply that stands in the list of what somebody else received.
func (p *postAudit) misplaced(ctx context.Context, l postcheck.At, author uint64) error {
	is, err := each(ctx, l.Link, check{p.linked, true}, check{p.act, true})
	if err != nil || !is {
		return err
	}
	f := fault(Reaction, author, "reply %d to its post %d is among those to account %d", l.ID, l.Post, l.Owner)
	return p.mend(ctx, []Fault{f}, func() error {
		return errors.Join(p.unlink(ctx, l.Link), p.settle(ctx, l.Link))
	})
}

// orphan reports a link at a post that does not exist. A post is there before its links, and
// stays, so there is nothing to look at again.
func (p *postAudit) orphan(ctx context.Context, l postcheck.Link) error {
	f := fault(Reaction, l.Account, "its %s %d stands at post %d, which does not exist", linkNames[l.Kind], l.ID, l.Post)
	return p.mend(ctx, []Fault{f}, func() error { return p.Rows.Drop(ctx, l) })
}
