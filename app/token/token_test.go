package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/repo"
	"kith/repo/waittest"
)

var (
	now    = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	secret = []byte(strings.Repeat("s", minSecret))
)

func clock() time.Time { return now }

func open(t *testing.T, cfg Config) *Tokens {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = clock
	}
	tokens, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// good are claims that verify.
func good() jwt.MapClaims {
	return jwt.MapClaims{"sub": "7", "scope": "read write", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
}

func sign(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims, kid string) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTokens_RoundTrip(t *testing.T) {
	tokens := open(t, Config{Secret: secret})
	for _, id := range []uint64{1, 7, 1<<63 - 1} {
		text, err := tokens.Sign(id, []string{"read", "write:follows"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tokens.Verify(t.Context(), text)
		want := Claims{Account: id, Scopes: []string{"read", "write:follows"}, Expires: now.Add(time.Hour)}
		got.Expires = got.Expires.UTC()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
}

func TestTokens_SignRefuses(t *testing.T) {
	tokens := open(t, Config{Secret: secret})
	for name, try := range map[string]func() (string, error){
		"id 0":      func() (string, error) { return tokens.Sign(0, []string{"read"}, time.Hour) },
		"large id":  func() (string, error) { return tokens.Sign(1<<63, []string{"read"}, time.Hour) },
		"no time":   func() (string, error) { return tokens.Sign(1, []string{"read"}, 0) },
		"bad scope": func() (string, error) { return tokens.Sign(1, []string{"all"}, time.Hour) },
		"no secret": func() (string, error) {
			return open(t, Config{PublicKey: publicPEM(t, edKey(t))}).Sign(1, []string{"read"}, time.Hour)
		},
	} {
		if text, err := try(); err == nil || text != "" {
			t.Errorf("%s: got %q, %v; want an error", name, text, err)
		}
	}
}

func TestTokens_VerifyRefuses(t *testing.T) {
	tokens := open(t, Config{Secret: secret})
	with := func(name string, v any) jwt.MapClaims {
		c := good()
		c[name] = v
		if v == nil {
			delete(c, name)
		}
		return c
	}
	for name, claims := range map[string]jwt.MapClaims{
		"expired": with("exp", now.Add(-time.Minute).Unix()), "no exp": with("exp", nil), "exp is text": with("exp", "soon"),
		"from the future": with("iat", now.Add(time.Hour).Unix()), "not yet": with("nbf", now.Add(time.Hour).Unix()),
		"no sub": with("sub", nil), "sub 0": with("sub", "0"), "sub signed": with("sub", "-7"), "sub plus": with("sub", "+7"),
		"sub with zeros": with("sub", "007"), "sub large": with("sub", "9223372036854775808"), "sub name": with("sub", "ann"),
		"sub number": with("sub", 7), "scope list": with("scope", []string{"read"}),
	} {
		if _, err := tokens.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, claims, "")); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if _, err := tokens.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, with("exp", now.Add(-2*time.Second).Unix()), "")); err != nil {
		t.Errorf("within the leeway: got %v", err)
	}
	for _, text := range []string{"", ".", "..", "x.y.z", strings.Repeat("x", 10000)} {
		if _, err := tokens.Verify(t.Context(), text); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.20q: got %v, want ErrInvalid", text, err)
		}
	}
}

func TestTokens_UnknownScopesGrantNothing(t *testing.T) {
	claims := good()
	claims["scope"] = "openid read:follows all admin:read write:everything"
	got, err := open(t, Config{Secret: secret}).Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, claims, ""))
	if err != nil || !reflect.DeepEqual(got.Scopes, []string{"read:follows"}) {
		t.Fatalf("got %v, %v", got.Scopes, err)
	}
}

// Tokens of families that are not configured, and those that use a public key
// as a secret.
func TestTokens_Families(t *testing.T) {
	ed, other := edKey(t), edKey(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "jwks.json")
	writeJWKS(t, file, map[string]any{"keys": []any{rsaJWK("r1", &rsaKey.PublicKey, "sig"), rsaJWK("enc", &rsaKey.PublicKey, "enc"),
		map[string]any{"kty": "oct", "kid": "o1", "k": base64.RawURLEncoding.EncodeToString(secret)}}})
	edPEM := publicPEM(t, ed)
	onlySecret, onlyKey := open(t, Config{Secret: secret}), open(t, Config{PublicKey: edPEM})
	onlyJWKS, all := open(t, Config{JWKS: file}), open(t, Config{Secret: secret, PublicKey: edPEM, JWKS: file})
	rsaPEM := pemOf(t, &rsaKey.PublicKey)
	none := sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(), "")
	hs := sign(t, jwt.SigningMethodHS256, secret, good(), "")
	edText := sign(t, jwt.SigningMethodEdDSA, ed, good(), "")
	rs := sign(t, jwt.SigningMethodRS256, rsaKey, good(), "r1")
	for _, c := range []struct {
		name   string
		tokens *Tokens
		text   string
		ok     bool
	}{
		{"secret", onlySecret, hs, true}, {"key", onlyKey, edText, true}, {"jwks", onlyJWKS, rs, true},
		{"jwks without kid", onlyJWKS, sign(t, jwt.SigningMethodRS256, rsaKey, good(), ""), true},
		{"all, secret", all, hs, true}, {"all, key", all, edText, true}, {"all, jwks", all, rs, true},
		{"none, secret", onlySecret, none, false}, {"none, all", all, none, false},
		{"other length", onlySecret, sign(t, jwt.SigningMethodHS512, secret, good(), ""), false},
		{"other secret", onlySecret, sign(t, jwt.SigningMethodHS256, []byte("x"), good(), ""), false},
		{"key not configured", onlySecret, edText, false}, {"secret not configured", onlyKey, hs, false},
		{"secret not configured, jwks", onlyJWKS, hs, false}, {"jwks not configured", onlyKey, rs, false},
		{"other key", onlyKey, sign(t, jwt.SigningMethodEdDSA, other, good(), ""), false},
		{"public key as secret", onlyKey, sign(t, jwt.SigningMethodHS256, edPEM, good(), ""), false},
		{"raw public key as secret", all, sign(t, jwt.SigningMethodHS256, []byte(ed.Public().(ed25519.PublicKey)), good(), ""), false},
		{"rsa key as secret", onlyJWKS, sign(t, jwt.SigningMethodHS256, rsaPEM, good(), "r1"), false},
		{"rsa key as secret, all", all, sign(t, jwt.SigningMethodHS256, rsaPEM, good(), "r1"), false},
		{"symmetric key of the jwks", onlyJWKS, sign(t, jwt.SigningMethodHS256, secret, good(), "o1"), false},
		{"key for encryption", onlyJWKS, sign(t, jwt.SigningMethodRS256, rsaKey, good(), "enc"), false},
		{"unknown kid", onlyJWKS, sign(t, jwt.SigningMethodRS256, rsaKey, good(), "r2"), false},
		{"other rsa family of one key", onlyJWKS, sign(t, jwt.SigningMethodRS512, rsaKey, good(), "r1"), false},
	} {
		_, err := c.tokens.Verify(t.Context(), c.text)
		if c.ok && err != nil || !c.ok && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want good: %v", c.name, err, c.ok)
		}
	}
}

func TestTokens_IssuerAndAudience(t *testing.T) {
	tokens := open(t, Config{Secret: secret, Issuer: "https://sign.in", Audience: "kith"})
	own, err := tokens.Sign(7, []string{"read"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Verify(t.Context(), own); err != nil {
		t.Errorf("our own: got %v", err)
	}
	for name, change := range map[string]func(jwt.MapClaims){
		"neither":        func(jwt.MapClaims) {},
		"other issuer":   func(c jwt.MapClaims) { c["iss"], c["aud"] = "https://other", "kith" },
		"other audience": func(c jwt.MapClaims) { c["iss"], c["aud"] = "https://sign.in", "shop" },
	} {
		c := good()
		change(c)
		if _, err := tokens.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, c, "")); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

// A sign-in that is away at start-up signs nobody out; when it is back its
// tokens are good.
func TestTokens_JWKSAddress(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	away.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{ecJWK(t, "e1", &key.PublicKey)}})
	}))
	defer server.Close()
	problems := make(chan error, 10)
	tokens := open(t, Config{JWKS: server.URL, Problem: func(err error) { problems <- err }})
	waittest.Receive(t, time.Minute, "problem", problems)
	text := sign(t, jwt.SigningMethodES256, key, good(), "e1")
	without := sign(t, jwt.SigningMethodES256, key, good(), "")
	if _, err := tokens.Verify(t.Context(), without); !errors.Is(err, repo.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	away.Store(false)
	if _, err := tokens.Verify(t.Context(), text); err != nil {
		t.Fatalf("got %v, want it fetched", err)
	}
	if _, err := tokens.Verify(t.Context(), without); err != nil {
		t.Fatalf("without kid: got %v", err)
	}
	begun := time.Now()
	if _, err := tokens.Verify(t.Context(), sign(t, jwt.SigningMethodES256, key, good(), "made up")); !errors.Is(err, ErrInvalid) {
		t.Fatalf("made up kid: got %v, want ErrInvalid", err)
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("a made up kid took %v", took)
	}
}

func TestNew_Refuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(file, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing":      {Config{}, "set a secret"},
		"short secret": {Config{Secret: secret[:31]}, "has 31 bytes, it must have at least 32"},
		"no pem":       {Config{PublicKey: []byte("x")}, "must be Ed25519 in PEM"},
		"rsa pem":      {Config{PublicKey: pemOf(t, &rsaKey.PublicKey)}, "must be Ed25519 in PEM"},
		"no file":      {Config{JWKS: file + "x"}, "read the JWKS"},
		"bad file":     {Config{JWKS: file}, "read the JWKS"},
		"bad address":  {Config{JWKS: "http://[::1"}, "JWKS"},
	} {
		c.cfg.Now = clock
		_, err := New(t.Context(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), string(secret[:31])) {
			t.Errorf("%s: the error shows the secret", name)
		}
	}
}

func TestParseScopes(t *testing.T) {
	got, err := ParseScopes(" read  write:follows push ")
	if err != nil || !reflect.DeepEqual(got, []string{"read", "write:follows", "push"}) {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "  ", "all", "read:", "read:all", "follow:follows", "push:read", ":read", "Read", "read,write"} {
		if _, err := ParseScopes(text); err == nil || !strings.Contains(err.Error(), "follow") {
			t.Errorf("%q: got %v, want an error that lists the scopes", text, err)
		}
	}
}

func TestClaims_Allows(t *testing.T) {
	for _, c := range []struct {
		granted, wanted string
		want            bool
	}{
		{"read", "read", true}, {"read", "read:follows", true}, {"read:follows", "read:follows", true},
		{"read:follows", "read", false}, {"read:follows", "read:blocks", false}, {"read", "write:follows", false},
		{"write", "write:mutes", true}, {"write", "read:mutes", false}, {"write", "read", false},
		{"follow", "read:follows", true}, {"follow", "write:blocks", true}, {"follow", "write:mutes", true},
		{"follow", "write:accounts", false}, {"follow", "read", false}, {"follow", "read:accounts", false},
		{"profile", "profile", true}, {"profile", "read:accounts", false}, {"read", "profile", false}, {"", "read:follows", false},
	} {
		if got := (Claims{Scopes: []string{c.granted}}).Allows(c.wanted); got != c.want {
			t.Errorf("%s covers %s: got %v", c.granted, c.wanted, got)
		}
	}
}

func edKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicPEM(t *testing.T, key ed25519.PrivateKey) []byte { return pemOf(t, key.Public()) }

func pemOf(t *testing.T, public any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func number(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }

func rsaJWK(kid string, key *rsa.PublicKey, use string) map[string]any {
	return map[string]any{"kty": "RSA", "kid": kid, "use": use, "alg": "RS256", "n": number(key.N), "e": "AQAB"}
}

func ecJWK(t *testing.T, kid string, key *ecdsa.PublicKey) map[string]any {
	point, err := key.Bytes()
	if err != nil {
		t.Error(err)
	}
	x, y := point[1:33], point[33:]
	enc := base64.RawURLEncoding
	return map[string]any{"kty": "EC", "kid": kid, "crv": "P-256", "x": enc.EncodeToString(x), "y": enc.EncodeToString(y)}
}

func writeJWKS(t *testing.T, path string, set any) {
	t.Helper()
	b, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
