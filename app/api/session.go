package api

import (
	"context"
	"crypto/sha256"
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
	sessionKept = 30 * time.Second
	maxSessions = 16384 // in each of two generations
)

// session is who calls; the zero session is nobody.
type session struct {
	claims token.Claims
	until  time.Time // when the token must be verified again
}

// tokenSum stands for a token, so that a long one takes no more memory and
// nobody finds it there.
type tokenSum [sha256.Size]byte

// sessions remembers tokens that were found good. When one generation is full
// it becomes the old one, and what is still used moves over.
type sessions struct {
	cfg      Config
	mu       sync.Mutex
	now, old map[tokenSum]session
}

func newSessions(cfg Config) *sessions { return &sessions{cfg: cfg, now: map[tokenSum]session{}} }

// of returns the session of the Authorization headers of a request. Several
// are refused: a proxy may have believed another than we would. A header
// without a bearer token is nobody, and so is an empty token, which clients
// send that have none.
func (s *sessions) of(ctx context.Context, headers []string) (session, error) {
	if len(headers) > 1 {
		return session{}, errTwoTokens
	}
	if len(headers) == 0 || bearer(headers[0]) == "" {
		return session{}, nil
	}
	text := bearer(headers[0])
	if len(text) > token.MaxToken {
		return session{}, errToken
	}
	now, sum := s.cfg.Now(), tokenSum(sha256.Sum256([]byte(text)))
	if known, ok := s.remembered(sum); ok && now.Before(known.until) {
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
	s.remember(sum, fresh)
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

func (s *sessions) remembered(sum tokenSum) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.now[sum]
	if !ok {
		if known, ok = s.old[sum]; ok {
			s.put(sum, known)
		}
	}
	return known, ok
}

func (s *sessions) remember(sum tokenSum, fresh session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(sum, fresh)
}

func (s *sessions) put(sum tokenSum, one session) {
	if len(s.now) >= maxSessions {
		s.old, s.now = s.now, map[tokenSum]session{}
	}
	s.now[sum] = one
}
