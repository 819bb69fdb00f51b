package api

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// What is no request that a handler could get, net/http answers by itself: in plain
// text, or, to an unknown Expect, without a body. There is no hook for that. Each of
// these answers is one write of its own and begins like no answer of ours, so they
// can be told at the connection and said in JSON.

const (
	// plainHead is what follows the status line of its answers in plain text.
	plainHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	// emptyTail ends its answer to an Expect.
	emptyTail = "\r\nContent-Length: 0\r\n\r\n"
)

// plainAnswers are what net/http answers, and what we say.
var plainAnswers = map[int]statusError{
	http.StatusBadRequest:                  {codeInvalid, "The request is not valid HTTP"},
	http.StatusExpectationFailed:           {codeExpectation, "This expectation cannot be met"},
	http.StatusRequestHeaderFieldsTooLarge: {codeHeaders, "The path and headers of the request are too long"},
	http.StatusNotImplemented:              {codeTransfer, "This transfer encoding is unknown"},
	http.StatusHTTPVersionNotSupported:     {codeVersion, "This version of HTTP is unknown"},
}

// jsonOf returns in JSON what net/http answered itself, nil for everything else.
func jsonOf(p []byte) []byte {
	const version, digits = "HTTP/1.1 ", 3
	if len(p) < len(version)+digits || p[len(version)] < '4' || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return nil
	}
	status, err := strconv.Atoi(string(p[len(version) : len(version)+digits]))
	if err != nil {
		return nil
	}
	said, known := plainAnswers[status]
	end := bytes.Index(p, []byte("\r\n"))
	if !known || end < 0 {
		return nil
	}
	unread := status == http.StatusExpectationFailed && bytes.HasSuffix(p, []byte(emptyTail))
	if !unread && !bytes.HasPrefix(p[end:], []byte(plainHead)) {
		return nil
	}
	body := append(appendError(nil, said.code, said.sentence), '}')
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nX-Content-Type-Options: %s\r\nCache-Control: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), jsonType[0], len(body), noSniff[0], noStore[0], body)
}
