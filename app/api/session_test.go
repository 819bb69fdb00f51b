package api

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
		if who, err := s.of(t.Context(), []string{"bearer " + text}); err != nil || who.claims.Account != 7 {
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
		if why, _ := judge(err); why != codeBusy {
			t.Errorf("got %s for %v, want 503", meanings[why].text, err)
		}
		ask("a") // still remembered
		c.err = fmt.Errorf("%w: %w", token.ErrInvalid, errors.New("x"))
		_, err = s.of(t.Context(), []string{"Bearer new"})
		if why, _ := judge(err); why != codeToken {
			t.Errorf("got %s for %v, want 401", meanings[why].text, err)
		}
	})
}

// A proxy that checks one of two tokens must not let the other act.
func TestSessions_TwoHeaders(t *testing.T) {
	w := newWorld(t)
	ann, ben := w.as(w.add(false)), w.as(w.add(false))
	for name, headers := range map[string][]string{
		"two": {"Bearer " + ann.token, "Bearer " + ben.token}, "twice": {"Bearer " + ann.token, "Bearer " + ann.token},
		"one bad": {"Bearer " + ann.token, "Bearer x"}, "one of another scheme": {"Basic eDp5", "Bearer " + ann.token}, "one empty": {"", "Bearer " + ann.token},
	} {
		for _, path := range []string{"/api/v1/blocks", "/api/v1/instance"} {
			r, err := http.NewRequest(http.MethodGet, w.http.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = headers
			t.Log(name)
			w.nobody().do(r).refused(http.StatusBadRequest, "more than one Authorization header")
		}
	}
	r, err := http.NewRequest(http.MethodGet, w.http.URL+"/api/v1/blocks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+ann.token+", Bearer "+ben.token)
	w.nobody().do(r).refused(http.StatusUnauthorized, "invalid")
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
			s := newSessions(Config{Tokens: tokens, Accounts: &counted{}, Now: time.Now})
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
