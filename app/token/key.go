package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"filippo.io/edwards25519"
)

// Bounds of a key set. Sign-ins have two or three keys; a token that names no
// key is tried with each.
const (
	maxDocument = 256 << 10
	maxKeys     = 32
	minRSA      = 2048
	maxRSA      = 8192
	maxExponent = 1<<31 - 1
)

// key is a public key and the families of tokens it verifies.
type key struct {
	id       string
	families []string
	public   any
}

// errOther says that a key is for other things than our signatures.
var errOther = errors.New("not for signatures")

// readKeys decodes a JSON Web Key Set (RFC 7517). It leaves out keys for other uses and
// of other kinds, and weak or broken keys, which faults names.
func readKeys(document []byte) (keys []key, faults []error, err error) {
	members, err := object(document)
	if err != nil {
		return nil, nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(members["keys"], &all); err != nil || all == nil {
		return nil, nil, errors.New("keys is not an array")
	}
	if len(all) > maxKeys {
		return nil, nil, fmt.Errorf("it has %d keys, more than %d", len(all), maxKeys)
	}
	for i, raw := range all {
		k, err := readKey(raw)
		switch {
		case err == nil:
			keys = append(keys, k)
		case !errors.Is(err, errOther):
			faults = append(faults, fmt.Errorf("key %d (kid %q) is not used: %w", i+1, k.id, err))
		}
	}
	return keys, faults, nil
}

// jwk is the members of a key.
type jwk struct {
	kty, use, alg, crv, n, e, x, y string
	ops                            []string
}

func readKey(raw []byte) (key, error) {
	members, err := object(raw)
	if err != nil {
		return key{}, err
	}
	var k key
	var j jwk
	if err := read(members, "kid", &k.id, asText); err != nil {
		return k, err
	}
	err = errors.Join(read(members, "kty", &j.kty, asText), read(members, "use", &j.use, asText), read(members, "alg", &j.alg, asText),
		read(members, "crv", &j.crv, asText), read(members, "key_ops", &j.ops, asTexts),
		read(members, "n", &j.n, asText), read(members, "e", &j.e, asText), read(members, "x", &j.x, asText), read(members, "y", &j.y, asText))
	if err != nil {
		return k, err
	}
	if j.use != "" && j.use != "sig" || j.ops != nil && !slices.Contains(j.ops, "verify") {
		return k, errOther
	}
	if k.families, err = j.families(); err != nil {
		return k, err
	}
	if _, private := members["d"]; private {
		return k, errors.New("it is a private key: whoever reads it can sign")
	}
	k.public, err = j.public()
	return k, err
}

// families returns those of the kind of key, or the one that it is pinned to.
func (j jwk) families() ([]string, error) {
	of := map[string][]string{
		"RSA": {"PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}, "OKP Ed25519": {"EdDSA"},
		"EC P-256": {"ES256"}, "EC P-384": {"ES384"}, "EC P-521": {"ES512"},
	}[strings.TrimSpace(j.kty+" "+j.crv)]
	if of == nil {
		return nil, errOther
	}
	if j.alg == "" {
		return of, nil
	}
	if !slices.Contains(of, j.alg) {
		return nil, errOther
	}
	return []string{j.alg}, nil
}

// public makes the key of a kind that families knows.
func (j jwk) public() (any, error) {
	switch j.kty {
	case "RSA":
		return j.rsa()
	case "EC":
		return j.ecdsa()
	}
	x, err := decode("x", j.x)
	if err != nil {
		return nil, err
	}
	return ed25519.PublicKey(x), checkEd25519(x)
}

// checkEd25519 refuses what is no point, and the eight points for which anybody can make
// signatures.
func checkEd25519(x []byte) error {
	p, err := new(edwards25519.Point).SetBytes(x)
	if err != nil {
		return fmt.Errorf("x has %d bytes and is not a point of the curve", len(x))
	}
	if p.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return errors.New("x is a point of small order")
	}
	return nil
}

func (j jwk) rsa() (*rsa.PublicKey, error) {
	n, nErr := decode("n", j.n)
	e, eErr := decode("e", j.e)
	if err := errors.Join(nErr, eErr); err != nil {
		return nil, err
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < minRSA || bits > maxRSA {
		return nil, fmt.Errorf("RSA of %d bits: it must have %d to %d", bits, minRSA, maxRSA)
	}
	if modulus.Bit(0) == 0 || exponent.Bit(0) == 0 || exponent.Cmp(big.NewInt(3)) < 0 || exponent.Cmp(big.NewInt(maxExponent)) > 0 {
		return nil, fmt.Errorf("RSA: n and e must be odd, e from 3 to %d", maxExponent)
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}

func (j jwk) ecdsa() (*ecdsa.PublicKey, error) {
	curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.crv]
	x, xErr := decode("x", j.x)
	y, yErr := decode("y", j.y)
	if err := errors.Join(xErr, yErr); err != nil {
		return nil, err
	}
	if size := (curve.Params().BitSize + 7) / 8; len(x) != size || len(y) != size {
		return nil, fmt.Errorf("x and y have %d and %d bytes, not %d", len(x), len(y), size)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	if err != nil {
		return nil, fmt.Errorf("x and y: %w", err)
	}
	return public, nil
}

// decode decodes base64url; some sign-ins pad it with =.
func decode(name, text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, fmt.Errorf("%s is not base64url", name)
	}
	return b, nil
}
