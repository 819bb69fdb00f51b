package token

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/repo"
)

// web answers for addresses without a network.
type web struct {
	mu    sync.Mutex
	pages map[string]page
	asked []string
}

type page struct {
	status int
	moved  string
	text   []byte
	body   io.Reader // instead of text
	takes  time.Duration
}

func (w *web) put(address string, p page) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages == nil {
		w.pages = map[string]page{}
	}
	w.pages[address] = p
}

func (w *web) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	address := r.URL.String()
	w.asked = append(w.asked, address)
	p, ok := w.pages[address]
	w.mu.Unlock()
	if p.takes > 0 {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(p.takes):
		}
	}
	if !ok {
		return nil, errors.New("nobody at " + address)
	}
	if p.body == nil {
		p.body = bytes.NewReader(p.text)
	}
	answer := &http.Response{StatusCode: p.status, Status: http.StatusText(p.status), Header: http.Header{}, Body: io.NopCloser(p.body), Request: r}
	if p.moved != "" {
		answer.Header.Set("Location", p.moved)
	}
	return answer, nil
}

func found(text []byte) page { return page{status: http.StatusOK, text: text} }
func moved(to string) page   { return page{status: http.StatusFound, moved: to} }

const signIn = "https://sign.in/keys"

// Only https says who gives the keys; a redirect to http would let anybody on
// the way.
func TestJWKS_Redirects(t *testing.T) {
	key := edKey(t)
	text := sign(t, jwt.SigningMethodEdDSA, key, good(), "k")
	doc := document(t, with(jwkOf(t, key.Public()), "kid", "k"))
	for name, c := range map[string]struct {
		start string
		pages map[string]page
		want  string // of the problem; "": the keys are believed
	}{
		"to https":     {signIn, map[string]page{signIn: moved("https://b.in/"), "https://b.in/": found(doc)}, ""},
		"a path":       {signIn, map[string]page{signIn: moved("/b"), "https://sign.in/b": found(doc)}, ""},
		"to http":      {signIn, map[string]page{signIn: moved("http://b.in/"), "http://b.in/": found(doc)}, "redirects to http, not to https"},
		"to this host": {signIn, map[string]page{signIn: moved("http://127.0.0.1/"), "http://127.0.0.1/": found(doc)}, "redirects to http, not to https"},
		"http, late": {signIn, map[string]page{signIn: moved("https://b.in/"), "https://b.in/": moved("http://c.in/"), "http://c.in/": found(doc)},
			"redirects to http, not to https"},
		"http to http": {"http://127.0.0.1/", map[string]page{"http://127.0.0.1/": moved("http://b.in/"), "http://b.in/": found(doc)}, "redirects to http, not to https"},
		"to a file":    {signIn, map[string]page{signIn: moved("file:///etc/passwd")}, "redirects to file, not to https"},
		"three times":  {signIn, map[string]page{signIn: moved("/1"), "https://sign.in/1": moved("/2"), "https://sign.in/2": moved("/3"), "https://sign.in/3": found(doc)}, ""},
		"four times": {signIn, map[string]page{signIn: moved("/1"), "https://sign.in/1": moved("/2"), "https://sign.in/2": moved("/3"),
			"https://sign.in/3": moved("/4"), "https://sign.in/4": found(doc)}, "redirects more than 3 times"},
		"round and round": {signIn, map[string]page{signIn: moved(signIn)}, "redirects more than 3 times"},
		"no page":         {signIn, map[string]page{signIn: {status: 404, text: doc}}, "Not Found"},
		"not changed":     {signIn, map[string]page{signIn: {status: 304, text: doc}}, "Not Modified"},
	} {
		var problem error
		w := &web{pages: maps.Clone(c.pages)}
		tokens := open(t, Config{JWKS: c.start, Transport: w, Problem: func(err error) { problem = err }})
		if (problem == nil) != (c.want == "") || problem != nil && !strings.Contains(problem.Error(), c.want) {
			t.Errorf("%s: told %v, want %q", name, problem, c.want)
		}
		if c.want != "" {
			continue
		}
		if _, err := tokens.Verify(t.Context(), text); err != nil {
			t.Errorf("%s: got %v, want it good", name, err)
		}
	}
}

// endless is a document without end, and counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read += len(b)
	return len(b), nil
}

func TestJWKS_EndlessDocument(t *testing.T) {
	var problem error
	body := &endless{}
	w := &web{pages: map[string]page{signIn: {status: 200, body: body}}}
	open(t, Config{JWKS: signIn, Transport: w, Problem: func(err error) { problem = err }})
	if problem == nil || !strings.Contains(problem.Error(), "longer than 262144 bytes") || body.read > 2*maxDocument {
		t.Fatalf("told %v after %d bytes", problem, body.read)
	}
}

// followed is tokens of a sign-in whose keys change, on a clock of its own.
type followed struct {
	t        *testing.T
	web      *web
	tokens   *Tokens
	problems int
	mu       sync.Mutex
}

func follow(t *testing.T, p page) *followed {
	f := &followed{t: t, web: &web{}}
	f.web.put(signIn, p)
	tokens, err := New(t.Context(), Config{JWKS: signIn, Transport: f.web, Now: time.Now, Problem: func(error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.problems++
	}})
	if err != nil {
		t.Fatal(err)
	}
	f.tokens = tokens
	return f
}

func (f *followed) verify(key ed25519.PrivateKey, kid string) error {
	f.t.Helper()
	claims := jwt.MapClaims{"sub": "7", "exp": time.Now().Add(time.Hour).Unix()}
	_, err := f.tokens.Verify(f.t.Context(), sign(f.t, jwt.SigningMethodEdDSA, key, claims, kid))
	return err
}

// pass lets time pass, and what is due happen.
func pass(d time.Duration) {
	time.Sleep(d) // of the bubble: nobody waits
	synctest.Wait()
}

func set(t *testing.T, kid string, key ed25519.PrivateKey) page {
	return found(document(t, with(jwkOf(t, key.Public()), "kid", kid)))
}

// A key that the sign-in takes out of its set verifies no more after 20
// seconds, and 5 for the fetch.
func TestJWKS_KeyTakenBack(t *testing.T) {
	key, other := edKey(t), edKey(t)
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, set(t, "k", key))
		for range 100 {
			if err := f.verify(key, "k"); err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
		}
		if n := f.web.count(); n != 1+100/20 {
			t.Errorf("fetched %d times in 100 s, want 6", n)
		}
		slow := set(t, "o", other)
		slow.takes = fetchTimeout - time.Second
		f.web.put(signIn, slow)
		pass(fetchAgain + fetchTimeout)
		for _, kid := range []string{"k", ""} {
			if err := f.verify(key, kid); !errors.Is(err, ErrInvalid) {
				t.Errorf("kid %q: got %v after the key was taken back, want ErrInvalid", kid, err)
			}
		}
		if err := f.verify(other, "o"); err != nil {
			t.Errorf("the key that stayed: got %v", err)
		}
	})
}

// A sign-in without any key signs nobody in.
func TestJWKS_AllKeysTakenBack(t *testing.T) {
	key := edKey(t)
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, set(t, "k", key))
		f.web.put(signIn, found([]byte(`{"keys":[]}`)))
		pass(fetchAgain)
		if err := f.verify(key, "k"); !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	})
}

// A sign-in that is away signs nobody out for a day; a key that may be new is
// not called bad meanwhile.
func TestJWKS_SignInAway(t *testing.T) {
	key, next := edKey(t), edKey(t)
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, set(t, "k", key))
		f.web.put(signIn, page{status: 200, text: []byte("<html>"), takes: time.Hour})
		pass(keysKept - time.Minute)
		if err := f.verify(key, "k"); err != nil {
			t.Errorf("got %v within a day, want it good", err)
		}
		if err := f.verify(next, "n"); !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("a new key: got %v, want ErrUnavailable", err)
		}
		pass(2 * time.Minute)
		if err := f.verify(key, "k"); !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("got %v after a day, want ErrUnavailable", err)
		}
		if f.problems < 4000 {
			t.Errorf("told %d problems in a day, want one each 20 s", f.problems)
		}
		f.web.put(signIn, set(t, "n", next))
		pass(fetchAgain + fetchTimeout)
		if err := f.verify(next, "n"); err != nil {
			t.Errorf("back: got %v", err)
		}
	})
}

// A new key is found at once, and made up ones cause one fetch in 10 seconds,
// however many ask and leave.
func TestJWKS_UnknownKeys(t *testing.T) {
	key, next := edKey(t), edKey(t)
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, set(t, "k", key))
		slow := set(t, "n", next)
		slow.takes = time.Second
		f.web.put(signIn, slow)
		gone, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if i == 0 {
					claims := jwt.MapClaims{"sub": "7", "exp": time.Now().Add(time.Hour).Unix()}
					_, _ = f.tokens.Verify(gone, sign(t, jwt.SigningMethodEdDSA, key, claims, "made up"))
					return
				}
				if err := f.verify(next, "n"); err != nil {
					t.Errorf("got %v, want the new key found", err)
				}
			})
		}
		pass(time.Millisecond)
		leave()
		all.Wait()
		if n := f.web.count(); n != 2 {
			t.Errorf("fetched %d times, want 2", n)
		}
		f.web.put(signIn, set(t, "n", next))
		begun := time.Now()
		for time.Since(begun) < unknownKeyPause-2*time.Second {
			if err := f.verify(key, "made up"); !errors.Is(err, ErrInvalid) {
				t.Errorf("made up: got %v, want ErrInvalid", err)
			}
			pass(time.Second)
		}
		if n := f.web.count(); n != 2 {
			t.Errorf("fetched %d times for made up keys, want 2", n)
		}
	})
}
