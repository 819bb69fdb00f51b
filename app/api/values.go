package api

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// values are the parameters of a query or a body in the order they came. The
// brackets of an array are not part of a name: id=1, id[]=1 and id[0]=1 are
// the same.
type values []value

type value struct {
	name, text string
	shape      shape
}

// shape is what a value was in JSON.
type shape uint8

const (
	single  shape = iota
	element       // of an array
	odd           // an object, or an array in an array: nothing that is asked for
)

// readQuery reads name=value pairs as they stand in a query or a form. It is
// written out because a page asks for forty ids, and url.ParseQuery makes a
// map of slices of them first.
func readQuery(raw string) (values, error) {
	if raw == "" {
		return nil, nil
	}
	n := 1 + strings.Count(raw, "&")
	if n > maxValues {
		return nil, errTooManyValues
	}
	v := make(values, 0, n)
	var written, name string // a name as it was written last, and as it is meant
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		left, right, _ := strings.Cut(pair, "=")
		if left != written {
			plain, err := unescape(left)
			if err != nil {
				return nil, err
			}
			written, name = left, plainName(plain)
		}
		text, err := unescape(right)
		if err != nil {
			return nil, err
		}
		v = append(v, value{name: name, text: text})
	}
	return v, nil
}

func unescape(s string) (string, error) {
	if plain(s) {
		return s, nil
	}
	s, err := url.QueryUnescape(s)
	if err != nil {
		return "", invalid("The parameters are not encoded correctly")
	}
	if !utf8.ValidString(s) {
		return "", invalid("The parameters are not valid UTF-8")
	}
	return s, nil
}

// plain tells whether s is ASCII without escapes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c == '%' || c == '+' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainName takes the brackets of an array off a name.
func plainName(name string) string {
	if !strings.HasSuffix(name, "]") {
		return name
	}
	plain, index, ok := strings.Cut(name[:len(name)-1], "[")
	if !ok || strings.ContainsFunc(index, notDigit) {
		return name
	}
	return plain
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// get returns the last value of a name, "" where there is none.
func (v values) get(name string) string {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].name == name {
			return v[i].text
		}
	}
	return ""
}

// one is get for a value that must not be an array or an object in JSON.
func (v values) one(name string) (string, error) {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].name == name && v[i].shape != single {
			return "", unprocessable("Validation failed: %s must be a single value", name)
		}
	}
	return v.get(name), nil
}

// all returns the values of a name without empty ones, and whether there were
// any at all: an empty array is one empty value.
func (v values) all(name string) (texts []string, given bool, err error) {
	for _, one := range v {
		if one.name == name {
			if one.shape == odd {
				return nil, false, unprocessable("Validation failed: %s must be an array of texts", name)
			}
			given = true
			if one.text != "" {
				texts = append(texts, one.text)
			}
		}
	}
	return texts, given, nil
}

// ids returns the account ids of a name, which may be most in number. What is
// no id is left out, as nobody has it.
func (v values) ids(name string, most int) ([]uint64, error) {
	ids := make([]uint64, 0, min(len(v), most))
	n := 0
	for _, one := range v {
		if one.name != name {
			continue
		}
		if n++; n > most {
			return nil, unprocessable("Too many ids: at most %d can be asked for at once", most)
		}
		if id, ok := parseID(one.text); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID reads an account id as we write it.
func parseID(s string) (uint64, bool) {
	id, err := strconv.ParseUint(s, 10, 63)
	return id, err == nil && id > 0 && s[0] != '0'
}

// flag returns a yes or no, nil where none was given.
func (v values) flag(name string) (*bool, error) {
	var yes bool
	text, err := v.one(name)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(text) {
	case "":
		return nil, nil
	case "true", "1", "t", "on", "yes":
		yes = true
	case "false", "0", "f", "off", "no":
	default:
		return nil, unprocessable("Validation failed: %s must be true or false", name)
	}
	return &yes, nil
}

// number returns a whole number, 0 where none was given.
func (v values) number(name string) (int64, error) {
	text, err := v.one(name)
	if text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, unprocessable("Validation failed: %s must be a whole number", name)
	}
	return n, nil
}
