package post

import (
	"context"
	"slices"

	"kith/app"
	"kith/repo/post"
)

// The bounds of a context, for anybody and for those who are signed in.
type bounds struct{ ancestors, descendants, depth int }

var (
	publicBounds = bounds{40, 60, 20}
	signedBounds = bounds{200, 400, 100}
)

// Thread returns the posts that a post answers, the first of the conversation first, and
// those that answer it, each before its own answers. Posts that the viewer may not see are
// left out, with all that answers only them.
func (s *Service) Thread(ctx context.Context, viewer, id uint64) (ancestors, descendants []View, err error) {
	v, err := s.Get(ctx, viewer, id)
	if err != nil {
		return nil, nil, err
	}
	most := signedBounds
	if viewer == 0 {
		most = publicBounds
	}
	if ancestors, err = s.ancestors(ctx, viewer, v.Shown(), most.ancestors); err != nil {
		return nil, nil, err
	}
	descendants, err = s.descendants(ctx, viewer, v.Shown().ID, most)
	return ancestors, descendants, err
}

// ancestors walks up, one post at a time: a post names only the one that it answers.
func (s *Service) ancestors(ctx context.Context, viewer uint64, of *post.Post, most int) ([]View, error) {
	var ids []uint64
	for len(ids) < most && of.ReplyTo != 0 {
		ids = append(ids, of.ReplyTo)
		parent, err := s.cfg.Posts.Row(ctx, of.ReplyTo)
		if err != nil {
			return nil, app.From(err)
		}
		of = &parent
	}
	slices.Reverse(ids)
	return s.Views(ctx, viewer, ids)
}

// descendants walks down, a level at a time, and puts the levels together as a tree.
func (s *Service) descendants(ctx context.Context, viewer, id uint64, most bounds) ([]View, error) {
	answers := map[uint64][]View{}
	level := []uint64{id}
	found := 0
	for depth := 0; depth < most.depth && len(level) > 0 && found < most.descendants; depth++ {
		var next []uint64
		for _, parent := range level {
			ids, err := s.cfg.Posts.Replies(ctx, parent, 0, most.descendants-found)
			if err != nil {
				return nil, app.From(err)
			}
			views, err := s.Views(ctx, viewer, ids)
			if err != nil {
				return nil, err
			}
			answers[parent] = views
			for i := range views {
				next = append(next, views[i].Post.ID)
			}
			if found += len(ids); found >= most.descendants {
				break
			}
		}
		level = next
	}
	return inTree(nil, answers, id), nil
}

func inTree(out []View, answers map[uint64][]View, of uint64) []View {
	for _, v := range answers[of] {
		out = append(out, v)
		out = inTree(out, answers, v.Post.ID)
	}
	return out
}
