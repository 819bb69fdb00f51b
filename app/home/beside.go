package home

import (
	"context"

	"kith/app"
	"kith/repo/post"
)

// Beside returns those of posts that may be shown in a reader's home although nobody brings
// them whom the reader follows. It judges them as it does what is reposted: none by, and
// none that mentions, somebody whom the reader blocks or mutes, or who blocks the reader.
// The reader's own and reposts are left out.
func (s *Service) Beside(ctx context.Context, reader uint64, ids []uint64) (map[uint64]*post.Post, error) {
	posts, err := s.cfg.Posts.Rows(ctx, ids)
	if err != nil {
		return nil, app.From(err)
	}
	r, err := s.open(ctx, reader)
	if err != nil {
		return nil, app.From(err)
	}
	var concerned []uint64
	for i := range posts {
		concerned = Concerned(concerned, &posts[i])
	}
	if err := r.relate(ctx, concerned); err != nil {
		return nil, app.From(err)
	}
	out := map[uint64]*post.Post{}
	for i := range posts {
		if p := &posts[i]; p.Author != reader && p.Origin == 0 && r.viewer.judgeOrigin(p).reason == Stands {
			out[p.ID] = p
		}
	}
	return out, nil
}
