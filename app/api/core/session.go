package core

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

// Tokens verifies bearer tokens. It is an interface because tests let it fail.
type Tokens interface {
	Verify(ctx context.Context, text string) (token.Claims, error)
}

var _ Tokens = (*token.Tokens)(nil)

// How sessions are remembered.
const (
	sessionKept = 30 * time.Second
	maxSessions = 16384 // in each of two generations
)

type session struct {
	claims token.Claims
	until  time.Time // when the token must be verified again
}

// tokenSum is the hash of a token: long tokens take no more memory than short ones, and
// a memory dump shows none.
type tokenSum [sha256.Size]byte

// sessions remembers good tokens. A full generation becomes the old one, and tokens that
// are still used move to the new one.
type sessions struct {
	cfg      Config
	mu       sync.Mutex
	now, old map[tokenSum]session
}

func newSessions(cfg Config) *sessions { return &sessions{cfg: cfg, now: map[tokenSum]session{}} }

// of returns the claims of a request's Authorization headers. Several are refused: a
// proxy in front may have checked another one than we would. A header without a bearer
// token has no claims, nor has the empty token that signed-out clients send.
func (s *sessions) of(ctx context.Context, headers []string) (token.Claims, error) {
	if len(headers) > 1 {
		return token.Claims{}, errTwoTokens
	}
	if len(headers) == 0 {
		return token.Claims{}, nil
	}
	scheme, text, _ := strings.Cut(headers[0], " ")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return token.Claims{}, nil
	}
	if len(text) > token.MaxToken {
		return token.Claims{}, errToken
	}
	now, sum := s.cfg.Now(), tokenSum(sha256.Sum256([]byte(text)))
	s.mu.Lock()
	known, ok := s.now[sum]
	if !ok {
		if known, ok = s.old[sum]; ok {
			s.put(sum, known)
		}
	}
	s.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.claims, nil
	}
	claims, err := s.verify(ctx, text)
	if err != nil {
		return token.Claims{}, err
	}
	fresh := session{claims, now.Add(sessionKept)}
	if claims.Expires.Before(fresh.until) {
		fresh.until = claims.Expires
	}
	s.mu.Lock()
	s.put(sum, fresh)
	s.mu.Unlock()
	return claims, nil
}

// verify checks the token and that its account exists.
func (s *sessions) verify(ctx context.Context, text string) (token.Claims, error) {
	claims, err := s.cfg.Tokens.Verify(ctx, text)
	if errors.Is(err, token.ErrInvalid) {
		return claims, fmt.Errorf("%w: %w", errToken, err)
	}
	if err != nil {
		return claims, app.From(err)
	}
	_, err = s.cfg.Accounts.One(ctx, claims.Account)
	if app.KindOf(err) == app.NotFound {
		return claims, errToken
	}
	if err == nil && s.cfg.Interactions != nil {
		s.cfg.Interactions.Seen(claims.Account)
	}
	return claims, err
}

// put remembers a session. The caller holds the lock.
func (s *sessions) put(sum tokenSum, one session) {
	if len(s.now) >= maxSessions {
		s.old, s.now = s.now, map[tokenSum]session{}
	}
	s.now[sum] = one
}
