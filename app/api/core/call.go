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

// Call is one request on its way.
type Call struct {
	Account  uint64 // who calls, 0 for somebody who is not signed in
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

// liftDeadlines takes the server's limits off the connection of a long-lived call.
// Where the connection has none there is nothing to do.
func (c *Call) liftDeadlines() {
	conn := http.NewResponseController(c.Response.Writer)
	_ = conn.SetReadDeadline(time.Time{})
	_ = conn.SetWriteDeadline(time.Time{})
}

// Now is the clock of the server.
func (c *Call) Now() time.Time { return c.server.cfg.Now() }

// hostChars are what can stand in a host with a port. A comma could, too, but would
// break Link headers. Request ids are of the same without the brackets.
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

// Domain is the name after the @ of our accounts: as configured, or what the
// caller calls us.
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

// OK answers with JSON that is already written.
func (c *Call) OK(body string) error { return Send(c.Response, http.StatusOK, []byte(body)) }

// Accepted says that something was taken and will be done.
func (c *Call) Accepted() error { return Send(c.Response, http.StatusAccepted, []byte(`{}`)) }

// JSON answers with a value, for what is asked for rarely: see Render.
func (c *Call) JSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return Send(c.Response, http.StatusOK, b)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 32<<10); return &b }}

// Render answers with the JSON that write appends to a buffer: for what package
// entity writes by hand.
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

// Link sets the Link header of a page: the queries that lead to the next page and to
// the previous one, "" where there is none.
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
