package core

import (
	"context"
	"net/http"
)

// Handler answers one call: it writes the answer or returns an error.
type Handler func(ctx context.Context, c *Call) error

// Route is one endpoint, what it needs and what answers it.
type Route struct {
	Method, Path string // a pattern of Echo: ":id" stands for an account, see Call.ID
	Needs
	Handle Handler
}

// Needs says what a route needs. The zero Needs is a public route that reads no body,
// has a time limit and counts toward the rate limit.
type Needs struct {
	SignedIn bool // a good token
	// Scopes are those of which the token must cover one; none: any token. Where the token
	// may be left out, one that covers none is as if it were: it shows what anybody sees.
	Scopes []string
	Also   string // a scope that the token must cover besides, "": none
	// AnyID also takes what is no id: Call.ID is then 0. Elsewhere that is 404.
	AnyID bool
	// Body is NoBody, UsualBody, or how many bytes are taken even where
	// Config.MaxBody is less.
	Body int64
	// LongLived lifts the time limit and the deadlines of the connection: the answer is
	// a stream that ends when the client leaves, or when the grace of a shutdown is over.
	LongLived bool
	// Rate is Counted or Free.
	Rate Rate
	// Quiet is logged at debug, not at info.
	Quiet bool
}

// How long the body of a route may be. Routes that read no body, too, refuse one that
// is declared longer than Config.MaxBody.
const (
	NoBody    = 0
	UsualBody = 1 // up to Config.MaxBody
)

// Rate is the class of a route for the rate limit.
type Rate int

// The classes. Probes are free: a load balancer that asks often must not be refused.
const (
	Counted Rate = iota
	Free
)

// Public is a route that anybody may call.
var Public = Needs{}

// SignedIn is a route that asks for a token with one of the scopes.
func SignedIn(scopes ...string) Needs { return Needs{SignedIn: true, Scopes: scopes} }

// Optional is a route that anybody may call, and that answers as to its owner where a token
// has one of the scopes.
func Optional(scopes ...string) Needs { return Needs{Scopes: scopes} }

// And returns n with another scope that the token must cover.
func (n Needs) And(scope string) Needs {
	n.Also = scope
	return n
}

// WithBody returns n with a body of so many bytes.
func (n Needs) WithBody(bytes int64) Needs {
	n.Body = bytes
	return n
}

// Get makes a route for GET, which answers HEAD too.
func Get(path string, n Needs, h Handler) Route { return Route{http.MethodGet, path, n, h} }

// Post makes a route for POST.
func Post(path string, n Needs, h Handler) Route { return Route{http.MethodPost, path, n, h} }

// Delete makes a route for DELETE.
func Delete(path string, n Needs, h Handler) Route { return Route{http.MethodDelete, path, n, h} }
