// Package relations answers what accounts are to each other, and changes that.
package relations

import (
	"context"
	"time"

	"kith/app/api/core"
	"kith/app/api/entity"
	"kith/app/relation"
)

type resource struct {
	*relation.Service
	accounts entity.Accounts
}

// Routes returns the routes of relations.
func Routes(of entity.Accounts) []core.Route {
	const one, request = "/api/v1/accounts/:id", "/api/v1/follow_requests/:id"
	r := resource{of.Relations, of}
	read, follows := core.SignedIn("read:follows"), core.SignedIn("write:follows")
	blocks, mutes := core.SignedIn("write:blocks"), core.SignedIn("write:mutes")
	return []core.Route{
		core.Get("/api/v1/accounts/relationships", read, r.relationships),
		core.Get("/api/v1/accounts/familiar_followers", read, r.familiarFollowers),
		core.Post(one+"/follow", follows.WithBody(core.UsualBody), r.follow),
		core.Post(one+"/unfollow", follows, change(r.Unfollow)),
		core.Post(one+"/remove_from_followers", follows, change(r.RemoveFollower)),
		core.Post(one+"/block", blocks, change(r.Block)),
		core.Post(one+"/unblock", blocks, change(r.Unblock)),
		core.Post(one+"/mute", mutes.WithBody(core.UsualBody), r.mute),
		core.Post(one+"/unmute", mutes, change(r.Unmute)),
		core.Post(one+"/note", core.SignedIn("write:accounts").WithBody(core.UsualBody), r.note),
		core.Post(request+"/authorize", follows, change(r.Authorize)),
		core.Post(request+"/reject", follows, change(r.Reject)),
	}
}

func (r resource) relationships(ctx context.Context, c *core.Call) error {
	ids, err := c.IDs(relation.MaxRelationships)
	if err != nil {
		return err
	}
	var found []relation.Relationship
	if len(ids) > 0 {
		if found, err = r.Relationships(ctx, c.Account, ids); err != nil {
			return err
		}
	}
	return c.Render(func(b []byte) []byte { return entity.AppendArray(b, found, entity.AppendRelationship) })
}

func (r resource) familiarFollowers(ctx context.Context, c *core.Call) error {
	ids, err := c.IDs(relation.MaxFamiliar)
	if err != nil {
		return err
	}
	found, err := r.FamiliarFollowers(ctx, c.Account, ids)
	if err != nil {
		return err
	}
	var named []uint64
	for _, f := range found {
		named = append(named, f.Accounts...)
	}
	people, err := r.accounts.Load(ctx, c, core.Distinct(named))
	if err != nil {
		return err
	}
	byID := make(map[uint64]entity.Account, len(people))
	for _, p := range people {
		byID[p.ID] = p
	}
	return c.Render(func(b []byte) []byte {
		return entity.AppendArray(b, found, func(b []byte, f relation.Familiar) []byte {
			var known []entity.Account
			for _, id := range f.Accounts {
				if p, ok := byID[id]; ok {
					known = append(known, p)
				}
			}
			return entity.AppendFamiliar(b, f.ID, known)
		})
	})
}

// change answers with what the target is after a change without parameters.
func change(do func(ctx context.Context, actor, target uint64) (relation.Relationship, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		r, err := do(ctx, c.Account, c.ID)
		return answer(c, r, err)
	}
}

func answer(c *core.Call, r relation.Relationship, err error) error {
	if err != nil {
		return err
	}
	return c.Render(func(b []byte) []byte { return entity.AppendRelationship(b, r) })
}

func (r resource) follow(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	var o relation.FollowOptions
	if o.Reposts, err = sent.Flag("reblogs"); err != nil {
		return err
	}
	if o.Notify, err = sent.Flag("notify"); err != nil {
		return err
	}
	languages, given, err := sent.All("languages")
	if err != nil {
		return err
	}
	if given {
		o.Languages = &languages
	}
	after, err := r.Follow(ctx, c.Account, c.ID, o)
	return answer(c, after, err)
}

func (r resource) mute(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	notifications, err := sent.Flag("notifications")
	if err != nil {
		return err
	}
	seconds, err := sent.Number("duration")
	if err != nil {
		return err
	}
	const most = int64(1<<63-1) / int64(time.Second) // what a Duration can hold; the service refuses more than its limit
	duration := time.Duration(min(max(seconds, -most), most)) * time.Second
	after, err := r.Mute(ctx, c.Account, c.ID, notifications == nil || *notifications, duration)
	return answer(c, after, err)
}

func (r resource) note(ctx context.Context, c *core.Call) error {
	sent, err := c.Body()
	if err != nil {
		return err
	}
	comment, err := sent.One("comment")
	if err != nil {
		return err
	}
	after, err := r.SetNote(ctx, c.Account, c.ID, comment)
	return answer(c, after, err)
}
