package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"kith/app"
)

// statuses are the error codes with their HTTP status. The doc of app/api says what each
// means; a test compares.
var statuses = map[string]int{
	"invalid_request":           http.StatusBadRequest,
	"invalid_token":             http.StatusUnauthorized,
	"forbidden":                 http.StatusForbidden,
	"insufficient_scope":        http.StatusForbidden,
	"own_account":               http.StatusForbidden,
	"not_found":                 http.StatusNotFound,
	"unknown_endpoint":          http.StatusNotFound,
	"method_not_allowed":        http.StatusMethodNotAllowed,
	"request_timeout":           http.StatusRequestTimeout,
	"conflict":                  http.StatusConflict,
	"request_too_large":         http.StatusRequestEntityTooLarge,
	"unsupported_media_type":    http.StatusUnsupportedMediaType,
	"expectation_failed":        http.StatusExpectationFailed,
	"validation_failed":         http.StatusUnprocessableEntity,
	"limit_reached":             http.StatusUnprocessableEntity,
	"too_many_requests":         http.StatusTooManyRequests,
	"headers_too_large":         http.StatusRequestHeaderFieldsTooLarge,
	"internal_error":            http.StatusInternalServerError,
	"unknown_transfer_encoding": http.StatusNotImplemented,
	"try_again":                 http.StatusServiceUnavailable,
	"not_ready":                 http.StatusServiceUnavailable,
	"unknown_http_version":      http.StatusHTTPVersionNotSupported,
}

// byKind is the code of each app.Kind.
var byKind = map[app.Kind]string{
	app.Internal:      "internal_error",
	app.Invalid:       "invalid_request",
	app.Forbidden:     "forbidden",
	app.OwnAccount:    "own_account",
	app.NotFound:      "not_found",
	app.Unprocessable: "validation_failed",
	app.Limit:         "limit_reached",
	app.Conflict:      "conflict",
	app.Busy:          "try_again",
}

// Refusal is what a caller sees of an error.
type Refusal struct {
	Status         int
	Code, Sentence string
}

// Refuse makes the Refusal of a code.
func Refuse(code, sentence string) *Refusal {
	if statuses[code] == 0 {
		panic("core: there is no code " + code)
	}
	return &Refusal{statuses[code], code, sentence}
}

func (e *Refusal) Error() string { return e.Sentence }

// Body returns the answer; that to a probe names what is not ready.
func (e *Refusal) Body(notReady ...string) []byte {
	b, _ := json.Marshal(struct { // texts always marshal
		Error    string   `json:"error"`
		Code     string   `json:"code"`
		NotReady []string `json:"not_ready,omitempty"`
	}{e.Sentence, e.Code, notReady})
	return b
}

// The refusals of this package and of the resources.
var (
	ErrNotFound = Refuse("not_found", "Record not found")
	ErrEndpoint = Refuse("unknown_endpoint", "There is no such endpoint")
	ErrNotReady = Refuse("not_ready", "Not ready")

	errToken           = Refuse("invalid_token", "The access token is invalid")
	errTwoTokens       = Refuse("invalid_request", "The request has more than one Authorization header")
	errScope           = Refuse("insufficient_scope", "This action is outside the authorized scopes")
	errMethod          = Refuse("method_not_allowed", "Method not allowed")
	errTooMany         = Refuse("too_many_requests", "Too many requests")
	errTooLong         = Refuse("request_too_large", "The request is too large")
	errTooManyValues   = Refuse("request_too_large", "The request has too many values")
	errTooSlow         = Refuse("request_timeout", "The request took too long to arrive")
	errContentType     = Refuse("unsupported_media_type", "The request body must be a form, JSON or multipart")
	errContentTypeJSON = Refuse("unsupported_media_type", "The request body must be JSON, with Content-Type: application/json")
	errJSON            = Refuse("invalid_request", "The request body is not a JSON object")
	errMultipart       = Refuse("invalid_request", "The request body is not multipart")
	errBusy            = Refuse("try_again", "There was a temporary problem serving your request, please try again")
	errInternal        = Refuse("internal_error", "Something went wrong on our side")
)

// Invalid refuses a request that makes no sense.
func Invalid(format string, args ...any) error {
	return app.Refuse(app.Invalid, fmt.Sprintf(format, args...))
}

// Unprocessable refuses a value.
func Unprocessable(format string, args ...any) error {
	return app.Refuse(app.Unprocessable, fmt.Sprintf(format, args...))
}

// refusalOf returns what the caller sees of any error.
func refusalOf(err error) *Refusal {
	var own *Refusal
	var refusal *app.Error
	var router *echo.HTTPError
	var length *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refusal):
		return Refuse(cmp.Or(byKind[refusal.Kind], "internal_error"), refusal.Sentence)
	case errors.As(err, &length):
		return errTooLong
	case errors.As(err, &router) && router.Code == http.StatusNotFound:
		return ErrEndpoint
	case errors.As(err, &router) && router.Code == http.StatusMethodNotAllowed:
		return errMethod
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errBusy
	default:
		return errInternal
	}
}

// fail answers a call with an error, and logs its cause: a bug as an error, a database
// that is away as a warning. Refusals are not logged.
func (s *Server) fail(c *Call, err error) {
	why := refusalOf(err)
	status, level := why.Status, slog.LevelWarn
	switch {
	case errors.Is(err, context.Canceled):
		level = slog.LevelDebug // the client left
	case status == http.StatusInternalServerError:
		level = slog.LevelError
	}
	if level != slog.LevelWarn || status == http.StatusServiceUnavailable {
		s.cfg.Log.Log(c.Request.Context(), level, "request not served", "request_id", c.id, "route", c.pattern, "err", err)
	}
	if c.Response.Committed {
		return
	}
	switch h := c.Response.Header(); status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	}
	if err := Send(c.Response, status, why.Body()); err != nil {
		s.cfg.Log.Debug("answer not sent", "request_id", c.id, "err", err)
	}
}
