package api

import (
	"context"
	"time"

	"kith/app/relation"
)

// change answers with what the target is after a change without parameters.
// Its body is not read.
func (s *Server) change(do func(ctx context.Context, actor, target uint64) (relation.Relationship, error)) handler {
	return func(ctx context.Context, c *call) error {
		target, err := c.pathID()
		if err != nil {
			return err
		}
		r, err := do(ctx, c.account(), target)
		return c.relationship(r, err)
	}
}

func (c *call) relationship(r relation.Relationship, err error) error {
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendRelationship(b, r) })
}

func (s *Server) follow(ctx context.Context, c *call) error {
	target, sent, err := c.targetAndBody()
	if err != nil {
		return err
	}
	var o relation.FollowOptions
	if o.Reposts, err = sent.flag("reblogs"); err != nil {
		return err
	}
	if o.Notify, err = sent.flag("notify"); err != nil {
		return err
	}
	languages, given, err := sent.all("languages")
	if err != nil {
		return err
	}
	if given {
		o.Languages = &languages
	}
	r, err := s.cfg.Relations.Follow(ctx, c.account(), target, o)
	return c.relationship(r, err)
}

func (s *Server) mute(ctx context.Context, c *call) error {
	target, sent, err := c.targetAndBody()
	if err != nil {
		return err
	}
	notifications, err := sent.flag("notifications")
	if err != nil {
		return err
	}
	seconds, err := sent.number("duration")
	if err != nil {
		return err
	}
	hide := notifications == nil || *notifications
	r, err := s.cfg.Relations.Mute(ctx, c.account(), target, hide, duration(seconds))
	return c.relationship(r, err)
}

// duration is seconds as far as a Duration reaches; more is refused as is.
func duration(seconds int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	return time.Duration(min(max(seconds, -most), most)) * time.Second
}

func (s *Server) note(ctx context.Context, c *call) error {
	target, sent, err := c.targetAndBody()
	if err != nil {
		return err
	}
	comment, err := sent.one("comment")
	if err != nil {
		return err
	}
	r, err := s.cfg.Relations.SetNote(ctx, c.account(), target, comment)
	return c.relationship(r, err)
}

func (c *call) targetAndBody() (uint64, values, error) {
	target, err := c.pathID()
	if err != nil {
		return 0, nil, err
	}
	sent, err := c.body()
	return target, sent, err
}
