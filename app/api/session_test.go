package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"kith/app/token"
	"kith/repo"
	accounts "kith/repo/account"
)

// counted is the tokens and accounts of a test, which counts questions.
type counted struct {
	asked int
	err   error
}

func (c *counted) Verify(context.Context, string) (token.Claims, error) {
	c.asked++
	return token.Claims{Account: 7, Expires: time.Unix(1e6, 0)}, c.err
}
func (c *counted) Get(context.Context, []uint64) ([]accounts.Account, error) {
	return nil, nil
}
func (c *counted) One(context.Context, uint64) (accounts.Account, error) {
	return accounts.Account{ID: 7}, nil
}
func (c *counted) ByName(context.Context, string) (accounts.Account, error) {
	return accounts.Account{}, nil
}

func TestSessions(t *testing.T) {
	c, time0 := &counted{}, &clock{now: time.Unix(1000, 0)}
	s := newSessions(Config{Tokens: c, Accounts: c, Now: time0.Now})
	ask := func(text string) {
		t.Helper()
		if who, err := s.of(t.Context(), "bearer "+text); err != nil || who.claims.Account != 7 {
			t.Fatalf("got %+v, %v", who, err)
		}
	}
	ask("a")
	ask("a")
	if c.asked != 1 {
		t.Fatalf("verified %d times, want once", c.asked)
	}
	time0.pass(sessionKept)
	ask("a")
	if c.asked != 2 {
		t.Fatalf("verified %d times, want again after a minute", c.asked)
	}
	t.Run("bounded", func(t *testing.T) {
		for i := range 3 * maxSessions {
			ask(fmt.Sprint(i))
			if i%1000 == 0 {
				ask("a") // in use: stays
			}
		}
		if n := len(s.now) + len(s.old); n > 2*maxSessions {
			t.Errorf("got %d sessions", n)
		}
		if before := c.asked; before != 2+3*maxSessions {
			t.Errorf("verified %d times, want %d: one that is used was forgotten", before, 2+3*maxSessions)
		}
	})
	t.Run("keys away", func(t *testing.T) {
		c.err = fmt.Errorf("keys: %w", repo.ErrUnavailable)
		_, err := s.of(t.Context(), "Bearer new")
		if why, _ := judge(err); why != codeBusy {
			t.Errorf("got %s for %v, want 503", meanings[why].text, err)
		}
		ask("a") // still remembered
		c.err = fmt.Errorf("%w: %w", token.ErrInvalid, errors.New("x"))
		_, err = s.of(t.Context(), "Bearer new")
		if why, _ := judge(err); why != codeToken {
			t.Errorf("got %s for %v, want 401", meanings[why].text, err)
		}
	})
}
