package core

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/app/account"
	"kith/app/token"
	"kith/repo"
	accounts "kith/repo/account"
)

// clock is the time of a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// counted verifies every token, and counts how often it is asked.
type counted struct {
	asked int
	err   error
}

func (c *counted) Verify(context.Context, string) (token.Claims, error) {
	c.asked++
	return token.Claims{Account: 7, Expires: time.Unix(1e6, 0)}, c.err
}

// everybody is a store of accounts in which every id has one.
type everybody struct{ account.Store }

func (everybody) Show(_ context.Context, ids []uint64) ([]accounts.Account, error) {
	out := make([]accounts.Account, len(ids))
	for i, id := range ids {
		out[i] = accounts.Account{ID: id, Ver: 1}
	}
	return out, nil
}

func who() *account.Service { return account.New(everybody{}, time.Now) }

func TestSessions(t *testing.T) {
	c, time0 := &counted{}, &clock{now: time.Unix(1000, 0)}
	s := newSessions(Config{Tokens: c, Accounts: who(), Now: time0.Now})
	ask := func(text string) {
		t.Helper()
		if claims, err := s.of(t.Context(), []string{"bearer " + text}); err != nil || claims.Account != 7 {
			t.Fatalf("got %+v, %v", claims, err)
		}
	}
	ask("a")
	ask("a")
	if c.asked != 1 {
		t.Fatalf("verified %d times, want once", c.asked)
	}
	time0.now = time0.now.Add(sessionKept)
	ask("a")
	if c.asked != 2 {
		t.Fatalf("verified %d times, want again after 30 seconds", c.asked)
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
		_, err := s.of(t.Context(), []string{"Bearer new"})
		if why := refusalOf(err); why.Code != "try_again" {
			t.Errorf("got %d for %v, want 503", why.Status, err)
		}
		ask("a") // still remembered
		c.err = fmt.Errorf("%w: %w", token.ErrInvalid, errors.New("x"))
		_, err = s.of(t.Context(), []string{"Bearer new"})
		if why := refusalOf(err); why.Code != "invalid_token" {
			t.Errorf("got %d for %v, want 401", why.Status, err)
		}
	})
}

// signIn answers with its key set, as slowly as it may, and may take its key
// back.
type signIn struct {
	key   ed25519.PublicKey
	taken atomic.Bool
	slow  atomic.Int64
}

func (s *signIn) RoundTrip(r *http.Request) (*http.Response, error) {
	keys := []map[string]string{}
	if !s.taken.Load() {
		keys = append(keys, map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": base64.RawURLEncoding.EncodeToString(s.key)})
	}
	b, err := json.Marshal(map[string]any{"keys": keys})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(time.Duration(s.slow.Load())): // of the bubble: nobody waits
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(b))), Request: r}, err
}

// A key that the sign-in takes back works for a minute longer and no more, at
// whatever moment it is taken back, and a busy session is no exception.
func TestSessions_KeyTakenBack(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for offset := range 20 {
		synctest.Test(t, func(t *testing.T) {
			in := &signIn{key: public}
			tokens, err := token.New(t.Context(), token.Config{JWKS: "https://sign.in/keys", Transport: in, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			in.slow.Store(int64(4900 * time.Millisecond))
			s := newSessions(Config{Tokens: tokens, Accounts: who(), Now: time.Now})
			j := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"sub": "7", "exp": time.Now().Add(time.Hour).Unix()})
			j.Header["kid"] = "k"
			text, err := j.SignedString(private)
			if err != nil {
				t.Fatal(err)
			}
			ask := func(pause time.Duration) error {
				time.Sleep(pause)
				_, err := s.of(t.Context(), []string{"Bearer " + text})
				return err
			}
			for range 60 + offset {
				if err := ask(time.Second); err != nil {
					t.Fatal(err)
				}
			}
			in.taken.Store(true)
			var last time.Duration
			for begun := time.Now(); time.Since(begun) < 2*time.Minute; {
				if err := ask(100 * time.Millisecond); err == nil {
					last = time.Since(begun)
				}
			}
			if last > time.Minute || last == 0 {
				t.Errorf("taken back %d s after a fetch: it worked for %v longer, want a minute at most", offset, last)
			}
		})
	}
}
