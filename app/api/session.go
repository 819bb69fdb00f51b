package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kith/app"
	"kith/app/token"
)

// How sessions are remembered.
const (
	sessionKept = time.Minute
	maxSessions = 16384 // in each of two generations
	maxToken    = 8 << 10
)

// session is who calls; the zero session is nobody.
type session struct {
	claims token.Claims
	until  time.Time // when the token must be verified again
}

// sessions remembers tokens that were found good. When one generation is full
// it becomes the old one, and what is still used moves over.
type sessions struct {
	cfg      Config
	mu       sync.Mutex
	now, old map[string]session
}

func newSessions(cfg Config) *sessions { return &sessions{cfg: cfg, now: map[string]session{}} }

// of returns the session of an Authorization header. A header without a bearer
// token is nobody, and so is an empty token, which clients send that have none.
func (s *sessions) of(ctx context.Context, header string) (session, error) {
	text := bearer(header)
	if text == "" {
		return session{}, nil
	}
	if len(text) > maxToken {
		return session{}, errToken
	}
	now := s.cfg.Now()
	if known, ok := s.remembered(text); ok && now.Before(known.until) {
		return known, nil
	}
	fresh, err := s.verify(ctx, text)
	if err != nil {
		return session{}, err
	}
	fresh.until = now.Add(sessionKept)
	if fresh.claims.Expires.Before(fresh.until) {
		fresh.until = fresh.claims.Expires
	}
	s.remember(text, fresh)
	return fresh, nil
}

func bearer(header string) string {
	scheme, text, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(text)
}

// verify checks the token and that its account exists.
func (s *sessions) verify(ctx context.Context, text string) (session, error) {
	claims, err := s.cfg.Tokens.Verify(ctx, text)
	if errors.Is(err, token.ErrInvalid) {
		return session{}, fmt.Errorf("%w: %w", errToken, err)
	}
	if err != nil {
		return session{}, app.From(err)
	}
	_, err = s.cfg.Accounts.One(ctx, claims.Account)
	if app.KindOf(err) == app.NotFound {
		return session{}, errToken
	}
	if err == nil && s.cfg.Interactions != nil {
		s.cfg.Interactions.Seen(claims.Account)
	}
	return session{claims: claims}, err
}

func (s *sessions) remembered(text string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.now[text]
	if !ok {
		if known, ok = s.old[text]; ok {
			s.put(text, known)
		}
	}
	return known, ok
}

func (s *sessions) remember(text string, fresh session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(text, fresh)
}

func (s *sessions) put(text string, one session) {
	if len(s.now) >= maxSessions {
		s.old, s.now = s.now, map[string]session{}
	}
	s.now[strings.Clone(text)] = one
}
