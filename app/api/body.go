package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"unicode/utf8"

	"kith/app"
)

// body returns the parameters of a change: those of the query and after them
// those of the body, which may be a form, JSON or multipart. The whole body
// must arrive within the time limit of the request.
func (c *call) body() (values, error) {
	query, err := c.query()
	if err != nil {
		return nil, err
	}
	raw, err := c.raw()
	if err != nil || len(raw) == 0 {
		return query, err
	}
	sent, err := readBody(c.Request().Header.Get("Content-Type"), raw)
	return append(query, sent...), err
}

// The bounds of what a query or a body may hold, however short it is: a value
// takes many times more memory than the two bytes that it may be written in.
const (
	maxValues = 1000
	maxDepth  = 16
)

// raw returns the bytes of the body.
func (c *call) raw() ([]byte, error) {
	r := c.Request()
	if end, ok := r.Context().Deadline(); ok {
		// Where the connection cannot do that the server's own limit holds.
		_ = http.NewResponseController(c.Response().Writer).SetReadDeadline(end)
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r.Body); err != nil {
		return nil, unread(err)
	}
	return raw.Bytes(), nil
}

// query returns the parameters of the query.
func (c *call) query() (values, error) { return readQuery(c.Request().URL.RawQuery) }

// unread says why a body could not be read: too long, too slow, or broken off.
func unread(err error) error {
	var length *http.MaxBytesError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &length):
		return err
	case errors.As(err, &slow) && slow.Timeout():
		return errTooSlow
	default:
		return &app.Error{Kind: app.Invalid, Sentence: "The request body could not be read", Cause: err}
	}
}

func readBody(declared string, raw []byte) (values, error) {
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

var errJSON = app.Refuse(app.Invalid, "The request body is not a JSON object")

// readJSON reads an object of texts, numbers, booleans and arrays of them.
// Null is as good as absent, and objects inside are nothing we know.
func readJSON(raw []byte) (values, error) {
	if !utf8.Valid(raw) {
		return nil, invalid("The request body is not valid UTF-8")
	}
	if !fits(raw, maxValues) {
		return nil, errTooManyValues
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil || object == nil {
		return nil, errJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errJSON
	}
	var v values
	for name, field := range object {
		v = v.with(plainName(name), field)
	}
	return v, nil
}

// fits tells, before anything is made of it, whether JSON has at most so many
// values and is not nested deeply: before each value stands a comma or what opens an
// array or an object. What is no JSON is left to the decoder.
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

// with adds a field of a JSON object.
func (v values) with(name string, field any) values {
	switch field := field.(type) {
	case string:
		return append(v, value{name: name, text: field})
	case bool:
		return append(v, value{name: name, text: strconv.FormatBool(field)})
	case json.Number:
		return append(v, value{name: name, text: field.String()})
	case []any:
		if len(field) == 0 {
			return append(v, value{name: name, shape: element})
		}
		for _, one := range field {
			from := len(v)
			if _, nested := one.([]any); nested {
				v = append(v, value{name: name, shape: odd})
				continue
			}
			v = v.with(name, one)
			for i := from; i < len(v); i++ {
				v[i].shape = max(v[i].shape, element)
			}
		}
	case map[string]any:
		return append(v, value{name: name, shape: odd})
	}
	return v
}

var errMultipart = app.Refuse(app.Invalid, "The request body is not multipart")

// readMultipart reads the fields of a form; files are passed over.
func readMultipart(raw []byte, boundary string) (values, error) {
	form, err := multipart.NewReader(bytes.NewReader(raw), boundary).ReadForm(int64(len(raw)))
	if err != nil {
		return nil, errMultipart
	}
	defer form.RemoveAll()
	var v values
	for name, texts := range form.Value {
		for _, text := range texts {
			if !utf8.ValidString(text) {
				return nil, invalid("The parameters are not valid UTF-8")
			}
			v = append(v, value{name: plainName(name), text: text})
		}
	}
	return v, nil
}
