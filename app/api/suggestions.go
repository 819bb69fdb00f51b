package api

import (
	"context"

	"kith/app"
	"kith/app/suggest"
	"kith/app/token"
)

// Suggestions tells whom an account may want to follow.
type Suggestions interface {
	Suggestions(ctx context.Context, owner uint64, limit int) ([]uint64, error)
	Dismiss(ctx context.Context, owner, id uint64) error
}

var _ Suggestions = (*suggest.Service)(nil)

// nearRoutes are those that have to do with how near accounts are.
func (s *Server) nearRoutes() []route {
	return []route{
		post(interactionsPath, signedIn(token.ServerScope), s.interactions),
		get("/api/v2/suggestions", signedIn("read:accounts"), s.suggestions),
		del("/api/v1/suggestions/:id", signedIn("write:accounts"), s.dismiss),
	}
}

func (s *Server) suggestions(ctx context.Context, c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	limit, err := q.limit()
	if err != nil {
		return err
	}
	if s.cfg.Suggestions == nil {
		return nothing(ctx, c)
	}
	ids, err := s.cfg.Suggestions.Suggestions(ctx, c.account(), limit)
	if err != nil {
		return err
	}
	found, err := s.people(ctx, c, ids)
	if err != nil {
		return err
	}
	return c.render(func(b []byte) []byte { return appendArray(b, found, appendSuggestion) })
}

// appendSuggestion appends a Suggestion. Of the words that clients know for a
// source, past_interactions is the old one for friends of friends.
func appendSuggestion(b []byte, p person) []byte {
	b = appendAccount(append(b, `{"source":"past_interactions","sources":["friends_of_friends"],"account":`...), p)
	return append(b, '}')
}

// dismiss keeps an account from being suggested. As in Mastodon one that nobody
// suggested, or nobody has, is as good.
func (s *Server) dismiss(ctx context.Context, c *call) error {
	if id, err := c.pathID(); err == nil && s.cfg.Suggestions != nil {
		err := s.known(ctx, id)
		if err == nil {
			err = s.cfg.Suggestions.Dismiss(ctx, c.account(), id)
		}
		if err != nil && app.KindOf(err) != app.NotFound {
			return err
		}
	}
	return c.ok([]byte(`{}`))
}

// known returns an error where nobody has the id.
func (s *Server) known(ctx context.Context, id uint64) error {
	_, err := s.cfg.Accounts.One(ctx, id)
	return err
}
