package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// types are the kinds of token that say what somebody may do. Others, such as
// logout+jwt or dpop+jwt, are signed with the same keys and mean something else.
var types = []string{"JWT", "at+jwt"}

// shaped reports whether text is three parts of base64url, which decoders that
// skip line breaks do not check.
func shaped(text string) bool {
	other := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	return len(text) <= MaxToken && strings.Count(text, ".") == 2 && !strings.ContainsFunc(text, other)
}

// keyID checks the header of a token and returns the key that it names, nil
// for none. Keys and addresses of keys in a header are never looked at.
func keyID(text string) (*string, error) {
	part, _, _ := strings.Cut(text, ".")
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	members, err := object(raw)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if _, ok := members["crit"]; ok {
		return nil, errors.New("header: crit names extensions, none of which is known here")
	}
	kind, kid := types[0], (*string)(nil)
	err = errors.Join(read(members, "typ", &kind, asText),
		read(members, "kid", &kid, func(raw json.RawMessage) (*string, error) { s, err := asText(raw); return &s, err }))
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	if !slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, kind) }) {
		return nil, fmt.Errorf("header: typ %q is not that of an access token", kind)
	}
	return kid, nil
}

// wire is the claims as they stand in a token.
type wire struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// UnmarshalJSON reads the claims that count; others may be anything.
func (w *wire) UnmarshalJSON(b []byte) error {
	members, err := object(b)
	if err != nil {
		return err
	}
	return errors.Join(
		read(members, "sub", &w.Subject, asText), read(members, "iss", &w.Issuer, asText), read(members, "scope", &w.Scope, asText),
		read(members, "aud", &w.Audience, asAudience),
		read(members, "exp", &w.ExpiresAt, asTime), read(members, "nbf", &w.NotBefore, asTime), read(members, "iat", &w.IssuedAt, asTime),
	)
}

func asAudience(raw json.RawMessage) (jwt.ClaimStrings, error) {
	if one, err := asText(raw); err == nil {
		return jwt.ClaimStrings{one}, nil
	}
	all, err := asTexts(raw)
	if err != nil {
		return nil, errors.New("is neither a string nor an array of strings")
	}
	return all, nil
}

// lastSecond is the last that a date of four digits has.
const lastSecond = 253402300799

// asTime reads seconds since 1970. Fractions are allowed and dropped.
func asTime(raw json.RawMessage) (*jwt.NumericDate, error) {
	var seconds *float64
	if err := json.Unmarshal(raw, &seconds); err != nil || seconds == nil {
		return nil, errors.New("is not a number")
	}
	if *seconds < 0 || *seconds > lastSecond {
		return nil, errors.New("is out of range")
	}
	return jwt.NewNumericDate(time.Unix(int64(*seconds), 0)), nil
}
