package token

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
)

// types are the kinds of access tokens. Others, such as logout+jwt or dpop+jwt, are signed
// with the same keys and mean something else.
var types = []string{"JWT", "at+jwt"}

// shaped reports whether text is three parts of base64url. Decoders do not check that:
// they skip line breaks.
func shaped(text string) bool {
	other := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	return len(text) <= MaxToken && strings.Count(text, ".") == 2 && !strings.ContainsFunc(text, other)
}

// keyID checks the header of a token and returns the key that it names, nil for none.
// Keys and addresses of keys in a header are ignored.
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

// wire is the claims of a token.
type wire struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// UnmarshalJSON reads the known claims and ignores others.
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

// lastSecond ends the year 9999.
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

// object decodes a JSON object strictly. encoding/json would match names in any case and
// take the last of several; another program would read something else. Here a name counts
// as written and comes once.
func object(b []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(b) || !json.Valid(b) {
		return nil, errors.New("it is not JSON in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		text, _ := name.(string) // valid JSON has no other names
		if _, twice := members[text]; twice {
			return nil, fmt.Errorf("%q is repeated", text)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members[text] = value
	}
	return members, nil
}

// read sets a value from a member that is present. null is no value.
func read[T any](members map[string]json.RawMessage, name string, into *T, as func(json.RawMessage) (T, error)) error {
	raw, ok := members[name]
	if !ok {
		return nil
	}
	value, err := as(raw)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	*into = value
	return nil
}

func asText(raw json.RawMessage) (string, error) {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", errors.New("is not a string")
	}
	return *s, nil
}

func asTexts(raw json.RawMessage) ([]string, error) {
	var all []*string
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return nil, errors.New("is not an array of strings")
	}
	texts := make([]string, 0, len(all))
	for _, s := range all {
		if s == nil {
			return nil, errors.New("is not an array of strings")
		}
		texts = append(texts, *s)
	}
	return texts, nil
}
