// Package relations answers and changes what accounts are to each other.
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
		core.Post(one+"/follow", follows.WithBody(core.UsualBody), answer(r.follow)),
		core.Post(one+"/unfollow", follows, change(r.Unfollow)),
		core.Post(one+"/remove_from_followers", follows, change(r.RemoveFollower)),
		core.Post(one+"/block", blocks, change(r.Block)),
		core.Post(one+"/unblock", blocks, change(r.Unblock)),
		core.Post(one+"/mute", mutes.WithBody(core.UsualBody), answer(r.mute)),
		core.Post(one+"/unmute", mutes, change(r.Unmute)),
		core.Post(one+"/note", core.SignedIn("write:accounts").WithBody(core.UsualBody), answer(r.note)),
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

// answer answers with what the target is after a change.
func answer(do func(context.Context, *core.Call) (relation.Relationship, error)) core.Handler {
	return func(ctx context.Context, c *core.Call) error {
		r, err := do(ctx, c)
		if err != nil {
			return err
		}
		return c.Render(func(b []byte) []byte { return entity.AppendRelationship(b, r) })
	}
}

// change answers a change without parameters.
func change(do func(ctx context.Context, actor, target uint64) (relation.Relationship, error)) core.Handler {
	return answer(func(ctx context.Context, c *core.Call) (relation.Relationship, error) {
		return do(ctx, c.Account, c.ID)
	})
}

func (r resource) follow(ctx context.Context, c *core.Call) (none relation.Relationship, err error) {
	sent, err := c.Body()
	if err != nil {
		return none, err
	}
	var o relation.FollowOptions
	if o.Reposts, err = sent.Flag("reblogs"); err != nil {
		return none, err
	}
	if o.Notify, err = sent.Flag("notify"); err != nil {
		return none, err
	}
	languages, given, err := sent.All("languages")
	if err != nil {
		return none, err
	}
	if given {
		o.Languages = &languages
	}
	return r.Follow(ctx, c.Account, c.ID, o)
}

func (r resource) mute(ctx context.Context, c *core.Call) (none relation.Relationship, err error) {
	sent, err := c.Body()
	if err != nil {
		return none, err
	}
	notifications, err := sent.Flag("notifications")
	if err != nil {
		return none, err
	}
	seconds, err := sent.Number("duration")
	if err != nil {
		return none, err
	}
	const most = int64(1<<63-1) / int64(time.Second) // what a Duration can hold; the service refuses more than its limit
	duration := time.Duration(min(max(seconds, -most), most)) * time.Second
	return r.Mute(ctx, c.Account, c.ID, notifications == nil || *notifications, duration)
}

func (r resource) note(ctx context.Context, c *core.Call) (none relation.Relationship, err error) {
	sent, err := c.Body()
	if err != nil {
		return none, err
	}
	comment, err := sent.One("comment")
	if err != nil {
		return none, err
	}
	return r.SetNote(ctx, c.Account, c.ID, comment)
}
