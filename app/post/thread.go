package post

import (
	"cmp"
	"context"
	"slices"

	"kith/app"
	"kith/repo/post"
)

// bounds are those of a conversation: how many posts it shows above and below, down to how many
// levels, and how many it looks at to find them: above, below, and below of those that are
// not for anybody. So whoever writes replies that others do not see takes no room from those
// that they see. A reply that mentions many counts as several, see weight.
type bounds struct {
	ancestors, descendants, depth int
	above, below, narrow          int
}

// The bounds for anybody and for those who are signed in. The first numbers are Mastodon's.
var (
	publicBounds = bounds{ancestors: 40, descendants: 60, depth: 20, above: 400, below: 1000}
	signedBounds = bounds{ancestors: 4096, descendants: 4096, depth: 1024, above: 4096, below: 8192, narrow: 1024}
)

// Thread returns the posts that a post answers, the first of the conversation first, and
// those that answer it, each before its own answers. Posts that the viewer may not see are
// left out, with all that answers only them. Who is signed in gets 4,096 above and below,
// down 1,024 levels, anybody 40 and 60, down 20; deeper ones are in the conversation of the
// last that is shown. It costs by what it shows, and a trip for each post above and each
// level below.
func (s *Service) Thread(ctx context.Context, viewer, id uint64) (ancestors, descendants []View, err error) {
	v, err := s.Get(ctx, viewer, id)
	if err != nil {
		return nil, nil, err
	}
	most := signedBounds
	if viewer == 0 {
		most = publicBounds
	}
	if ancestors, err = s.ancestors(ctx, viewer, v.Shown(), most); err != nil {
		return nil, nil, err
	}
	descendants, err = s.descendants(ctx, viewer, v.Shown().ID, most)
	return ancestors, descendants, err
}

// ancestors walks up, one post at a time: a post names only the one that it answers.
func (s *Service) ancestors(ctx context.Context, viewer uint64, of *post.Post, most bounds) ([]View, error) {
	var found []View // the nearest first
	for above := most.above; above > 0 && len(found) < most.ancestors && of.ReplyTo != 0; {
		var ids []uint64
		for n := min(above, most.ancestors-len(found), maxPart); len(ids) < n && of.ReplyTo != 0; {
			ids = append(ids, of.ReplyTo)
			parent, err := s.cfg.Posts.Row(ctx, of.ReplyTo)
			if err != nil {
				return nil, app.From(err)
			}
			of = &parent
		}
		above -= len(ids)
		seen, err := s.Views(ctx, viewer, ids)
		if err != nil {
			return nil, err
		}
		found = append(found, seen...)
	}
	slices.Reverse(found)
	return found, nil
}

// descendants walks down, a level at a time, and puts the levels together as a tree.
func (s *Service) descendants(ctx context.Context, viewer, id uint64, most bounds) ([]View, error) {
	answers := map[uint64][]View{}
	level := []uint64{id}
	for depth := 0; depth < most.depth && len(level) > 0 && most.descendants > 0; depth++ {
		found, err := s.answers(ctx, viewer, level, &most)
		if err != nil {
			return nil, err
		}
		level = level[:0]
		for _, v := range found {
			answers[v.Post.ReplyTo] = append(answers[v.Post.ReplyTo], v)
			level = append(level, v.Post.ID)
		}
	}
	return inTree(nil, answers, id), nil
}

// answers returns the answers to posts that a viewer sees, those to a post in their order,
// and takes what that cost off most.
func (s *Service) answers(ctx context.Context, viewer uint64, to []uint64, most *bounds) (found []View, err error) {
	open, narrow, err := s.cfg.Posts.Answers(ctx, to, most.below, most.narrow)
	if err != nil {
		return nil, app.From(err)
	}
	most.below, most.narrow = most.below-len(open), most.narrow-len(narrow)
	for part := range slices.Chunk(append(open, narrow...), maxPart) {
		seen, err := s.Views(ctx, viewer, part)
		if err != nil {
			return nil, err
		}
		for i := range seen {
			if most.descendants <= 0 {
				break
			}
			most.descendants -= weight(&seen[i])
			found = append(found, seen[i])
		}
	}
	slices.SortFunc(found, func(a, b View) int { return cmp.Compare(a.Post.ID, b.Post.ID) })
	return found, nil
}

// weight is as how many posts one counts: the accounts that it mentions are loaded, too.
func weight(v *View) int { return 1 + len(v.Post.Mentions)/4 }

func inTree(out []View, answers map[uint64][]View, of uint64) []View {
	for _, v := range answers[of] {
		out = append(out, v)
		out = inTree(out, answers, v.Post.ID)
	}
	return out
}
