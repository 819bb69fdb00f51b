package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"

	"kith/repo"
)

// How a JWKS is fetched.
const (
	fetchTimeout = 5 * time.Second
	fetchAgain   = time.Hour
	// Between two fetches because of an unknown key. Who sends tokens with made
	// up keys causes no more than this.
	unknownKeyPause = 30 * time.Second
)

// errNoKeys says that the key set is still empty or may be behind.
var errNoKeys = fmt.Errorf("the keys of the sign-in are not there: %w", repo.ErrUnavailable)

// openJWKS reads a key set from a file or follows the one at an address.
func openJWKS(ctx context.Context, where string, problem func(error)) (keyfunc.Keyfunc, error) {
	if !strings.HasPrefix(where, "http://") && !strings.HasPrefix(where, "https://") {
		return readJWKS(where)
	}
	if problem == nil {
		problem = func(error) {}
	}
	set, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{where}, keyfunc.Override{
		Client:            &http.Client{Timeout: fetchTimeout},
		HTTPTimeout:       fetchTimeout,
		RateLimitWaitMax:  fetchTimeout,
		RefreshInterval:   fetchAgain,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(unknownKeyPause), 1),
		RefreshErrorHandlerFunc: func(u string) func(context.Context, error) {
			return func(_ context.Context, err error) { problem(fmt.Errorf("fetch JWKS: %w", err)) }
		},
	})
	if err != nil {
		return nil, fmt.Errorf("tokens: follow the JWKS: %w", err)
	}
	return signingOnly(set)
}

func readJWKS(path string) (keyfunc.Keyfunc, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, err
	}
	set, err := keyfunc.NewJWKSetJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("tokens: read the JWKS in %s: %w", path, err)
	}
	return signingOnly(set)
}

// signingOnly leaves out keys that are marked for encryption.
func signingOnly(set keyfunc.Keyfunc) (keyfunc.Keyfunc, error) {
	return keyfunc.New(keyfunc.Options{Storage: set.Storage(), UseWhitelist: []jwkset.USE{jwkset.UseSig, ""}})
}

// fromJWKS finds a token's key in the key set.
func (t *Tokens) fromJWKS(ctx context.Context, token *jwt.Token) (any, error) {
	key, err := t.jwks.KeyfuncCtx(ctx)(token)
	if set, ok := key.(jwt.VerificationKeySet); ok && len(set.Keys) == 0 {
		return nil, errNoKeys
	}
	if err == nil {
		return key, nil
	}
	if t.empty(ctx) {
		return nil, errors.Join(errNoKeys, err)
	}
	return nil, err
}

func (t *Tokens) empty(ctx context.Context) bool {
	keys, err := t.jwks.Storage().KeyReadAll(ctx)
	return err == nil && len(keys) == 0
}

// judge says whether a token is bad or only cannot be checked now.
func judge(err error) error {
	if errors.Is(err, repo.ErrUnavailable) {
		return fmt.Errorf("verify token: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrInvalid, err)
}
