package post

import (
	"context"
	"errors"
	"fmt"

	"kith/app"
	"kith/repo/post"
)

// Look returns a post from the database, whoever may see it, for administrators.
func (s *Service) Look(ctx context.Context, id uint64) (post.Post, error) {
	p, err := s.truth(ctx, id)
	if err == nil && p.Ver == 0 {
		err = app.Refuse(app.NotFound, fmt.Sprintf("there is no post %d", id))
	}
	return p, app.From(err)
}

// Moderable returns a post that can be hidden, shown again or deleted. A repost has nothing
// to hide: the refusal names what it reposts.
func (s *Service) Moderable(ctx context.Context, id uint64) (post.Post, error) {
	p, err := s.Look(ctx, id)
	switch {
	case err != nil:
		return p, err
	case p.State == post.Deleted:
		return p, goneAlready(id)
	case p.Origin != 0:
		return p, app.Refuse(app.Unprocessable, fmt.Sprintf("%d is a repost by account %d: the post is %d", id, p.Author, p.Origin))
	}
	return p, nil
}

// Moderate hides a post, shows it again or deletes it, for administrators, and returns what
// it was.
func (s *Service) Moderate(ctx context.Context, id uint64, to post.State) (post.Post, error) {
	p, err := s.Moderable(ctx, id)
	if err != nil {
		return p, err
	}
	err = s.SetState(ctx, p.Author, id, to)
	if errors.Is(err, errUnknown) {
		err = goneAlready(id) // since we looked
	}
	return p, err
}

func goneAlready(id uint64) error {
	return app.Refuse(app.Unprocessable, fmt.Sprintf("post %d is deleted already", id))
}
