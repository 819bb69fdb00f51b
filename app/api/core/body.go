package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"unicode/utf8"

	"kith/app"
)

// The bounds of a query or a body, however short it is: a value of two bytes takes many
// times more memory, and the name of an object stands in those of all its fields.
const (
	maxValues = 1000
	maxDepth  = 16
	maxName   = 100 // bytes of the name of a field within an object
)

// Body returns the parameters of the query and after them those of the body, which may
// be a form, JSON or multipart. The whole body must arrive within the request's time
// limit.
func (c *Call) Body() (Values, error) {
	query, err := readQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	raw, err := c.raw()
	if err != nil || len(raw) == 0 {
		return query, err
	}
	sent, err := readBody(c.Request.Header.Get("Content-Type"), raw)
	return append(query, sent...), err
}

// JSONBody decodes a body that must be JSON, with at most so many values; shape tells
// the caller what it should look like.
func (c *Call) JSONBody(into any, most int, shape string) error {
	kind, _, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return errContentTypeJSON
	}
	raw, err := c.raw()
	if err != nil {
		return err
	}
	return decode(raw, into, most, Unprocessable("Validation failed: the body must be %s", shape))
}

// decode decodes one JSON value; the error is wrong where that fails.
func decode(raw []byte, into any, most int, wrong error) error {
	if !fits(raw, most) {
		return errTooManyValues
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return wrong
	}
	if _, err := d.Token(); err != io.EOF {
		return errJSON
	}
	return nil
}

func (c *Call) raw() ([]byte, error) {
	if c.route.Body == NoBody {
		return nil, fmt.Errorf("%s %s reads a body and does not say so: see Needs.Body", c.route.Method, c.route.Path)
	}
	if end, ok := c.Request.Context().Deadline(); ok {
		// Where the connection cannot do that, the server's own limit holds.
		_ = http.NewResponseController(c.Response.Writer).SetReadDeadline(end)
	}
	var raw bytes.Buffer
	_, err := raw.ReadFrom(c.Request.Body)
	var length *http.MaxBytesError
	var slow interface{ Timeout() bool }
	switch {
	case err == nil, errors.As(err, &length):
		return raw.Bytes(), err
	case errors.As(err, &slow) && slow.Timeout():
		return nil, errTooSlow
	default:
		return nil, &app.Error{Kind: app.Invalid, Sentence: "The request body could not be read", Cause: err}
	}
}

func readBody(declared string, raw []byte) (Values, error) {
	kind, params, err := mime.ParseMediaType(declared)
	if err != nil {
		return nil, errContentType
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		return readQuery(string(raw))
	case "application/json":
		return readJSON(raw)
	case "multipart/form-data":
		return readMultipart(raw, params["boundary"])
	default:
		return nil, errContentType
	}
}

// readJSON reads an object as a form would say it: the fields of an object in it are
// named a[b], those of objects in an array a[0][b]. Null is the same as absent.
func readJSON(raw []byte) (Values, error) {
	if !utf8.Valid(raw) {
		return nil, Invalid("The request body is not valid UTF-8")
	}
	var object map[string]any
	if err := decode(raw, &object, maxValues, errJSON); err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errJSON
	}
	var v Values
	for name, field := range object {
		v = v.with(plainName(name), field, single)
	}
	return v, nil
}

// fits checks, before it is decoded, that JSON has at most so many values and is not
// nested deeply: a comma or an opening bracket comes before each value. The decoder
// refuses what is no JSON.
func fits(raw []byte, most int) bool {
	n, depth, inText := 0, 0, false
	for i := 0; i < len(raw) && n <= most && depth <= maxDepth; i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == ',':
			n++
		case c == '{' || c == '[':
			n++
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return n <= most && depth <= maxDepth
}

// with adds a field of a JSON object, or an element of such a field.
func (v Values) with(name string, field any, s shape) Values {
	switch field := field.(type) {
	case nil:
		return v
	case []any:
		if s != single {
			return append(v, value{name: name, shape: odd})
		}
		if len(field) == 0 {
			return append(v, value{name: name, shape: element})
		}
		for i, one := range field {
			if fields, ok := one.(map[string]any); ok {
				v = v.withObject(name, name+"["+strconv.Itoa(i)+"]", fields)
			} else {
				v = v.with(name, one, element)
			}
		}
		return v
	case map[string]any:
		return v.withObject(name, name, field)
	default: // a string, a number or a boolean
		return append(v, value{name, fmt.Sprint(field), s})
	}
}

// withObject adds an object and its fields, whose names begin with prefix. No parameter
// has a name past maxName.
func (v Values) withObject(name, prefix string, fields map[string]any) Values {
	v = append(v, value{name: name, shape: object})
	for field, inner := range fields {
		if len(prefix)+len(field)+len("[]") <= maxName {
			v = v.with(prefix+"["+field+"]", inner, single)
		}
	}
	return v
}

// readMultipart reads the fields of a form in their order and ignores files.
func readMultipart(raw []byte, boundary string) (v Values, err error) {
	form := multipart.NewReader(bytes.NewReader(raw), boundary)
	for n := 0; ; n++ {
		part, err := form.NextPart()
		if err == io.EOF {
			return v, nil
		}
		if err != nil {
			return nil, errMultipart
		}
		if n == maxValues {
			return nil, errTooManyValues
		}
		name := part.FormName()
		if name == "" || part.FileName() != "" {
			continue
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, errMultipart
		}
		if !utf8.Valid(text) {
			return nil, Invalid("The parameters are not valid UTF-8")
		}
		v = append(v, value{name: plainName(name), text: string(text)})
	}
}
