package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// object takes a JSON object apart. encoding/json would match names in any
// case and let the last of several win; another reader of the same bytes would
// see something else. Here a name counts as it is written and stands once.
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
			return nil, fmt.Errorf("%q stands twice", text)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members[text] = value
	}
	return members, nil
}

// read puts a member into place where it is present. null is no value.
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
	texts := make([]string, len(all))
	for i, s := range all {
		if s == nil {
			return nil, errors.New("is not an array of strings")
		}
		texts[i] = *s
	}
	return texts, nil
}
