package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func fuzzed(f *testing.F) *Tokens {
	f.Helper()
	tokens, err := New(f.Context(), Config{Secret: secret, Now: clock})
	if err != nil {
		f.Fatal(err)
	}
	return tokens
}

// Whatever stands in an Authorization header, nothing is believed but what the
// secret signed, written in the one way there is.
func FuzzVerify(f *testing.F) {
	tokens := fuzzed(f)
	f.Add(signed(f, plainHeader, plainClaims))
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := tokens.Verify(t.Context(), text); err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%q: got %v, want ErrInvalid", text, err)
			}
			return
		}
		parts := strings.Split(text, ".")
		signature, err := jwt.SigningMethodHS256.Sign(parts[0]+"."+parts[1], secret)
		if err != nil {
			t.Fatal(err)
		}
		if want := parts[0] + "." + parts[1] + "." + (&jwt.Token{}).EncodeSegment(signature); text != want {
			t.Fatalf("believed %q, which is not %q", text, want)
		}
	})
}

// What is signed says what a plain reading of it says, and says it once.
func FuzzVerify_Signed(f *testing.F) {
	tokens := fuzzed(f)
	f.Add(plainHeader, plainClaims)
	f.Fuzz(func(t *testing.T, header, claims string) {
		got, err := tokens.Verify(t.Context(), signed(t, header, claims))
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%s %s: got %v, want ErrInvalid", header, claims, err)
			}
			return
		}
		var h, c map[string]any
		if json.Unmarshal([]byte(header), &h) != nil || json.Unmarshal([]byte(claims), &c) != nil {
			t.Fatalf("believed %s %s, which is not JSON", header, claims)
		}
		if _, crit := h["crit"]; crit || h["alg"] != "HS256" {
			t.Fatalf("believed the header %s", header)
		}
		exp, _ := c["exp"].(float64)
		scope, _ := c["scope"].(string)
		if c["sub"] != strconv.FormatUint(got.Account, 10) || int64(exp) != got.Expires.Unix() || !now.Before(got.Expires.Add(leeway)) {
			t.Fatalf("got %+v from %s", got, claims)
		}
		for _, s := range got.Scopes {
			if !slices.Contains(strings.Fields(scope), s) {
				t.Fatalf("got the scope %s from %s", s, claims)
			}
		}
		for _, name := range []string{"nbf", "iat"} {
			if at, ok := c[name].(float64); ok && now.Add(leeway).Before(time.Unix(int64(at), 0)) {
				t.Fatalf("believed %s, whose %s has not come", claims, name)
			}
		}
		_, rest, _ := strings.Cut(claims, "{")
		if _, err := tokens.Verify(t.Context(), signed(t, header, `{"sub":"1",`+rest)); err == nil {
			t.Fatalf("believed a second sub before %s", claims)
		}
	})
}

// Whatever a sign-in answers, no key comes of it that is weak or of another
// kind than its families, and junk signed with it does no harm.
func FuzzReadKeys(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, faults, err := readKeys(document)
		if err != nil && len(keys)+len(faults) > 0 || len(keys)+len(faults) > maxKeys {
			t.Fatalf("got %d keys, %d faults, %v", len(keys), len(faults), err)
		}
		for _, k := range keys {
			for _, family := range k.families {
				if !fits(k.public, family) {
					t.Fatalf("a %T verifies %s", k.public, family)
				}
				if err := jwt.GetSigningMethod(family).Verify("a.b", make([]byte, 64), k.public); err == nil {
					t.Fatalf("junk is signed with %s by %v", family, k.public)
				}
			}
		}
	})
}

func fits(public any, family string) bool {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return k.N.BitLen() >= minRSA && k.N.BitLen() <= maxRSA && k.E >= 3 && (family[:2] == "RS" || family[:2] == "PS")
	case *ecdsa.PublicKey:
		return map[string]string{"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}[family] == k.Params().Name
	case ed25519.PublicKey:
		return family == "EdDSA" && len(k) == ed25519.PublicKeySize
	}
	return false
}
