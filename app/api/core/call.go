package core

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"kith/app/token"
)

// Call is one request.
type Call struct {
	Account  uint64 // who calls, 0 without a token that counts here
	ID       uint64 // the account that the path names
	Request  *http.Request
	Response *echo.Response // a route that streams writes to it

	server  *Server
	route   *Route
	pattern string // of the path, for logs and metrics
	id      string // of the request
	claims  token.Claims
	begun   time.Time
	echo    echo.Context
	next    echo.HandlerFunc // answers where the route has no handler
}

// Now is the server's clock.
func (c *Call) Now() time.Time { return c.server.cfg.Now() }

// hostChars are what a host with a port may have. A comma is left out: it would break
// Link headers. Request ids have the same without the brackets.
const (
	idChars   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:"
	hostChars = idChars + "[]"
)

// Base returns the public address of the server.
func (c *Call) Base() string {
	cfg := &c.server.cfg
	if cfg.BaseURL != "" {
		return cfg.BaseURL
	}
	host := c.Request.Host
	if host == "" || strings.Trim(host, hostChars) != "" {
		host = cfg.Domain
	}
	if c.Request.TLS != nil {
		return "https://" + host
	}
	return "http://" + host
}

// Domain is the name after the @ of our accounts: the configured one, or the caller's
// name for us.
func (c *Call) Domain() string {
	cfg := &c.server.cfg
	if cfg.BaseURL != "" || cfg.Domain != localName {
		return cfg.Domain
	}
	_, host, _ := strings.Cut(c.Base(), "://")
	return host
}

// Send writes a whole answer.
func Send(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h[echo.HeaderContentType] = jsonType
	h.Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// OK answers with finished JSON.
func (c *Call) OK(body string) error { return Send(c.Response, http.StatusOK, []byte(body)) }

// Accepted answers that the request will be carried out.
func (c *Call) Accepted() error { return Send(c.Response, http.StatusAccepted, []byte(`{}`)) }

// JSON answers with a value. For frequent requests see Render.
func (c *Call) JSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Send(c.Response, http.StatusOK, b)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

// Render answers with the JSON that write appends to a buffer, for the entities that
// package entity encodes by hand.
func (c *Call) Render(write func(b []byte) []byte) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = write((*buffer)[:0])
	return Send(c.Response, http.StatusOK, *buffer)
}

// Picture answers with a PNG that caches may keep for a day.
func (c *Call) Picture(png []byte) error {
	h := c.Response.Header()
	h.Set(echo.HeaderCacheControl, "public, max-age=86400")
	h.Set(echo.HeaderContentType, "image/png")
	c.Response.WriteHeader(http.StatusOK)
	_, err := c.Response.Write(png)
	return err
}

// Link sets the Link header of a page from the queries of the next and the previous
// page, "" where there is none.
func (c *Call) Link(next, prev string) {
	here, links := "<"+c.Base()+c.Request.URL.EscapedPath()+"?", ""
	if next != "" {
		links = here + next + `>; rel="next"`
	}
	if next != "" && prev != "" {
		links += ", "
	}
	if prev != "" {
		links += here + prev + `>; rel="prev"`
	}
	if links != "" {
		c.Response.Header().Set("Link", links)
	}
}
