package token

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"kith/repo"
)

func rsaKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func ecKey(t testing.TB, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// jwkOf is the members of a public key.
func jwkOf(t testing.TB, public any) map[string]any {
	t.Helper()
	enc := base64.RawURLEncoding.EncodeToString
	switch k := public.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "n": number(k.N), "e": number(big.NewInt(int64(k.E)))}
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		half := len(point) / 2
		return map[string]any{"kty": "EC", "crv": k.Params().Name, "x": enc(point[1 : 1+half]), "y": enc(point[1+half:])}
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": enc(k)}
	case *ecdh.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "X25519", "x": enc(k.Bytes())}
	}
	t.Fatalf("no JWK of %T", public)
	return nil
}

// with returns a copy of a key with other members; nil takes one away.
func with(k map[string]any, members ...any) map[string]any {
	k = maps.Clone(k)
	for i := 0; i < len(members); i += 2 {
		if k[members[i].(string)] = members[i+1]; members[i+1] == nil {
			delete(k, members[i].(string))
		}
	}
	return k
}

func document(t testing.TB, keys ...any) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Which key of a sign-in verifies which token, with its kid and without: the
// two must never differ.
func TestJWKS_KeyAndFamily(t *testing.T) {
	r, p256, p384, p521, ed := rsaKey(t, 2048), ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384()), ecKey(t, elliptic.P521()), edKey(t)
	r1, e2, e3, e5, o := jwkOf(t, &r.PublicKey), jwkOf(t, &p256.PublicKey), jwkOf(t, &p384.PublicKey), jwkOf(t, &p521.PublicKey), jwkOf(t, ed.Public())
	for _, c := range []struct {
		name   string
		key    map[string]any
		method jwt.SigningMethod
		signer any
		ok     bool
	}{
		{"rsa", r1, jwt.SigningMethodRS256, r, true}, {"rsa, pss", r1, jwt.SigningMethodPS512, r, true},
		{"pinned", with(r1, "alg", "RS256", "use", "sig"), jwt.SigningMethodRS256, r, true},
		{"padded", with(r1, "e", "AQAB=="), jwt.SigningMethodRS256, r, true},
		{"verify", with(r1, "key_ops", []string{"verify"}), jwt.SigningMethodRS256, r, true},
		{"P-256", e2, jwt.SigningMethodES256, p256, true}, {"P-384", e3, jwt.SigningMethodES384, p384, true},
		{"P-521", with(e5, "alg", "ES512"), jwt.SigningMethodES512, p521, true}, {"Ed25519", with(o, "alg", "EdDSA"), jwt.SigningMethodEdDSA, ed, true},
		{"for encryption", with(r1, "use", "enc"), jwt.SigningMethodRS256, r, false},
		{"for encryption, P-256", with(e2, "use", "enc"), jwt.SigningMethodES256, p256, false},
		{"for encryption, Ed25519", with(o, "use", "enc"), jwt.SigningMethodEdDSA, ed, false},
		{"of another use", with(r1, "use", "SIG"), jwt.SigningMethodRS256, r, false},
		{"to wrap keys", with(r1, "key_ops", []string{"wrapKey"}), jwt.SigningMethodRS256, r, false},
		{"for nothing", with(r1, "key_ops", []string{}), jwt.SigningMethodRS256, r, false},
		{"pinned to another", with(r1, "alg", "PS256"), jwt.SigningMethodRS256, r, false},
		{"pinned to another length", with(r1, "alg", "RS512"), jwt.SigningMethodRS256, r, false},
		{"pinned to encryption", with(r1, "alg", "RSA-OAEP"), jwt.SigningMethodRS256, r, false},
		{"pinned to a secret's family", with(r1, "alg", "HS256"), jwt.SigningMethodRS256, r, false},
		{"pinned to none", with(r1, "alg", "none"), jwt.SigningMethodRS256, r, false},
		{"pinned to another kind", with(e2, "alg", "RS256"), jwt.SigningMethodES256, p256, false},
		{"another key", jwkOf(t, &rsaKey(t, 2048).PublicKey), jwt.SigningMethodRS256, r, false},
		{"name in capitals", with(r1, "use", nil, "Use", "enc"), jwt.SigningMethodRS256, r, true},
	} {
		sound := with(jwkOf(t, &ecKey(t, elliptic.P256()).PublicKey), "kid", "other")
		file := filepath.Join(t.TempDir(), "jwks.json")
		writeJWKS(t, file, map[string]any{"keys": []any{sound, with(c.key, "kid", "k")}})
		tokens := open(t, Config{JWKS: file})
		for _, kid := range []string{"k", ""} {
			_, err := tokens.Verify(t.Context(), sign(t, c.method, c.signer, good(), kid))
			if c.ok && err != nil || !c.ok && !errors.Is(err, ErrInvalid) {
				t.Errorf("%s, kid %q: got %v, want good: %v", c.name, kid, err, c.ok)
			}
		}
		if _, err := tokens.Verify(t.Context(), sign(t, c.method, c.signer, good(), "other")); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s under the kid of another: got %v, want ErrInvalid", c.name, err)
		}
	}
}

// Weak and broken keys are named: an address is believed without them, a file
// not at all.
func TestJWKS_FaultyKeys(t *testing.T) {
	r, e := jwkOf(t, &rsaKey(t, 2048).PublicKey), jwkOf(t, &ecKey(t, elliptic.P256()).PublicKey)
	o := jwkOf(t, edKey(t).Public())
	ones := func(bits uint) string {
		return number(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1)))
	}
	zero := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	for name, c := range map[string]struct {
		key  map[string]any
		want string
	}{
		"1024 bits": {with(r, "n", ones(1024)), "RSA of 1024 bits"}, "2047 bits": {with(r, "n", ones(2047)), "RSA of 2047 bits"},
		"16384 bits": {with(r, "n", ones(16384)), "RSA of 16384 bits"}, "n is 0": {with(r, "n", "AA"), "RSA of 0 bits"},
		"even n": {with(r, "n", number(new(big.Int).Lsh(big.NewInt(1), 2047))), "must be odd"},
		"e is 1": {with(r, "e", "AQ"), "must be odd"}, "e is 0": {with(r, "e", "AA"), "must be odd"}, "e is even": {with(r, "e", "AQAA"), "must be odd"},
		"e is 2^64+65537": {with(r, "e", number(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(65537)))), "must be odd"},
		"e is vast":       {with(r, "e", ones(2048)), "must be odd"}, "no e": {with(r, "e", nil), "must be odd"},
		"e is a number": {with(r, "e", 65537), "e is not a string"}, "not base64": {with(r, "n", "!"), "n is not base64url"},
		"not on the curve": {with(e, "x", zero), "x and y"}, "at infinity": {with(e, "x", zero, "y", zero), "x and y"},
		"short point": {with(e, "x", "AQ"), "1 and 32 bytes, not 32"}, "other curve": {with(e, "crv", "P-384"), "32 and 32 bytes, not 48"},
		"no y":          {with(e, "y", nil), "32 and 0 bytes"},
		"short Ed25519": {with(o, "x", "AQ"), "1 bytes and is not a point"}, "no point": {with(o, "x", number(big.NewInt(2).Lsh(big.NewInt(2), 248))), "not a point"},
		"small order": {with(o, "x", zero), "small order"}, "private": {with(o, "d", zero), "private key"},
		"kid is a number": {with(o, "kid", 7), "kid is not a string"}, "use is null": {with(o, "use", json.RawMessage("null")), "use is not a string"},
		"no kty but a crv that is a list": {with(o, "crv", []string{"Ed25519"}), "crv is not a string"},
	} {
		text := document(t, c.key, with(o, "kid", "sound"))
		keys, faults, err := readKeys(text)
		if err != nil || len(keys) != 1 || keys[0].id != "sound" || len(faults) != 1 || !strings.Contains(faults[0].Error(), c.want) {
			t.Errorf("%s: got %d keys, %v, %v; want one key and %q", name, len(keys), faults, err, c.want)
		}
		file := filepath.Join(t.TempDir(), "jwks.json")
		writeJWKS(t, file, json.RawMessage(text))
		if _, err := New(t.Context(), Config{JWKS: file, Now: clock}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in a file: got %v, want %q", name, err, c.want)
		}
	}
}

func TestJWKS_Documents(t *testing.T) {
	o := jwkOf(t, edKey(t).Public())
	x, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = o
		}
		return all
	}
	others := []any{jwkOf(t, x.PublicKey()), map[string]any{"kty": "oct", "k": "AAAA"}, map[string]any{"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"},
		map[string]any{"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"}, map[string]any{"kid": "x"}}
	for name, c := range map[string]struct {
		text string
		want string // "": it is good
		keys int
	}{
		"most keys": {string(document(t, many(maxKeys)...)), "", maxKeys}, "a key too many": {string(document(t, many(maxKeys+1)...)), "33 keys", 0},
		"of other kinds": {string(document(t, append(others, o)...)), "", 1}, "empty": {`{"keys":[]}`, "", 0},
		"no keys": {`{}`, "not an array", 0}, "null": {`{"keys":null}`, "not an array", 0}, "object": {`{"keys":{}}`, "not an array", 0},
		"Keys": {`{"Keys":[]}`, "not an array", 0}, "twice": {`{"keys":[],"keys":[]}`, "is repeated", 0},
		"array": {`[]`, "not a JSON object", 0}, "page": {`<html>`, "not JSON", 0}, "cut": {`{"keys":[`, "not JSON", 0}, "nothing": {``, "not JSON", 0},
		"deep": {`{"keys":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "not JSON", 0},
	} {
		keys, faults, err := readKeys([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || len(keys) != c.keys || len(faults) != 0 {
			t.Errorf("%s: got %d keys, %v, %v; want %d and %q", name, len(keys), faults, err, c.keys, c.want)
		}
	}
	t.Run("a key twice in itself", func(t *testing.T) {
		_, faults, err := readKeys([]byte(`{"keys":[{"kty":"OKP","use":"enc","use":"sig"},7]}`))
		if err != nil || len(faults) != 2 || !strings.Contains(faults[0].Error(), "is repeated") {
			t.Errorf("got %v, %v; want two faults", faults, err)
		}
	})
}

// A kid does not choose the key of the other kind that a family needs, and a
// key set may be there beside a key in PEM.
func TestJWKS_BesidePEM(t *testing.T) {
	pem, own := edKey(t), edKey(t)
	file := filepath.Join(t.TempDir(), "jwks.json")
	writeJWKS(t, file, json.RawMessage(document(t, with(jwkOf(t, own.Public()), "kid", "own"))))
	tokens := open(t, Config{JWKS: file, PublicKey: publicPEM(t, pem), Secret: secret})
	for _, c := range []struct {
		key  ed25519.PrivateKey
		kid  string
		want error
	}{{pem, "", nil}, {own, "", nil}, {own, "own", nil}, {pem, "own", ErrInvalid}, {edKey(t), "", ErrInvalid}} {
		_, err := tokens.Verify(t.Context(), sign(t, jwt.SigningMethodEdDSA, c.key, good(), c.kid))
		if !errors.Is(err, c.want) || errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("kid %q: got %v, want %v", c.kid, err, c.want)
		}
	}
}
