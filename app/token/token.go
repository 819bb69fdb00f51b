package token

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/repo"
	"kith/repo/list"
)

// minSecret is the shortest secret in bytes; a shorter one can be guessed.
const minSecret = 32

// MaxToken is the longest token in bytes.
const MaxToken = 8 << 10

// leeway is how far the clocks of kith and the sign-in may differ; a token is good for so
// much longer.
const leeway = 5 * time.Second

// ErrInvalid says that a token is forged, broken, expired or of a family that is not
// accepted. The error that wraps it says which, for the log.
var ErrInvalid = errors.New("invalid token")

// Config says which tokens are good. At least one of Secret, PublicKey and
// JWKS must be set.
type Config struct {
	// Secret signs and verifies HS256; at least minSecret bytes.
	Secret []byte
	// PublicKey is an Ed25519 public key in PEM.
	PublicKey []byte
	// JWKS is a file path or an http(s) address.
	JWKS string
	// Issuer and Audience must be named by a token, where set.
	Issuer, Audience string
	// Now is the clock.
	Now func() time.Time
	// Problem gets the faults of a fetched JWKS; nil: they are ignored.
	Problem func(error)
	// Transport fetches a JWKS; nil: http.DefaultTransport.
	Transport http.RoundTripper
}

// Claims are the account of a token, and its scopes.
type Claims struct {
	Account uint64
	Scopes  []string
	Expires time.Time
}

// Tokens signs and verifies. It is safe for concurrent use.
type Tokens struct {
	cfg    Config
	parser *jwt.Parser
	public ed25519.PublicKey // nil: not configured
	jwks   *jwks             // nil: not configured
}

// New checks the configuration and reads the keys. A JWKS address that does not answer is
// no error: it is tried again until ctx ends.
func New(ctx context.Context, cfg Config) (*Tokens, error) {
	t := &Tokens{cfg: cfg}
	if len(cfg.Secret) == 0 && len(cfg.PublicKey) == 0 && cfg.JWKS == "" {
		return nil, errors.New("tokens: set a secret, a public key or a JWKS, else no one can sign in")
	}
	if n := len(cfg.Secret); n > 0 && n < minSecret {
		return nil, fmt.Errorf("tokens: the secret has %d bytes, it must have at least %d", n, minSecret)
	}
	var err error
	if len(cfg.PublicKey) > 0 {
		if t.public, err = parsePublic(cfg.PublicKey); err != nil {
			return nil, err
		}
	}
	if cfg.JWKS != "" {
		if t.jwks, err = openJWKS(ctx, cfg); err != nil {
			return nil, err
		}
	}
	t.parser = jwt.NewParser(t.options()...)
	return t, nil
}

// ErrPublicKey says that a public key is not what New takes.
var ErrPublicKey = errors.New("a public key must be Ed25519 in PEM")

func parsePublic(pem []byte) (ed25519.PublicKey, error) {
	key, err := jwt.ParseEdPublicKeyFromPEM(pem)
	public, ok := key.(ed25519.PublicKey)
	if err != nil || !ok || checkEd25519(public) != nil {
		return nil, ErrPublicKey
	}
	return public, nil
}

// asymmetric are the families that a JWKS may have keys of.
var asymmetric = []string{"EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}

func (t *Tokens) options() []jwt.ParserOption {
	var families []string
	if len(t.cfg.Secret) > 0 {
		families = append(families, "HS256")
	}
	if t.public != nil {
		families = append(families, "EdDSA")
	}
	if t.jwks != nil {
		families = append(families, asymmetric...)
	}
	o := []jwt.ParserOption{
		jwt.WithValidMethods(families), jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(t.cfg.Now), jwt.WithStrictDecoding(),
	}
	if t.cfg.Issuer != "" {
		o = append(o, jwt.WithIssuer(t.cfg.Issuer))
	}
	if t.cfg.Audience != "" {
		o = append(o, jwt.WithAudience(t.cfg.Audience))
	}
	return o
}

// Sign makes a token for account that is good for ttl. It needs a secret.
func (t *Tokens) Sign(account uint64, scopes []string, ttl time.Duration) (string, error) {
	switch {
	case len(t.cfg.Secret) == 0:
		return "", errors.New("sign token: no secret is set")
	case account == 0 || account > list.MaxID:
		return "", fmt.Errorf("sign token: account %d is not within 1 and %d", account, uint64(list.MaxID))
	case ttl <= 0:
		return "", fmt.Errorf("sign token: it would be good for %v", ttl)
	}
	if err := checkScopes(scopes); err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	now := t.cfg.Now()
	w := wire{Scope: strings.Join(scopes, " ")}
	w.Subject = strconv.FormatUint(account, 10)
	w.IssuedAt, w.ExpiresAt = jwt.NewNumericDate(now), jwt.NewNumericDate(now.Add(ttl))
	w.Issuer = t.cfg.Issuer
	if t.cfg.Audience != "" {
		w.Audience = jwt.ClaimStrings{t.cfg.Audience}
	}
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, w).SignedString(t.cfg.Secret)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// Verify returns the claims of a token. Errors wrap ErrInvalid, or repo.ErrUnavailable
// where there are no keys yet.
func (t *Tokens) Verify(ctx context.Context, text string) (Claims, error) {
	if !shaped(text) {
		return Claims{}, fmt.Errorf("%w: not three parts of base64url, or longer than %d bytes", ErrInvalid, MaxToken)
	}
	var w wire
	_, err := t.parser.ParseWithClaims(text, &w, func(token *jwt.Token) (any, error) { return t.keys(ctx, token) })
	if errors.Is(err, repo.ErrUnavailable) {
		return Claims{}, fmt.Errorf("verify token: %w", err)
	}
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	id, err := strconv.ParseUint(w.Subject, 10, 63)
	if err != nil || id == 0 || w.Subject[0] == '0' {
		return Claims{}, fmt.Errorf("%w: sub is not an account id", ErrInvalid)
	}
	scopes := slices.DeleteFunc(strings.Fields(w.Scope), func(s string) bool { return !valid(s) })
	slices.Sort(scopes)
	return Claims{Account: id, Scopes: slices.Compact(scopes), Expires: w.ExpiresAt.Time}, nil
}

// keys finds the keys for a token by its family, which is a configured one. A family takes
// keys of one Go type, so that a key can never serve as one of another kind.
func (t *Tokens) keys(ctx context.Context, token *jwt.Token) (any, error) {
	kid, err := keyID(token.Raw)
	if err != nil {
		return nil, err
	}
	family := token.Method.Alg()
	if family == "HS256" {
		return t.cfg.Secret, nil
	}
	var found []jwt.VerificationKey
	if family == "EdDSA" && t.public != nil && (t.jwks == nil || kid == nil) {
		found = append(found, t.public)
	}
	if t.jwks != nil {
		more, err := t.jwks.find(ctx, kid, family)
		if err != nil && len(found) == 0 {
			return nil, err
		}
		found = append(found, more...)
	}
	return jwt.VerificationKeySet{Keys: found}, nil
}
