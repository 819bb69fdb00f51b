package api

import (
	"net/http"

	"kith/app"
)

// This file and status.go are the only ones that know the codes of HTTP.

// code is why a request failed, for programs. Its text stays as it is; the
// sentence beside it is for people and may change.
type code int

const (
	codeInternal code = iota // first: what has no code is a fault on our side
	codeInvalid
	codeToken
	codeForbidden
	codeScope
	codeOwnAccount
	codeNotFound
	codeEndpoint
	codeMethod
	codeSlow
	codeLarge
	codeMediaType
	codeExpectation
	codeValidation
	codeLimit
	codeRate
	codeHeaders
	codeTransfer
	codeBusy
	codeNotReady
	codeVersion
	codes // how many there are
)

// meanings is the table of codes; the package doc shows it, and a test compares.
var meanings = [codes]struct {
	status int
	text   string
}{
	codeInvalid:     {http.StatusBadRequest, "invalid_request"},
	codeToken:       {http.StatusUnauthorized, "invalid_token"},
	codeForbidden:   {http.StatusForbidden, "forbidden"},
	codeScope:       {http.StatusForbidden, "insufficient_scope"},
	codeOwnAccount:  {http.StatusForbidden, "own_account"},
	codeNotFound:    {http.StatusNotFound, "not_found"},
	codeEndpoint:    {http.StatusNotFound, "unknown_endpoint"},
	codeMethod:      {http.StatusMethodNotAllowed, "method_not_allowed"},
	codeSlow:        {http.StatusRequestTimeout, "request_timeout"},
	codeLarge:       {http.StatusRequestEntityTooLarge, "request_too_large"},
	codeMediaType:   {http.StatusUnsupportedMediaType, "unsupported_media_type"},
	codeExpectation: {http.StatusExpectationFailed, "expectation_failed"},
	codeValidation:  {http.StatusUnprocessableEntity, "validation_failed"},
	codeLimit:       {http.StatusUnprocessableEntity, "limit_reached"},
	codeRate:        {http.StatusTooManyRequests, "too_many_requests"},
	codeHeaders:     {http.StatusRequestHeaderFieldsTooLarge, "headers_too_large"},
	codeInternal:    {http.StatusInternalServerError, "internal_error"},
	codeTransfer:    {http.StatusNotImplemented, "unknown_transfer_encoding"},
	codeBusy:        {http.StatusServiceUnavailable, "try_again"},
	codeNotReady:    {http.StatusServiceUnavailable, "not_ready"},
	codeVersion:     {http.StatusHTTPVersionNotSupported, "unknown_http_version"},
}

// byKind is the code of each kind of refusal that services know.
var byKind = map[app.Kind]code{
	app.Internal:      codeInternal,
	app.Invalid:       codeInvalid,
	app.Forbidden:     codeForbidden,
	app.OwnAccount:    codeOwnAccount,
	app.NotFound:      codeNotFound,
	app.Unprocessable: codeValidation,
	app.Limit:         codeLimit,
	app.Busy:          codeBusy,
}

// appendError appends the body of an error, less its closing brace.
func appendError(b []byte, why code, sentence string) []byte {
	b = appendString(append(b, `{"error":`...), sentence)
	return appendString(append(b, `,"code":`...), meanings[why].text)
}
