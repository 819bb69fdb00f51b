package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"kith/app"
)

// statusError is a refusal that only HTTP has.
type statusError struct {
	code     code
	sentence string
}

func (e *statusError) Error() string { return e.sentence }

// The refusals that come from here and not from a service.
var (
	errToken           = &statusError{codeToken, "The access token is invalid"}
	errTwoTokens       = &statusError{codeInvalid, "The request has more than one Authorization header"}
	errScope           = &statusError{codeScope, "This action is outside the authorized scopes"}
	errNotFound        = &statusError{codeNotFound, sentenceNotFound}
	errTooMany         = &statusError{codeRate, "Too many requests"}
	errTooLong         = &statusError{codeLarge, "The request is too large"}
	errTooManyValues   = &statusError{codeLarge, "The request has too many values"}
	errTooSlow         = &statusError{codeSlow, "The request took too long to arrive"}
	errContentType     = &statusError{codeMediaType, "The request body must be a form, JSON or multipart"}
	errContentTypeJSON = &statusError{codeMediaType, "The request body must be JSON, with Content-Type: application/json"}
	errNoCall          = errors.New("route called without its middleware")
)

const (
	sentenceNotFound = "Record not found"
	sentenceEndpoint = "There is no such endpoint"
	sentenceMethod   = "Method not allowed"
	sentenceBusy     = "There was a temporary problem serving your request, please try again"
	sentenceInternal = "Something went wrong on our side"
)

// invalid refuses a request that makes no sense.
func invalid(format string, args ...any) error {
	return app.Refuse(app.Invalid, fmt.Sprintf(format, args...))
}

// unprocessable refuses a value.
func unprocessable(format string, args ...any) error {
	return app.Refuse(app.Unprocessable, fmt.Sprintf(format, args...))
}

// judge turns any error into a code and a sentence for the caller.
func judge(err error) (code, string) {
	var own *statusError
	var refusal *app.Error
	var router *echo.HTTPError
	var length *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.code, own.sentence
	case errors.As(err, &refusal):
		return byKind[refusal.Kind], refusal.Sentence
	case errors.As(err, &length):
		return errTooLong.code, errTooLong.sentence
	case errors.As(err, &router) && router.Code == http.StatusNotFound:
		return codeEndpoint, sentenceEndpoint
	case errors.As(err, &router) && router.Code == http.StatusMethodNotAllowed:
		return codeMethod, sentenceMethod
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return codeBusy, sentenceBusy
	default:
		return codeInternal, sentenceInternal
	}
}

// fail answers a call with an error and logs what the caller does not see.
func (s *Server) fail(c *call, err error) {
	why, sentence := judge(err)
	status := meanings[why].status
	s.logCause(c, status, err)
	if c.Response().Committed {
		return
	}
	h := c.Response().Header()
	switch status {
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	}
	if err := c.send(status, append(appendError(nil, why, sentence), '}')); err != nil {
		s.cfg.Log.Debug("answer not sent", "request_id", c.id, "err", err)
	}
}

// logCause logs the errors that somebody should look at: bugs as errors, a
// database that is away as warnings. Refusals are not logged.
func (s *Server) logCause(c *call, status int, err error) {
	level := slog.LevelWarn
	switch {
	case errors.Is(err, context.Canceled):
		level = slog.LevelDebug // the client left
	case status == http.StatusInternalServerError:
		level = slog.LevelError
	case status != http.StatusServiceUnavailable:
		return
	}
	s.cfg.Log.Log(c.Request().Context(), level, "request not served", "request_id", c.id, "route", c.route(), "err", err)
}

// ok answers with JSON.
func (c *call) ok(body []byte) error { return c.send(http.StatusOK, body) }

// accepted says that something was taken and will be done.
func (c *call) accepted() error { return c.send(http.StatusAccepted, []byte(`{}`)) }

// noContent answers a preflight.
func (c *call) noContent() error { return c.NoContent(http.StatusNoContent) }

// picture answers with a PNG.
func (c *call) picture(png []byte) error { return c.Blob(http.StatusOK, "image/png", png) }
