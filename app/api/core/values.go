package core

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kith/app"
)

// Values are the parameters of a query or a body in their order. The brackets of an
// array are not part of a name: id=1, id[]=1 and id[0]=1 are the same.
type Values []value

type value struct {
	name, text string
	shape      shape
}

// shape is what a value was in JSON.
type shape uint8

const (
	single  shape = iota
	element       // of an array
	object        // itself no parameter: its fields have values of their own
	odd           // an array in an array: no parameter
)

// How many a page has, if the caller does not say. It may ask for twice as many.
const (
	UsualAccounts = 40
	UsualPosts    = 20
)

// Query returns the parameters of the query.
func (c *Call) Query() (Values, error) { return readQuery(c.Request.URL.RawQuery) }

// readQuery reads the name=value pairs of a query or a form. It is our own because a
// page asks for forty ids, and url.ParseQuery makes a map of slices of them first.
func readQuery(raw string) (Values, error) {
	if raw == "" {
		return nil, nil
	}
	n := 1 + strings.Count(raw, "&")
	if n > maxValues {
		return nil, errTooManyValues
	}
	v := make(Values, 0, n)
	var written, name string // of the last pair: the name as sent, and without escapes and brackets
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
	plain := true // ASCII without escapes
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] != '%' && s[i] != '+' && s[i] < utf8.RuneSelf
	}
	if plain {
		return s, nil
	}
	s, err := url.QueryUnescape(s)
	if err != nil {
		return "", Invalid("The parameters are not encoded correctly")
	}
	if !utf8.ValidString(s) {
		return "", Invalid("The parameters are not valid UTF-8")
	}
	return s, nil
}

// plainName takes the brackets of an array off a name.
func plainName(name string) string {
	if !strings.HasSuffix(name, "]") {
		return name
	}
	plain, index, ok := strings.Cut(name[:len(name)-1], "[")
	if !ok || strings.Trim(index, "0123456789") != "" {
		return name
	}
	return plain
}

// Get returns the last value of a name, "" where there is none.
func (v Values) Get(name string) string {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].name == name {
			return v[i].text
		}
	}
	return ""
}

// One is Get for a value that must not be an array or an object in JSON.
func (v Values) One(name string) (text string, err error) {
	for _, one := range v {
		if one.name == name && one.shape != single {
			return "", Unprocessable("Validation failed: %s must be a single value", name)
		}
		if one.name == name {
			text = one.text
		}
	}
	return text, nil
}

// All returns the values of a name without empty ones, and whether there are any at
// all: an empty array is one empty value.
func (v Values) All(name string) (texts []string, given bool, err error) {
	for _, one := range v {
		if one.name == name {
			if one.shape >= object {
				return nil, false, Unprocessable("Validation failed: %s must be an array of texts", name)
			}
			given = true
			if one.text != "" {
				texts = append(texts, one.text)
			}
		}
	}
	return texts, given, nil
}

// Given tells whether there is a value of a name other than "", or an object.
func (v Values) Given(name string) bool {
	return slices.ContainsFunc(v, func(one value) bool {
		return one.name == name && (one.text != "" || one.shape >= object) || strings.HasPrefix(one.name, name+"[")
	})
}

// Objects returns the objects of an array, each as the values of its fields: in JSON
// [{"url":"…"}, …], in a form media[][url]=…, where a field that is there already begins
// the next object, or media[0][url]=….
func (v Values) Objects(name string) (all []Values, err error) {
	wrong := Unprocessable("Validation failed: %s must be an array of objects", name)
	at := map[string]int{} // the place in all of each index
	written := 0           // objects in JSON, some of which may have no fields
	for _, one := range v {
		if one.name == name {
			if one.shape == object {
				written++
			} else if one.shape != element || one.text != "" {
				return nil, wrong
			}
			continue
		}
		path, ok := strings.CutPrefix(one.name, name+"[")
		if !ok {
			continue
		}
		index, field, ok := strings.Cut(strings.TrimSuffix(path, "]"), "][")
		if !ok || strings.Trim(index, "0123456789") != "" {
			return nil, wrong
		}
		i, begun := at[index]
		if !begun || index == "" && slices.ContainsFunc(all[i], func(o value) bool { return o.name == field }) {
			i = len(all)
			at[index] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], value{field, one.text, one.shape})
	}
	if written > len(all) {
		return nil, wrong
	}
	return all, nil
}

// IDs returns the account ids of the query, id[]=, and refuses more than most. What is
// no id is left out, as no account has it; repeats stay.
func (c *Call) IDs(most int) ([]uint64, error) {
	v, err := readQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, 0, min(len(v), most))
	n := 0
	for _, one := range v {
		if one.name != "id" {
			continue
		}
		if n++; n > most {
			return nil, Unprocessable("Too many ids: at most %d can be asked for at once", most)
		}
		if id, ok := ParseID(one.text); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ParseID reads an account id in our form: decimal, without leading zeros.
func ParseID(s string) (uint64, bool) {
	id, err := strconv.ParseUint(s, 10, 63)
	if err != nil || id == 0 || s[0] == '0' {
		return 0, false
	}
	return id, true
}

// Limit returns how many are wanted: so many where the caller does not say, and at most
// twice as many. A minus is ignored.
func (v Values) Limit(usual int) (int, error) {
	text := strings.TrimPrefix(v.Get("limit"), "-")
	if text == "" {
		return usual, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return 2 * usual, nil
	}
	if err != nil {
		return 0, Invalid("limit must be a number")
	}
	return int(min(n, uint64(2*usual))), nil
}

// Range reads limit, max_id, since_id and min_id of a list of posts. Of the last two min_id
// wins, as in Mastodon: the page then begins right after it.
func (v Values) Range(usual int) (r app.IDRange, err error) {
	if r.Limit, err = v.Limit(usual); err != nil {
		return r, err
	}
	if r.Before, err = v.id("max_id"); err != nil {
		return r, err
	}
	if r.Oldest = v.Get("min_id") != ""; r.Oldest {
		r.After, err = v.id("min_id")
	} else {
		r.After, err = v.id("since_id")
	}
	return r, err
}

// id returns an id, 0 where none is given.
func (v Values) id(name string) (uint64, error) {
	text := v.Get(name)
	id, ok := ParseID(text)
	if !ok && text != "" && text != "0" {
		return 0, Invalid("%s must be an id", name)
	}
	return id, nil
}

// Flag returns true or false, nil where none is given.
func (v Values) Flag(name string) (*bool, error) {
	text, err := v.One(name)
	yes := false
	switch strings.ToLower(text) {
	case "":
		return nil, err
	case "true", "1", "t", "on", "yes":
		yes = true
	case "false", "0", "f", "off", "no":
	default:
		return nil, Unprocessable("Validation failed: %s must be true or false", name)
	}
	return &yes, nil
}

// Number returns a whole number, 0 where none is given.
func (v Values) Number(name string) (int64, error) {
	text, err := v.One(name)
	if text == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, Unprocessable("Validation failed: %s must be a whole number", name)
	}
	return n, nil
}

// Distinct returns ids without repeats, in their order. It overwrites ids.
func Distinct(ids []uint64) []uint64 {
	seen := make(map[uint64]bool, len(ids))
	out := ids[:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
