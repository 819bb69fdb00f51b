package statuses

import (
	"context"
	"fmt"
	"net/url"

	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/post"
)

type resource struct {
	entity.Statuses
}

// Routes returns the routes of posts.
func Routes(of entity.Statuses) []core.Route {
	const all, one = "/api/v1/statuses", "/api/v1/statuses/:id"
	r, read := resource{of}, core.Optional("read:statuses")
	p := of.Posts
	write, favour := core.SignedIn("write:statuses"), core.SignedIn("write:favourites")
	keep, pin := core.SignedIn("write:bookmarks"), core.SignedIn("write:accounts")
	return []core.Route{
		core.Post(all, write.WithBody(core.UsualBody), r.create),
		core.Get(all, read, r.some),
		core.Get(one, read, r.get),
		{Method: "PUT", Path: one, Needs: write, Handle: refuseEdit},
		core.Delete(one, write, r.delete),
		core.Get(one+"/context", read, r.context),
		core.Post(one+"/reblog", write.WithBody(core.UsualBody), r.repost),
		core.Post(one+"/unreblog", write, r.change(p.Undo)),
		core.Get(one+"/reblogged_by", read, r.reactors(p.Reposters)),
		core.Post(one+"/favourite", favour, r.change(set(p.Favour, true))),
		core.Post(one+"/unfavourite", favour, r.change(set(p.Favour, false))),
		core.Get(one+"/favourited_by", read, r.reactors(p.Favourers)),
		core.Post(one+"/bookmark", keep, r.change(set(p.Bookmark, true))),
		core.Post(one+"/unbookmark", keep, r.change(set(p.Bookmark, false))),
		core.Post(one+"/pin", pin, r.change(set(p.Pin, true))),
		core.Post(one+"/unpin", pin, r.change(set(p.Pin, false))),
		core.Get("/api/v1/accounts/:id/statuses", read, r.ofAccount),
		core.Get("/api/v1/favourites", core.SignedIn("read:favourites"), r.own(p.Favourites)),
		core.Get("/api/v1/bookmarks", core.SignedIn("read:bookmarks"), r.own(p.Bookmarks)),
		core.Get("/api/v1/replies/received", core.SignedIn("read:statuses"), r.own(p.Received)),
	}
}

var errEdit = core.Unprocessable("Validation failed: posts cannot be edited; delete this one and post again")

func refuseEdit(context.Context, *core.Call) error { return errEdit }

// answer answers with one post.
func (r resource) answer(ctx context.Context, c *core.Call, v post.View, source bool) error {
	s, err := r.One(ctx, c, v)
	if err != nil {
		return err
	}
	s.Source = source
	return c.Render(func(b []byte) []byte { return entity.AppendStatus(b, &s) })
}

// maxKey is how long an Idempotency-Key may be.
const maxKey = 255

func (r resource) create(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	d, err := readPost(sent)
	if err != nil {
		return err
	}
	d.Domain = c.Domain()
	if d.Key = c.Request.Header.Get("Idempotency-Key"); len(d.Key) > maxKey {
		return core.Unprocessable("Validation failed: the Idempotency-Key is too long (maximum is %d bytes)", maxKey)
	}
	v, err := r.Posts.Create(ctx, c.Account, d)
	if err != nil {
		return err
	}
	return r.answer(ctx, c, v, false)
}

func (r resource) get(ctx context.Context, c *core.Call) error {
	v, err := r.Posts.Get(ctx, c.Account, c.ID)
	if err != nil {
		return err
	}
	return r.answer(ctx, c, v, false)
}

// maxSome is how many posts can be asked for by id at once.
const maxSome = 20

func (r resource) some(ctx context.Context, c *core.Call) error {
	ids, err := c.IDs(maxSome)
	if err != nil {
		return err
	}
	views, err := r.Posts.Views(ctx, c.Account, core.Distinct(ids))
	if err != nil {
		return err
	}
	return r.list(ctx, c, views)
}

func (r resource) list(ctx context.Context, c *core.Call, views []post.View) error {
	found, err := r.Load(ctx, c, views)
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendStatuses(b, found) })
}

// delete answers with what the post was, and its text for who wants to write it again.
func (r resource) delete(ctx context.Context, c *core.Call) error {
	v, err := r.Posts.Delete(ctx, c.Account, c.ID)
	if err != nil {
		return err
	}
	was, err := r.One(ctx, c, v)
	if err != nil {
		return err
	}
	was.Source = true
	return c.Render(func(b []byte) []byte { return entity.AppendStatus(b, &was) })
}

func (r resource) repost(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	visibility, err := readVisibility(sent)
	if err != nil {
		return err
	}
	v, err := r.Posts.Repost(ctx, c.Account, c.ID, visibility)
	if err != nil {
		return err
	}
	return r.answer(ctx, c, v, false)
}

// change answers a change without parameters with the post after it.
func (r resource) change(do func(ctx context.Context, actor, id uint64) (post.View, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		v, err := do(ctx, c.Account, c.ID)
		if err != nil {
			return err
		}
		return r.answer(ctx, c, v, false)
	}
}

// set is a change to yes or no.
func set(do func(ctx context.Context, actor, id uint64, yes bool) (post.View, error), yes bool) func(ctx context.Context, actor, id uint64) (post.View, error) {
	return func(ctx context.Context, actor, id uint64) (post.View, error) { return do(ctx, actor, id, yes) }
}

func (r resource) context(ctx context.Context, c *core.Call) error {
	up, down, err := r.Posts.Thread(ctx, c.Account, c.ID)
	if err != nil {
		return err
	}
	ancestors, err := r.Load(ctx, c, up)
	if err != nil {
		return err
	}
	descendants, err := r.Load(ctx, c, down)
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte {
		b = entity.AppendStatuses(append(b, `{"ancestors":`...), ancestors)
		b = entity.AppendStatuses(append(b, `,"descendants":`...), descendants)
		return append(b, '}')
	})
}

// reactors answers with accounts that reposted or favoured a post. The ids of its pages are
// those of the reposts, not of the accounts.
func (r resource) reactors(of func(ctx context.Context, viewer, id uint64, part post.Range) (post.People, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		part, err := rangeOf(c, core.UsualAccounts)
		if err != nil {
			return err
		}
		found, err := of(ctx, c.Account, c.ID, part)
		if err != nil {
			return err
		}
		people, err := r.Accounts.Load(ctx, c, found.Accounts)
		if err != nil {
			return err
		}
		link(c, part, "", found.Place, "since_id")
		return c.Render(func(b []byte) []byte { return entity.AppendArray(b, people, entity.AppendAccount) })
	}
}

// own answers with a list of posts that only the caller has. The ids of its pages are those
// of the marks.
func (r resource) own(of func(ctx context.Context, actor uint64, part post.Range) (post.Page, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		part, err := rangeOf(c, core.UsualPosts)
		if err != nil {
			return err
		}
		page, err := of(ctx, c.Account, part)
		if err != nil {
			return err
		}
		link(c, part, "", page.Place, "min_id")
		return r.list(ctx, c, page.Views)
	}
}

func (r resource) ofAccount(ctx context.Context, c *core.Call) error {
	if _, err := r.Accounts.One(ctx, c, c.ID); err != nil {
		return err
	}
	q, err := c.Query()
	if err != nil {
		return err
	}
	f, kept, err := readFilter(q)
	if err != nil {
		return err
	}
	part, err := rangeOf(c, core.UsualPosts)
	if err != nil {
		return err
	}
	page, err := r.Posts.Of(ctx, c.Account, c.ID, f, part)
	if err != nil {
		return err
	}
	link(c, part, kept, page.Place, "min_id")
	return r.list(ctx, c, page.Views)
}

// readFilter reads which of an account's posts are wanted, and what of that the links to
// other pages must repeat.
func readFilter(q core.Values) (f post.Filter, kept string, err error) {
	for _, flag := range []struct {
		name string
		into *bool
	}{
		{"exclude_replies", &f.NoReplies}, {"exclude_reblogs", &f.NoReposts}, {"only_media", &f.OnlyMedia}, {"pinned", &f.Pinned},
	} {
		given, err := q.Flag(flag.name)
		if err != nil {
			return f, "", err
		}
		if given != nil && *given {
			*flag.into = true
			kept += flag.name + "=true&"
		}
	}
	if f.Tag, err = q.One("tagged"); err == nil && f.Tag != "" {
		kept += "tagged=" + url.QueryEscape(f.Tag) + "&"
	}
	return f, kept, err
}

func rangeOf(c *core.Call, usual int) (post.Range, error) {
	q, err := c.Query()
	if err != nil {
		return post.Range{}, err
	}
	return q.Range(usual)
}

// link sets the Link header of a page.
func link(c *core.Call, part post.Range, kept string, at post.Place, back string) {
	var next, prev string
	if at.Full && at.Last != 0 {
		next = fmt.Sprintf("%slimit=%d&max_id=%d", kept, part.Limit, at.Last)
	}
	if at.First != 0 {
		prev = fmt.Sprintf("%slimit=%d&%s=%d", kept, part.Limit, back, at.First)
	}
	c.Link(next, prev)
}
