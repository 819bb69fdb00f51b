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

// This file is the only one that knows the codes of HTTP.

// statusError is a refusal that only HTTP has.
type statusError struct {
	status   int
	sentence string
}

func (e *statusError) Error() string { return e.sentence }

// The refusals that come from here and not from a service.
var (
	errToken           = &statusError{http.StatusUnauthorized, "The access token is invalid"}
	errScope           = &statusError{http.StatusForbidden, "This action is outside the authorized scopes"}
	errNotFound        = &statusError{http.StatusNotFound, sentenceNotFound}
	errTooMany         = &statusError{http.StatusTooManyRequests, "Too many requests"}
	errTooLong         = &statusError{http.StatusRequestEntityTooLarge, "The request is too large"}
	errTooSlow         = &statusError{http.StatusRequestTimeout, "The request took too long to arrive"}
	errContentType     = &statusError{http.StatusUnsupportedMediaType, "The request body must be a form, JSON or multipart"}
	errContentTypeJSON = &statusError{http.StatusUnsupportedMediaType, "The request body must be JSON, with Content-Type: application/json"}
	errNoCall          = errors.New("route called without its middleware")
)

const (
	sentenceNotFound = "Record not found"
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

// statusOf is the code of each kind.
func statusOf(k app.Kind) int {
	switch k {
	case app.Invalid:
		return http.StatusBadRequest
	case app.Forbidden:
		return http.StatusForbidden
	case app.NotFound:
		return http.StatusNotFound
	case app.Unprocessable:
		return http.StatusUnprocessableEntity
	case app.Busy:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// judge turns any error into a code and a sentence for the caller.
func judge(err error) (int, string) {
	var own *statusError
	var refusal *app.Error
	var router *echo.HTTPError
	var length *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.status, own.sentence
	case errors.As(err, &refusal):
		return statusOf(refusal.Kind), refusal.Sentence
	case errors.As(err, &length):
		return errTooLong.status, errTooLong.sentence
	case errors.As(err, &router):
		return judgeRouter(router.Code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, sentenceBusy
	default:
		return http.StatusInternalServerError, sentenceInternal
	}
}

// judgeRouter gives what Echo itself refuses a sentence.
func judgeRouter(status int) (int, string) {
	switch {
	case status == http.StatusNotFound:
		return status, sentenceNotFound
	case status == http.StatusMethodNotAllowed:
		return status, sentenceMethod
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return status, http.StatusText(status)
	default:
		return http.StatusInternalServerError, sentenceInternal
	}
}

// fail answers a call with an error and logs what the caller does not see.
func (s *Server) fail(c *call, err error) {
	status, sentence := judge(err)
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
	b := append([]byte(`{"error":`), appendString(nil, sentence)...)
	if err := c.send(status, append(b, '}')); err != nil {
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

// notReady answers a readiness probe.
func (c *call) notReady(body []byte) error { return c.send(http.StatusServiceUnavailable, body) }

// noContent answers a preflight.
func (c *call) noContent() error { return c.NoContent(http.StatusNoContent) }

// picture answers with a PNG.
func (c *call) picture(png []byte) error { return c.Blob(http.StatusOK, "image/png", png) }
