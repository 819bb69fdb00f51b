package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/repo"
)

// How a JWKS is fetched. The first two and the time for which app/api remembers a session
// make the minute after which a withdrawn key opens nothing; a test adds them up.
const (
	fetchAgain   = 20 * time.Second
	fetchTimeout = 5 * time.Second
	// unknownKeyPause is between two fetches because of an unknown key: tokens with
	// made up keys cause no more.
	unknownKeyPause = 10 * time.Second
	maxRedirects    = 3
	// keysKept is how long keys stay good while the sign-in does not answer.
	keysKept = 24 * time.Hour
)

// errNoKeys says that there are no keys, or newer ones could not be fetched.
var errNoKeys = fmt.Errorf("the keys of the sign-in are not there: %w", repo.ErrUnavailable)

// keySet is a key set as last read.
type keySet struct {
	keys   []key
	read   time.Time
	behind bool // a later fetch failed
}

// jwks is the key set of a file, or of an address that is fetched again.
type jwks struct {
	address string // empty: it was a file
	client  *http.Client
	now     func() time.Time
	problem func(error)
	set     atomic.Pointer[keySet]

	turn  chan struct{} // a lock for a fetch and asked, which a caller can leave
	asked time.Time     // the last fetch for an unknown key
}

// openJWKS reads a key set from a file, or fetches one from an address until ctx ends.
func openJWKS(ctx context.Context, cfg Config) (*jwks, error) {
	j := &jwks{now: cfg.Now, problem: cfg.Problem, turn: make(chan struct{}, 1)}
	if !strings.HasPrefix(cfg.JWKS, "http://") && !strings.HasPrefix(cfg.JWKS, "https://") {
		return j, j.readFile(cfg.JWKS)
	}
	j.address = cfg.JWKS
	j.client = &http.Client{Timeout: fetchTimeout, Transport: cfg.Transport, CheckRedirect: safeRedirect}
	if _, err := url.Parse(j.address); err != nil {
		return nil, fmt.Errorf("tokens: the address of the JWKS: %w", err)
	}
	j.set.Store(&keySet{})
	j.refresh(ctx)
	go j.follow(ctx)
	return j, nil
}

// safeRedirect refuses plain connections, on which anybody could change the keys.
func safeRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s, not to https", r.URL.Scheme)
	case len(via) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	return nil
}

// readFile refuses a file with any fault: whoever wrote it can read the error.
func (j *jwks) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("tokens: read the JWKS: %w", err)
	}
	defer f.Close()
	keys, faults, err := readBounded(f)
	if err = errors.Join(append(faults, err)...); err == nil && len(keys) == 0 {
		err = errors.New("it has no key for signatures")
	}
	if err != nil {
		return fmt.Errorf("tokens: read the JWKS in %s: %w", path, err)
	}
	j.set.Store(&keySet{keys: keys})
	return nil
}

// readBounded reads the keys of a document of at most maxDocument bytes.
func readBounded(r io.Reader) (keys []key, faults []error, err error) {
	document, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(document) > maxDocument {
		err = fmt.Errorf("it is longer than %d bytes", maxDocument)
	}
	if err != nil {
		return nil, nil, err
	}
	return readKeys(document)
}

// follow fetches again and again until ctx ends.
func (j *jwks) follow(ctx context.Context) {
	again := time.NewTicker(fetchAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			j.turn <- struct{}{}
			j.refresh(ctx)
			<-j.turn
		}
	}
}

// refresh fetches the keys. Where that fails, the old ones stay.
func (j *jwks) refresh(ctx context.Context) {
	keys, faults, err := j.fetch(ctx)
	if err != nil {
		old := *j.set.Load()
		old.behind = true
		j.set.Store(&old)
		faults = []error{err}
	} else {
		j.set.Store(&keySet{keys: keys, read: j.now()})
	}
	if err := errors.Join(faults...); err != nil && ctx.Err() == nil && j.problem != nil {
		j.problem(fmt.Errorf("fetch JWKS: %w", err))
	}
}

func (j *jwks) fetch(ctx context.Context) (keys []key, faults []error, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, j.address, nil)
	if err != nil {
		return nil, nil, err
	}
	answer, err := j.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return nil, nil, fmt.Errorf("it answers %s", answer.Status)
	}
	return readBounded(answer.Body)
}

// renew fetches the keys early for a token that names an unknown one, unless another
// caller just did.
func (j *jwks) renew(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
	}
	if now := j.now(); j.asked.IsZero() || now.Sub(j.asked) >= unknownKeyPause {
		j.asked = now
		j.refresh(context.WithoutCancel(ctx)) // the caller may leave; others need the keys
	}
}

// find returns the keys that may have signed a token of family. kid is nil
// where the token names none.
func (j *jwks) find(ctx context.Context, kid *string, family string) ([]jwt.VerificationKey, error) {
	set := j.set.Load()
	found := set.matching(kid, family)
	if len(found) == 0 && kid != nil && j.address != "" {
		j.renew(ctx)
		set = j.set.Load()
		found = set.matching(kid, family)
	}
	switch {
	case j.address != "" && j.now().Sub(set.read) > keysKept:
		return nil, errNoKeys
	case len(found) > 0:
		return found, nil
	case set.behind || len(set.keys) == 0:
		return nil, errNoKeys
	}
	return nil, errors.New("the sign-in has no such key")
}

func (s *keySet) matching(kid *string, family string) []jwt.VerificationKey {
	var found []jwt.VerificationKey
	for _, k := range s.keys {
		if (kid == nil || *kid == k.id) && slices.Contains(k.families, family) {
			found = append(found, k.public)
		}
	}
	return found
}
